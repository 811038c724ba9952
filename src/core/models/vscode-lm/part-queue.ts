import { Deferred } from '../../../base/deferred.ts';

/** Parts from a callback, read one by one; one reader. */
export class PartQueue<T> {
  readonly #items: T[] = [];
  #waiter: Deferred<void> | null = null;
  #end: { readonly error?: unknown } | null = null;

  push(item: T): void {
    if (this.#end !== null) return;
    this.#items.push(item);
    this.#waiter?.resolve();
  }

  /** No more parts; what was pushed is still read. */
  end(): void {
    this.#end ??= {};
    this.#waiter?.resolve();
  }

  /** As `end`, and the reader then gets the error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#waiter?.resolve();
  }

  /** The next part, or undefined at the end. */
  async next(): Promise<T | undefined> {
    while (this.#items.length === 0) {
      if (this.#end !== null) {
        if ('error' in this.#end) throw this.#end.error;
        return undefined;
      }
      this.#waiter = new Deferred<void>();
      await this.#waiter.promise;
    }
    return this.#items.shift();
  }
}
