import { parseArgs } from 'node:util';
import { CodedError, messageOf } from '../../../base/errors.ts';

/** What the command line asked for. */
export type CommandLine =
  /** Serve the client on standard input and output; `inProcess`: with a host of its own in this process. */
  | ({ readonly kind: 'door'; readonly inProcess: boolean } & ServeOptions)
  /** Be the host of the data folder. */
  | ({ readonly kind: 'host_run' } & ServeOptions)
  /** Be a door for clients that come by WebSocket. */
  | ({ readonly kind: 'serve_ws' } & ServeWsOptions & ServeOptions)
  /** Bring the client on standard input and output to an agent-core that is reached by WebSocket. */
  | ({ readonly kind: 'connect' } & ConnectOptions & ServeOptions)
  | { readonly kind: 'host_status' }
  | { readonly kind: 'host_stop' }
  | { readonly kind: 'print'; readonly text: string };

/** What every process that serves is told. */
export type ServeOptions = { readonly model: string | null; readonly logLevel: LogLevel };

/** Where a WebSocket door listens and whom it lets in; files are named as they were given. */
export type ServeWsOptions = {
  /** HOST:PORT; an IPv6 address stands in brackets, port 0 is any free one. */
  readonly listen: string;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly tokenFile: string | null;
  /** Origins that may come besides programs that have none. */
  readonly origins: readonly string[];
};

/** What is connected to; `caFile` holds certificates that are trusted besides the usual ones. */
export type ConnectOptions = { readonly url: string; readonly caFile: string | null };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The command line could not be understood; the message is for the person who typed it. */
export class CommandLineError extends CodedError<'command_line.invalid'> {}

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

const HELP = `agent-core: the process behind Pilothouse. It speaks the Agent Client Protocol (version 1) on standard input and output.

Usage: node agent-core.mjs [options]
       node agent-core.mjs host --status | --stop
       node agent-core.mjs serve --acp-ws HOST:PORT [--tls-cert FILE --tls-key FILE] [--token-file FILE] [--origin URL ...]
       node agent-core.mjs connect URL [--ca FILE]

Sessions live in a host, a process of its own, one for each data folder. It is started when the first client comes,
goes on when clients go, and ends by itself when nothing runs and nobody came for a while.

Options
  --model ID         model of new sessions, for example rehearsal/script or openai/gpt-5.5
  --log-level LEVEL  debug, info, warn or error; info if missing
  --in-process       host the sessions in this process: they stop when the client goes
  --version          print the version and exit
  --help             print this help and exit

Commands
  host --status      print one line of JSON about the host of the data folder; its pid is null if there is none
  host --stop        end that host: what runs is stopped and kept
  serve --acp-ws HOST:PORT
                     let clients in by WebSocket, path /acp, until SIGTERM or SIGINT. When it is ready it prints one
                     line of JSON with its address, and with a token where it had to make one. Port 0 is any free one.
                     Anything but this machine's own addresses needs TLS and a token
    --tls-cert, --tls-key FILE
                     certificate chain and key, PEM
    --token-file FILE
                     holds the token that clients have to show; or set PILOTHOUSE_WS_TOKEN
    --origin URL     lets pages of this origin in; again for more. Programs that send no Origin need none
  connect URL        bring the client on standard input and output to an agent-core at ws://HOST:PORT/acp or wss://...
                     Ends with 0 when the client goes, 3 if the token is refused, else 1
    --ca FILE        certificates to trust besides the usual ones, PEM

Environment
  PILOTHOUSE_HOME    data folder: sessions, remembered approvals, log. Absolute path; the system's data folder if unset
  PILOTHOUSE_MODEL   model of new sessions; --model wins
  PILOTHOUSE_IDLE_MS how long a host without clients and work stays, in milliseconds; 300000 if unset
  PILOTHOUSE_SANDBOX "off": do not put commands into bubblewrap where it is installed
  PILOTHOUSE_API_KEY, PILOTHOUSE_OBSERVER_KEY
                     keys that a client has to show before it may control, or only read
  PILOTHOUSE_WS_TOKEN, PILOTHOUSE_WS_OBSERVER_TOKEN
                     serve: what clients show to control, or only to read
  PILOTHOUSE_WS_RETAIN_SECS
                     serve: how long a client whose connection broke may come back to where it was; 300 if unset
  PILOTHOUSE_CONNECT_TOKEN
                     connect: the token to show
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
  const { values, positionals } = readArguments(args);
  if (values.help === true) return { kind: 'print', text: HELP };
  if (values.version === true) return { kind: 'print', text: `${version}\n` };
  const options = serveOptions(values, environment);
  const [command, ...rest] = positionals;
  const [url, ...more] = command === 'connect' ? rest : [undefined, ...rest];
  if (more.length > 0) throw invalid(`"${more.join(' ')}" is not understood.`);
  switch (command) {
    case undefined:
      return { kind: 'door', inProcess: values['in-process'] === true, ...options };
    case 'host':
      return hostCommand(values, options);
    case 'serve':
      return { kind: 'serve_ws', ...serveWsOptions(values), ...options };
    case 'connect':
      if (url === undefined) throw invalid('Say what to connect to: connect ws://HOST:PORT/acp.');
      return { kind: 'connect', url, caFile: values.ca ?? null, ...options };
    default:
      throw invalid(`"${command}" is not a command. Commands: host, serve, connect.`);
  }
}

function serveOptions(values: Values, environment: NodeJS.ProcessEnv): ServeOptions {
  const level = values['log-level'] ?? 'info';
  const logLevel = LOG_LEVELS.find((candidate) => candidate === level);
  if (logLevel === undefined)
    throw invalid(`"${level}" is not a log level. Use one of: ${LOG_LEVELS.join(', ')}.`);
  const model = (values.model ?? environment['PILOTHOUSE_MODEL'] ?? '').trim();
  return { model: model === '' ? null : model, logLevel };
}

function serveWsOptions(values: Values): ServeWsOptions {
  const { 'acp-ws': listen, 'tls-cert': certFile, 'tls-key': keyFile } = values;
  if (listen === undefined) throw invalid('Use serve with --acp-ws HOST:PORT.');
  if ((certFile === undefined) !== (keyFile === undefined))
    throw invalid('--tls-cert and --tls-key belong together.');
  return {
    listen,
    tls: certFile === undefined || keyFile === undefined ? null : { certFile, keyFile },
    tokenFile: values['token-file'] ?? null,
    origins: values.origin ?? [],
  };
}

function hostCommand(values: Values, options: ServeOptions): CommandLine {
  const asked = (['run', 'status', 'stop'] as const).filter((name) => values[name] === true);
  const [what] = asked;
  if (what === undefined || asked.length > 1) throw invalid('Use host with --status or --stop.');
  return what === 'run' ? { kind: 'host_run', ...options } : { kind: `host_${what}` };
}

type Values = {
  readonly model?: string;
  readonly 'log-level'?: string;
  readonly 'in-process'?: boolean;
  readonly run?: boolean;
  readonly status?: boolean;
  readonly stop?: boolean;
  readonly 'acp-ws'?: string;
  readonly 'tls-cert'?: string;
  readonly 'tls-key'?: string;
  readonly 'token-file'?: string;
  readonly origin?: string[];
  readonly ca?: string;
  readonly help?: boolean;
  readonly version?: boolean;
};

function readArguments(args: readonly string[]): {
  readonly values: Values;
  readonly positionals: readonly string[];
} {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        model: { type: 'string' },
        'log-level': { type: 'string' },
        'in-process': { type: 'boolean' },
        run: { type: 'boolean' },
        status: { type: 'boolean' },
        stop: { type: 'boolean' },
        'acp-ws': { type: 'string' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'token-file': { type: 'string' },
        origin: { type: 'string', multiple: true },
        ca: { type: 'string' },
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
