import { type Disposable, toDisposable } from './disposables.ts';

/** Registers a listener; disposing the result removes it. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/**
 * Calls listeners in the order they subscribed. A listener that throws does not keep the others from being called;
 * its error goes to `onError`. Events fired from inside a listener are delivered after the current one.
 */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (error: unknown) => void;
  readonly #queue: T[] = [];
  /** The listeners as an array, which is not changed while it is walked; null after a change. */
  #snapshot: readonly ((value: T) => void)[] | null = null;
  #firing = false;

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError;
  }

  readonly event: Event<T> = (listener) => {
    const own = (value: T): void => listener(value);
    this.#listeners.add(own);
    this.#snapshot = null;
    return toDisposable(() => {
      this.#listeners.delete(own);
      this.#snapshot = null;
    });
  };

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  fire(value: T): void {
    if (this.#firing) {
      this.#queue.push(value);
      return;
    }
    this.#firing = true;
    try {
      this.#deliver(value);
      while (this.#queue.length > 0) {
        for (const next of this.#queue.splice(0)) this.#deliver(next);
      }
    } finally {
      this.#firing = false;
    }
  }

  #deliver(value: T): void {
    this.#snapshot ??= [...this.#listeners];
    for (const listener of this.#snapshot) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
    this.#snapshot = null;
    this.#queue.length = 0;
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
