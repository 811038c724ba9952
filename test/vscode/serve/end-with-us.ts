/** Something to undo. */
export interface Owned {
  dispose(): void;
}

const ending = new Set<() => void>();
const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

function endAll(): void {
  for (const end of ending) end();
  ending.clear();
}

function onSignal(name: NodeJS.Signals): void {
  const others = process.listenerCount(name) > 1;
  if (others) return; // Whoever else listens ends the process in order; 'exit' then comes here.
  endAll();
  process.exit(128 + (name === 'SIGINT' ? 2 : name === 'SIGHUP' ? 1 : 15));
}

/** Calls the synchronous `end` when this process exits or is told to, unless disposed before. */
export function endWithUs(end: () => void): Owned {
  if (ending.size === 0) {
    process.on('exit', endAll);
    for (const name of signals) process.on(name, onSignal);
  }
  ending.add(end);
  return {
    dispose() {
      if (!ending.delete(end) || ending.size > 0) return;
      process.off('exit', endAll);
      for (const name of signals) process.off(name, onSignal);
    },
  };
}
