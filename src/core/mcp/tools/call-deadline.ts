import type { Clock } from '../../../base/clock.ts';

/**
 * The patience with a call: it ends after a time without a sign of life. While a person is asked something, it does
 * not run down.
 */
export class CallDeadline {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #over = new AbortController();
  #running: AbortController | null = null;
  #holds = 0;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
    this.#start();
  }

  /** Aborts when the time is up. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** A sign of life: the time starts anew. */
  extend(): void {
    if (this.#holds === 0) this.#start();
  }

  /** Runs work during which the time stands still. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#holds += 1;
    this.#running?.abort();
    try {
      return await work();
    } finally {
      this.#holds -= 1;
      this.extend();
    }
  }

  dispose(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    this.#running?.abort();
  }

  #start(): void {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    this.#clock.sleep(this.#ms, running.signal).then(
      () => this.#over.abort(),
      () => undefined,
    );
  }
}
