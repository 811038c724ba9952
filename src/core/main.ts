import { join } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import {
  type CommandLine,
  CommandLineError,
  parseCommandLine,
  type ServeOptions,
} from './host/compose/command-line.ts';
import { requireNode } from './host/compose/lifetime.ts';
import { createLog, type FileLog } from './host/log/log.ts';
import { dataFolder } from './journal/lock/data-folder.ts';
import type { RunDoorOptions } from './run-door.ts';
import { VERSION } from './version.ts';

/** Another process may be about to let go of the data folder: a window that reloads takes this long. */
const LOCK_WAIT_MS = 2_500;

/**
 * Runs what needs a log and a recent Node; resolves with the exit code. The file belongs to whoever has the sessions: two
 * processes that rotate one file would lose lines of each other's.
 */
async function logged(
  { logLevel, keepsFile }: ServeOptions & { readonly keepsFile: boolean },
  run: (log: FileLog, folder: string) => Promise<number>,
): Promise<number> {
  requireNode();
  const folder = dataFolder();
  const file = keepsFile ? join(folder, 'log', 'agent-core.log') : null;
  const log = createLog({ file, level: logLevel, stderr: process.stderr });
  process.on('uncaughtException', (error) =>
    log.error('An error was caught nowhere', { error: error.stack ?? error.message }),
  );
  process.on('unhandledRejection', (reason) =>
    log.error('A promise was rejected and nobody looked', { error: messageOf(reason) }),
  );
  try {
    return await run(log, folder);
  } finally {
    log.dispose();
  }
}

/** Serves one client on standard input and output with a host in this process, until it goes. */
async function serveInProcess(
  { model }: ServeOptions,
  log: FileLog,
  folder: string,
): Promise<number> {
  try {
    const { startJournal } = await import('./journal/open-journal.ts');
    const clock = { now: Date.now };
    const store = startJournal({ dataFolder: folder, log, clock, lockWaitMs: LOCK_WAIT_MS });
    // Its failure is met where it is waited for.
    store.opened.catch(() => undefined);
    // The store opens in its own thread; the rest of the program is loaded meanwhile.
    const { serveClient } = await import('./serve.ts');
    await serveClient({ ...store, dataFolder: folder, defaultModel: model, log });
    return 0;
  } catch (failure) {
    const code = codeOf(failure) ?? 'host.failed';
    log.error('agent-core could not start', { code, error: messageOf(failure) });
    const { refuse } = await import('./host/compose/refuse.ts');
    const { createStreamPort } = await import('../protocol/transport/stream-port.ts');
    await refuse(createStreamPort(process.stdin, process.stdout), messageOf(failure), code);
    return 1;
  }
}

async function serveThroughHost(
  options: ServeOptions,
  log: FileLog,
  folder: string,
): Promise<number> {
  const { runDoor } = await import('./run-door.ts');
  return runDoor({ ...hostProgram(options), dataFolder: folder, model: options.model, log });
}

/** How a door starts a host. */
function hostProgram({ logLevel }: ServeOptions): Pick<RunDoorOptions, 'program' | 'hostArgs'> {
  const program = [...process.execArgv, process.argv[1] ?? ''];
  return { program, hostArgs: ['--log-level', logLevel] };
}

async function runAsHost({ model }: ServeOptions, log: FileLog, folder: string): Promise<number> {
  const { runHost } = await import('./run-host.ts');
  return runHost({ dataFolder: folder, defaultModel: model, log }).then(
    () => 0,
    // It was logged and told to the door.
    () => 1,
  );
}

async function run(asked: CommandLine): Promise<number> {
  switch (asked.kind) {
    case 'print':
      process.stdout.write(asked.text);
      return 0;
    case 'door': {
      const serve = asked.inProcess ? serveInProcess : serveThroughHost;
      const options = { ...asked, keepsFile: asked.inProcess };
      return logged(options, (log, folder) => serve(asked, log, folder));
    }
    case 'host_run':
      return logged({ ...asked, keepsFile: true }, (log, folder) => runAsHost(asked, log, folder));
    case 'serve_ws': {
      const { runWsDoor } = await import('./run-ws-door.ts');
      return logged({ ...asked, keepsFile: false }, (log, folder) =>
        runWsDoor({ ...asked, ...hostProgram(asked), dataFolder: folder, log }),
      );
    }
    case 'connect': {
      const { runConnect } = await import('./run-connect.ts');
      return logged({ ...asked, keepsFile: false }, (log) => runConnect({ ...asked, log }));
    }
    case 'host_status': {
      const { hostStatus } = await import('./door/host-command.ts');
      process.stdout.write(`${JSON.stringify(await hostStatus(dataFolder(), VERSION))}\n`);
      return 0;
    }
    case 'host_stop': {
      const { stopHost } = await import('./door/host-command.ts');
      const { systemClock } = await import('./host/node-ports.ts');
      await stopHost(dataFolder(), VERSION, systemClock);
      return 0;
    }
  }
}

async function main(): Promise<number> {
  try {
    return await run(parseCommandLine(process.argv.slice(2), process.env, VERSION));
  } catch (failure) {
    process.stderr.write(`${messageOf(failure)}\n`);
    return failure instanceof CommandLineError ? 2 : 1;
  }
}

process.exitCode = await main();
process.exit();
