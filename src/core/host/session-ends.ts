import type { SessionId } from '../session/words.ts';

/** What closes or deletes sessions, one after another for each: whoever wants to open one waits. */
export class SessionEnds {
  readonly #ends = new Map<SessionId, Promise<void>>();

  /** Resolves when nothing ends the session any more; never rejects. */
  async over(sessionId: SessionId): Promise<void> {
    while (this.#ends.has(sessionId)) await this.#ends.get(sessionId);
  }

  /** Begins at once, or when what ends the session already is done. */
  async run(sessionId: SessionId, work: () => Promise<void>): Promise<void> {
    const end = this.#ends.get(sessionId)?.then(work) ?? work();
    // How it went is told to its caller alone.
    const settled = end.catch(() => undefined);
    this.#ends.set(sessionId, settled);
    try {
      await end;
    } finally {
      if (this.#ends.get(sessionId) === settled) this.#ends.delete(sessionId);
    }
  }

  /** Resolves when all that run now are over; never rejects. */
  async all(): Promise<void> {
    await Promise.all(this.#ends.values());
  }
}
