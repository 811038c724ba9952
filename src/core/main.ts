import { join } from 'node:path';
import { CodedError, messageOf } from '../base/errors.ts';
import { createFramePair } from '../protocol/transport/frame-port.ts';
import { createStreamPort } from '../protocol/transport/stream-port.ts';
import { serveAcp } from './acp/serve-acp.ts';
import { openDoor } from './door/relay.ts';
import { acpExtensions } from './host/compose/acp-extensions.ts';
import {
  type CommandLine,
  CommandLineError,
  parseCommandLine,
} from './host/compose/command-line.ts';
import { exitWhenParentGone, onTermination, requireNode } from './host/compose/lifetime.ts';
import { openHost, type RunningHost } from './host/compose/open-host.ts';
import { refuse } from './host/compose/refuse.ts';
import { Transcripts } from './host/compose/transcripts.ts';
import { createLog, type FileLog } from './host/log.ts';
import { randomIds, systemClock } from './host/node-ports.ts';
import { dataFolder } from './journal/data-folder.ts';
import { openJournal } from './journal/open-journal.ts';
import { VERSION } from './version.ts';

/** Another process may be about to let go of the data folder: a window that reloads takes this long. */
const LOCK_WAIT_MS = 2_500;
/** From the end of the client to the end of this process. */
const EXIT_DEADLINE_MS = 1_800;

/** Serves one client on standard input and output until it goes; resolves with the exit code. */
async function serve(options: Extract<CommandLine, { kind: 'serve' }>): Promise<number> {
  const folder = dataFolder();
  const log = createLog({
    file: join(folder, 'log', 'agent-core.log'),
    level: options.logLevel,
    stderr: process.stderr,
  });
  process.on('uncaughtException', (error) =>
    log.error('An error was caught nowhere', { error: error.stack ?? error.message }),
  );
  process.on('unhandledRejection', (reason) =>
    log.error('A promise was rejected and nobody looked', { error: messageOf(reason) }),
  );
  try {
    const running = await start(options, folder, log);
    await run(running, log);
    return 0;
  } catch (failure) {
    const code = failure instanceof CodedError ? failure.code : 'host.failed';
    log.error('agent-core could not start', { code, error: messageOf(failure) });
    await refuse(createStreamPort(process.stdin, process.stdout), messageOf(failure), code);
    return 1;
  } finally {
    log.dispose();
  }
}

async function start(
  options: Extract<CommandLine, { kind: 'serve' }>,
  folder: string,
  log: FileLog,
): Promise<RunningHost> {
  const journal = await openJournal({
    dataFolder: folder,
    log,
    clock: systemClock,
    lockWaitMs: LOCK_WAIT_MS,
  });
  return openHost({
    journal,
    dataFolder: folder,
    environment: process.env,
    defaultModel: options.model,
    version: VERSION,
    log,
  });
}

async function run(running: RunningHost, log: FileLog): Promise<void> {
  const transcripts = new Transcripts(running.host, systemClock, log);
  const [clientEnd, hostEnd] = createFramePair();
  const connection = serveAcp({
    port: hostEnd,
    host: running.host,
    extensions: acpExtensions({ ...running, transcripts }),
    log,
    clock: systemClock,
    ids: randomIds,
    agentVersion: VERSION,
  });
  process.on('exit', () => running.killAll());
  const stop = (): void => connection.close();
  onTermination(stop);
  exitWhenParentGone(stop);
  const relayed = openDoor({ input: process.stdin, output: process.stdout, host: clientEnd, log });
  await connection.done;
  const deadline = setTimeout(() => process.exit(0), EXIT_DEADLINE_MS);
  transcripts.dispose();
  await running.close();
  await relayed;
  clearTimeout(deadline);
}

async function main(): Promise<number> {
  try {
    const asked = parseCommandLine(process.argv.slice(2), process.env, VERSION);
    if (asked.kind === 'serve') {
      requireNode();
      return await serve(asked);
    }
    process.stdout.write(asked.text);
    return 0;
  } catch (failure) {
    process.stderr.write(`${messageOf(failure)}\n`);
    return failure instanceof CommandLineError ? 2 : 1;
  }
}

process.exitCode = await main();
process.exit();
