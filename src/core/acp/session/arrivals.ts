import { Deferred } from '../../../base/deferred.ts';

/** Requests that change what a later prompt of the session begins with, from their arrival on. */
const CHANGING: ReadonlySet<string> = new Set([
  'session/load',
  'session/resume',
  'session/set_mode',
  'session/set_config_option',
  '_pilothouse/attach',
]);

/**
 * Changes of sessions that have arrived and are not over: what takes its place at its arrival waits for those that
 * arrived before it, though their handlers have not begun.
 */
export class Arrivals {
  readonly #under = new Map<
    number,
    { readonly sessionId: string; readonly over: Deferred<void> }
  >();

  arrived(requestId: number, method: string, sessionId: string | null): void {
    if (sessionId !== null && CHANGING.has(method))
      this.#under.set(requestId, { sessionId, over: new Deferred() });
  }

  /** The request was answered. */
  answered(requestId: number): void {
    this.#under.get(requestId)?.over.resolve();
    this.#under.delete(requestId);
  }

  hasAny(sessionId: string): boolean {
    return [...this.#under.values()].some((change) => change.sessionId === sessionId);
  }

  /** Resolves when those that have arrived so far are over; never rejects. */
  async settled(sessionId: string): Promise<void> {
    const changes = [...this.#under.values()].filter((change) => change.sessionId === sessionId);
    await Promise.all(changes.map(({ over }) => over.promise));
  }
}
