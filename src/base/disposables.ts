/** Something opened that has to be closed exactly once; closing twice is harmless. */
export interface Disposable {
  dispose(): void;
}

/** Wraps a function so that only its first `dispose()` runs it. */
export function toDisposable(run: () => void): Disposable {
  let done = false;
  return {
    dispose(): void {
      if (done) return;
      done = true;
      run();
    },
  };
}

/**
 * Owns a set of disposables and closes them in reverse order of arrival.
 * What is added after `dispose()` is closed at once, so nothing can leak through a late registration.
 */
export class DisposableStore implements Disposable {
  readonly #items = new Set<Disposable>();
  #disposed = false;

  get isDisposed(): boolean {
    return this.#disposed;
  }

  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose();
    else this.#items.add(item);
    return item;
  }

  /** Registers a function to run at disposal. */
  defer(run: () => void): Disposable {
    return this.add(toDisposable(run));
  }

  /** Closes everything; every item is attempted, and the first failure is thrown after the last attempt. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const failures: unknown[] = [];
    for (const item of [...this.#items].reverse()) {
      try {
        item.dispose();
      } catch (failure) {
        failures.push(failure);
      }
    }
    this.#items.clear();
    if (failures.length > 0) throw failures[0];
  }
}
