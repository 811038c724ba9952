/** How long after a click the second one of a double click may come, in milliseconds. */
const DOUBLE_CLICK_MS = 600;

/**
 * Lets one click decide at a time. What was decided leaves its place, and another file's buttons stand under the
 * pointer before a double click is over: its second click must not decide about that file.
 */
export class StrayClicks {
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Runs a decision. One from a click (it has an argument; a key has none) is left out while another runs and for a
   * moment after it was clicked.
   */
  async run<T>(argument: unknown, decide: () => Promise<T>): Promise<T | undefined> {
    if (argument === undefined) return decide();
    const at = this.#now();
    if (this.#isBusy || at - this.#last < DOUBLE_CLICK_MS) return undefined;
    this.#last = at;
    this.#isBusy = true;
    try {
      return await decide();
    } finally {
      this.#isBusy = false;
    }
  }
}
