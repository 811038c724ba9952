import { messageOf } from '../base/errors.ts';
import { createFramePair } from '../protocol/transport/frame-port.ts';
import { serveAcp } from './acp/serve-acp.ts';
import { openDoor } from './door/relay.ts';
import { takeAccessKeys } from './host/compose/access-keys.ts';
import { acpExtensions } from './host/compose/acp-extensions.ts';
import { endAtOnce, exitWhenParentGone, onTermination } from './host/compose/lifetime.ts';
import { openHost } from './host/compose/open-host.ts';
import { Transcripts } from './host/compose/transcripts.ts';
import type { FileLog } from './host/log/log.ts';
import { randomIds, systemClock } from './host/node-ports.ts';
import { crashPoints, keepSmall } from './host/process/process-setup.ts';
import { SHUTDOWN_DEADLINES, shutdownMs } from './host/shutdown/phases.ts';
import type { OpenJournal } from './journal/open-journal.ts';
import { VERSION } from './version.ts';

/** How long the client's pipe may take to be written out, once everything else has ended. */
const RELAY_MS = 500;
/** From the end of the client to the end of this process, whatever hangs. */
const EXIT_DEADLINE_MS = shutdownMs(SHUTDOWN_DEADLINES) + RELAY_MS;

/**
 * Serves one client on standard input and output until it goes and everything it started has ended. Everything is
 * put together while the store opens, and nothing is read before it is open; rejects with what kept it from opening.
 */
export async function serveClient(options: {
  readonly journal: OpenJournal;
  readonly opened: Promise<void>;
  readonly dataFolder: string;
  readonly defaultModel: string | null;
  readonly log: FileLog;
}): Promise<void> {
  const { log } = options;
  const keys = takeAccessKeys(process.env);
  const crashing = await crashPoints(process.env['CRASH_AT']);
  const startedAt = systemClock.now();
  const running = openHost({
    ...options,
    environment: process.env,
    version: VERSION,
    ...crashing,
  });
  const transcripts = new Transcripts(running.host, systemClock, log);
  const [clientEnd, hostEnd] = createFramePair();
  const connection = serveAcp({
    port: hostEnd,
    host: running.host,
    extensions: acpExtensions({ ...options, ...running, transcripts }),
    log,
    clock: systemClock,
    ids: randomIds,
    agentVersion: VERSION,
    keys,
    hostFacts: { pid: process.pid, version: VERSION, startedAt, inProcess: true },
  });
  // The first session needs it, and there is time while the store opens.
  import('./journal/codec/codec.ts').catch((failure: unknown) =>
    log.error('The checks of records could not be loaded', { error: messageOf(failure) }),
  );
  await options.opened;
  process.on('exit', () => running.killAll());
  const stop = (): void => connection.close();
  onTermination(stop);
  exitWhenParentGone(stop);
  const relayed = openDoor({ input: process.stdin, output: process.stdout, host: clientEnd, log });
  keepSmall();
  await connection.done;
  const cutOff = (): void => {
    running.killAll();
    endAtOnce();
  };
  const deadline = setTimeout(cutOff, EXIT_DEADLINE_MS);
  transcripts.dispose();
  const { timeouts } = await running.close();
  if (timeouts.some(({ phase }) => phase === 'lock')) cutOff();
  await relayed;
  clearTimeout(deadline);
}
