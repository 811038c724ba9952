import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';

/** What a session is kept by. */
export type KeptParts<S> = {
  readonly clock: Clock;
  /** How long a session that nobody follows and that does nothing is kept warm, in milliseconds. */
  readonly graceMs: number;
  readonly isUnused: (session: S) => boolean;
  /** Frees it; called once for each time that the grace ran out. Must not reject. */
  readonly free: (session: S) => Promise<void>;
};

/** Sessions whose clients left: each is freed once nothing of it runs and nobody came back within the grace. */
export class KeptSessions<S extends object> implements Disposable {
  readonly #parts: KeptParts<S>;
  readonly #graces = new Map<S, AbortController>();
  #isOver = false;

  constructor(parts: KeptParts<S>) {
    this.#parts = parts;
  }

  /** Something about the session may have changed. */
  look(session: S): void {
    if (this.#isOver) return;
    const isUnused = this.#parts.isUnused(session);
    if (!isUnused) this.forget(session);
    else if (!this.#graces.has(session)) void this.#wait(session);
  }

  /** The session is used, or gone. */
  forget(session: S): void {
    this.#graces.get(session)?.abort();
    this.#graces.delete(session);
  }

  async #wait(session: S): Promise<void> {
    const grace = new AbortController();
    this.#graces.set(session, grace);
    const { clock, graceMs, isUnused, free } = this.#parts;
    const isOver = await clock.sleep(graceMs, grace.signal).then(
      () => true,
      // It is used again.
      () => false,
    );
    if (this.#graces.get(session) === grace) this.#graces.delete(session);
    if (isOver && !grace.signal.aborted && isUnused(session)) await free(session);
  }

  dispose(): void {
    this.#isOver = true;
    for (const session of [...this.#graces.keys()]) this.forget(session);
  }
}
