import type { GateAnswer } from '../gate-words.ts';

/** Why a turn is being ended from outside. It is the `reason` of the turn's abort signal. */
export type AbortReason =
  | { readonly kind: 'cancelled'; readonly by: string; readonly why?: string }
  | { readonly kind: 'out_of_time' }
  /** A message must be read before anything else happens; the turn goes on. */
  | { readonly kind: 'interrupted' }
  /** One call is ended; the turn goes on. */
  | { readonly kind: 'call_cancelled'; readonly why: string }
  /** The program itself failed in the middle of the turn. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'closed'; readonly why: Extract<GateAnswer, { kind: 'cancelled' }>['reason'] }
  | { readonly kind: 'fault'; readonly cause: unknown };

/** Reads the reason back from a signal. */
export function abortReason(signal: AbortSignal): AbortReason {
  const reason: unknown = signal.reason;
  if (typeof reason === 'object' && reason !== null && 'kind' in reason)
    return reason as AbortReason;
  return { kind: 'cancelled', by: 'unknown' };
}

/** The value of a race that the abort won. */
export const ABORTED: unique symbol = Symbol('aborted');

/** Settles with the work or, as soon as the signal aborts, with `ABORTED`; the work's late rejection is harmless. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(ABORTED);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Walks an async iterable until it ends or the signal aborts; an abort does not wait for the producer. Throws what
 * the producer throws, unless the abort came first.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let finished = false;
  let wake = (_aborted: typeof ABORTED): void => undefined;
  const onAbort = (): void => wake(ABORTED);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      // One listener for all steps: a stream has many.
      const step = await new Promise<IteratorResult<T> | typeof ABORTED>((resolve, reject) => {
        wake = resolve;
        const next = iterator.next();
        if (signal.aborted) resolve(ABORTED);
        next.then(resolve, reject);
      });
      if (step === ABORTED) return;
      if (step.done === true) {
        finished = true;
        return;
      }
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!finished) iterator.return?.().then(undefined, () => undefined);
  }
}

/** Runs the work when the signal aborts; the returned function waits for it if it began. */
export function onAbort(signal: AbortSignal, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  signal.addEventListener(
    'abort',
    () => {
      running = work();
    },
    { once: true },
  );
  return async () => {
    await running;
  };
}
