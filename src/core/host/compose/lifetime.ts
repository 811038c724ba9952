import { CodedError } from '../../../base/errors.ts';

/** How often the parent is looked for, in milliseconds. */
const WATCH_MS = 3_000;

/**
 * Calls back once when this process is asked to end. Asking again changes nothing: the end is bounded, and a signal
 * that nobody handles would cut it in the middle.
 */
export function onTermination(stop: () => void): void {
  let wasAsked = false;
  const asked = (): void => {
    if (wasAsked) return;
    wasAsked = true;
    stop();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, asked);
  process.on('disconnect', asked);
}

/**
 * Ends this process whatever its threads do: one that hangs in a call of the system would keep `process.exit` waiting,
 * and the data folder with it.
 */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Calls back when the process that started this one is gone. The end of standard input tells that too, but not where
 * another process holds the other end of the pipe.
 */
export function exitWhenParentGone(stop: () => void): void {
  const parent = process.ppid;
  if (parent <= 1) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, WATCH_MS);
  timer.unref();
}

/** The store needs the SQLite that comes with Node. Throws `host.old_node` with what to do. */
export function requireNode(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 23 || (major === 23 && minor >= 4) || (major === 22 && minor >= 13)) return;
  throw new CodedError(
    'host.old_node',
    `agent-core needs Node.js 22.13 or newer; this is ${version}. Start it with a newer Node.js.`,
  );
}
