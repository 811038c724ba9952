import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposables.ts';

const MIN_WAIT_MS = 250;
const MAX_WAIT_MS = 3_000;
/** The whole text travels on each refresh: a long one is refreshed less often. */
const CHARACTERS_PER_MS = 1_000;

/**
 * Says when a document that grows should be read again: at most once in `MIN_WAIT_MS` while it grows, at once when
 * a turn ended.
 */
export class Refresher implements Disposable {
  readonly #clock: Clock;
  readonly #refresh: () => void;
  #waiting: AbortController | null = null;

  constructor(clock: Clock, refresh: () => void) {
    this.#clock = clock;
    this.#refresh = refresh;
  }

  /** The document grew; `length` is that of its text as shown. */
  changed(atOnce: boolean, length: number): void {
    if (atOnce) {
      this.dispose();
      this.#refresh();
      return;
    }
    if (this.#waiting) return;
    const waiting = new AbortController();
    this.#waiting = waiting;
    const wait = Math.min(MAX_WAIT_MS, MIN_WAIT_MS + length / CHARACTERS_PER_MS);
    void this.#clock.sleep(wait, waiting.signal).then(
      () => {
        if (this.#waiting !== waiting) return;
        this.#waiting = null;
        this.#refresh();
      },
      // Aborted: somebody refreshed sooner, or the document is closed.
      () => undefined,
    );
  }

  dispose(): void {
    this.#waiting?.abort();
    this.#waiting = null;
  }
}
