import { parseArgs } from 'node:util';
import { CodedError, messageOf } from '../../../base/errors.ts';

/** What the command line asked for. */
export type CommandLine =
  | { readonly kind: 'serve'; readonly model: string | null; readonly logLevel: LogLevel }
  | { readonly kind: 'print'; readonly text: string };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The command line could not be understood; the message is for the person who typed it. */
export class CommandLineError extends CodedError<'command_line.invalid'> {}

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

const HELP = `agent-core: the process behind Pilothouse. It speaks the Agent Client Protocol (version 1) on standard input and output.

Usage: node agent-core.mjs [options]

Options
  --model ID         model of new sessions, for example rehearsal/script or openai/gpt-5.5
  --log-level LEVEL  debug, info, warn or error; info if missing
  --version          print the version and exit
  --help             print this help and exit

Environment
  PILOTHOUSE_HOME    data folder: sessions, remembered approvals, log. Absolute path; the system's data folder if unset
  PILOTHOUSE_MODEL   model of new sessions; --model wins
  PILOTHOUSE_SANDBOX "off": do not put commands into bubblewrap where it is installed
  PILOTHOUSE_API_KEY, PILOTHOUSE_OBSERVER_KEY
                     keys that a client has to show before it may control, or only read
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, PILOTHOUSE_KEY_<SOURCE>
                     keys of model sources
  CRASH_AT           for tests of a crash: die at this point; a name that is none is answered with the list

Standard output carries protocol messages only. The log goes to standard error and to a file in the data folder.
`;

/** Reads the arguments. Throws `CommandLineError` that names what is wrong and where help is. */
export function parseCommandLine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  version: string,
): CommandLine {
  const { values } = readArguments(args);
  if (values.help === true) return { kind: 'print', text: HELP };
  if (values.version === true) return { kind: 'print', text: `${version}\n` };
  const level = values['log-level'] ?? 'info';
  const logLevel = LOG_LEVELS.find((candidate) => candidate === level);
  if (logLevel === undefined)
    throw invalid(`"${level}" is not a log level. Use one of: ${LOG_LEVELS.join(', ')}.`);
  const model = values.model ?? environment['PILOTHOUSE_MODEL'] ?? '';
  return { kind: 'serve', model: model.trim() === '' ? null : model.trim(), logLevel };
}

function readArguments(args: readonly string[]): {
  values: { model?: string; 'log-level'?: string; help?: boolean; version?: boolean };
} {
  try {
    return parseArgs({
      args: [...args],
      options: {
        model: { type: 'string' },
        'log-level': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (failure) {
    throw invalid(messageOf(failure));
  }
}

function invalid(what: string): CommandLineError {
  return new CommandLineError(
    'command_line.invalid',
    `${what}\nRun with --help to see the options.`,
  );
}
