/** Runs pieces of work one after another, in the order they came. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as the work does. A failure does not keep the next one from running. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all that was asked for so far has settled. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
