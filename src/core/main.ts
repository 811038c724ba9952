import { join } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import { createStreamPort } from '../protocol/transport/stream-port.ts';
import {
  type CommandLine,
  CommandLineError,
  parseCommandLine,
} from './host/compose/command-line.ts';
import { requireNode } from './host/compose/lifetime.ts';
import { refuse } from './host/compose/refuse.ts';
import { createLog } from './host/log/log.ts';
import { dataFolder } from './journal/lock/data-folder.ts';
import { startJournal } from './journal/open-journal.ts';
import { VERSION } from './version.ts';

/** Another process may be about to let go of the data folder: a window that reloads takes this long. */
const LOCK_WAIT_MS = 2_500;

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
    const clock = { now: Date.now };
    const store = startJournal({ dataFolder: folder, log, clock, lockWaitMs: LOCK_WAIT_MS });
    // Its failure is met where it is waited for.
    store.opened.catch(() => undefined);
    // The store opens in its own thread; the rest of the program is loaded meanwhile.
    const { serveClient } = await import('./serve.ts');
    await serveClient({ ...store, dataFolder: folder, defaultModel: options.model, log });
    return 0;
  } catch (failure) {
    const code = codeOf(failure) ?? 'host.failed';
    log.error('agent-core could not start', { code, error: messageOf(failure) });
    await refuse(createStreamPort(process.stdin, process.stdout), messageOf(failure), code);
    return 1;
  } finally {
    log.dispose();
  }
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
