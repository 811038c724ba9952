import { Deferred } from '../../../base/deferred.ts';

/** Work on a session that no turn may overlap: one after another, in the order of the calls. */
export class Exclusive {
  readonly #hold: () => () => void;
  #last: Promise<void> = Promise.resolve();

  /** `hold` keeps turns from beginning until what it returns is called. */
  constructor(hold: () => () => void) {
    this.#hold = hold;
  }

  /** Resolves when all work that was asked for so far is done. */
  get settled(): Promise<void> {
    return this.#last;
  }

  /** From this call on no turn begins until the work is done; prompts wait. Nothing may run when it is called. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = new Deferred<void>();
    this.#last = done.promise;
    const release = this.#hold();
    try {
      await before;
      return await work();
    } finally {
      release();
      done.resolve();
    }
  }
}
