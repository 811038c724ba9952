/** How often the parent is looked for, in milliseconds. */
const WATCH_MS = 3_000;

/** Calls back once when this process is asked to end. */
export function onTermination(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, stop);
  process.once('disconnect', stop);
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
