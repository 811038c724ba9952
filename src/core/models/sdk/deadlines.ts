import type { Clock } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import { ModelError } from '../../session/model.ts';

/** How long a provider may be silent, in milliseconds. */
export type Deadlines = {
  /** From the request to the first piece of the reply. */
  readonly firstTokenMs: number;
  /** Between two pieces. Reasoning that a provider keeps to itself is silence too, so this is long. */
  readonly idleMs: number;
};

export const DEFAULT_DEADLINES: Deadlines = { firstTokenMs: 120_000, idleMs: 300_000 };

/** What ended a watched request from outside. */
export type Verdict = 'cancelled' | 'first_token_timeout' | 'idle_timeout';

/**
 * Watches one request: aborts `signal` when the caller aborts or the provider is silent for too long. Only time
 * spent waiting for the provider counts, not time in which the caller is busy with what came.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #outer: AbortSignal;
  readonly #inner = new AbortController();
  readonly #closed = new AbortController();
  readonly #aborted = new Deferred<never>();
  #verdict: Verdict | null = null;
  #waitingSince: number | null;
  #begun = false;

  constructor(clock: Clock, deadlines: Deadlines, outer: AbortSignal) {
    this.#clock = clock;
    this.#deadlines = deadlines;
    this.#outer = outer;
    this.#waitingSince = clock.now();
    // Nobody may be racing when it rejects.
    this.#aborted.promise.catch(() => undefined);
    if (outer.aborted) this.#end('cancelled');
    else outer.addEventListener('abort', this.#onOuterAbort, { once: true });
    void this.#watch();
  }

  /** Aborts the request. */
  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  /** Why it was aborted, if it was. */
  get verdict(): Verdict | null {
    return this.#verdict;
  }

  /** Waits for the provider; rejects at once on an abort. */
  race<T>(promise: Promise<T> | PromiseLike<T>): Promise<T> {
    return Promise.race([promise, this.#aborted.promise]);
  }

  /** The caller waits for the next piece. */
  waiting(): void {
    if (this.#begun) this.#waitingSince = this.#clock.now();
  }

  /** A piece of the reply came. */
  received(): void {
    this.#begun = true;
    this.#waitingSince = null;
  }

  /** Ends the watch and, if it still runs, the request. */
  close(): void {
    this.#outer.removeEventListener('abort', this.#onOuterAbort);
    this.#closed.abort();
    this.#inner.abort();
  }

  readonly #onOuterAbort = (): void => this.#end('cancelled');

  #end(verdict: Verdict): void {
    if (this.#verdict !== null || this.#closed.signal.aborted) return;
    this.#verdict = verdict;
    this.#inner.abort();
    this.#aborted.reject(new DOMException(verdict, 'AbortError'));
    this.#closed.abort();
  }

  async #watch(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const limit = this.#begun ? this.#deadlines.idleMs : this.#deadlines.firstTokenMs;
      const silent = this.#waitingSince === null ? 0 : this.#clock.now() - this.#waitingSince;
      if (silent >= limit) {
        this.#end(this.#begun ? 'idle_timeout' : 'first_token_timeout');
        return;
      }
      try {
        await this.#clock.sleep(limit - silent, this.#closed.signal);
      } catch {
        return;
      }
    }
  }
}

/** What a caller is told when its request was ended from outside. */
export function verdictError(
  verdict: Verdict,
  { source, name }: { readonly source: string; readonly name: string },
  deadlines: Deadlines,
): ModelError {
  if (verdict === 'cancelled') {
    return new ModelError('model.cancelled', `The request to ${name} was stopped.`, { source });
  }
  const ms = verdict === 'first_token_timeout' ? deadlines.firstTokenMs : deadlines.idleMs;
  return new ModelError(
    'model.timeout',
    `${name} sent nothing for ${Math.round(ms / 1_000)} s. Try again, or choose another model.`,
    { source, retryable: true },
  );
}
