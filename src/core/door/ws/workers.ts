import type { Role } from '../../acp/access/credential.ts';
import type { Worker } from './worker.ts';

/** How long workers without a socket are kept. */
export type Retention = {
  readonly retainMs: number;
  /** More than these, and the one that waits longest goes. */
  readonly most: number;
};

/** Source: Harn session control, ACP over WebSocket; the number is ours. */
export const RETENTION: Retention = { retainMs: 300_000, most: 128 };

/** What a client says of the worker that it had. */
export type Reference = {
  readonly sessionId: string;
  readonly cursor: number;
  /** Its id, where the client says it. */
  readonly worker: string | null;
  /** What the client's token allows. */
  readonly ceiling: Role;
  /** The role that it wants in the session. */
  readonly role: Role;
};

/** All workers of a door, those without a socket for a while only. */
export class Workers {
  readonly #retention: Retention;
  readonly #all = new Set<Worker>();
  readonly #retained = new Map<Worker, NodeJS.Timeout>();

  constructor(retention: Retention) {
    this.#retention = retention;
  }

  add(worker: Worker): void {
    this.#all.add(worker);
  }

  remove(worker: Worker): void {
    this.#all.delete(worker);
    this.wake(worker);
  }

  /** Keeps a worker that has lost its socket; one that follows no session has nothing to come back to. */
  retain(worker: Worker): void {
    if (worker.isOver || worker.isConnected || this.#retained.has(worker)) return;
    if (!worker.sessions.isNeeded) {
      worker.close();
      return;
    }
    const [longest] = this.#retained.keys();
    if (this.#retained.size >= this.#retention.most) longest?.close();
    this.#retained.set(
      worker,
      setTimeout(() => worker.close(), this.#retention.retainMs),
    );
  }

  /** It has a socket again, or needs none. */
  wake(worker: Worker): void {
    clearTimeout(this.#retained.get(worker));
    this.#retained.delete(worker);
  }

  /**
   * The worker that a client means; null if there is none, or if it could be one of several: what is another client's
   * must not be sent to this one.
   */
  meant(reference: Reference): Worker | null {
    const { sessionId, cursor, worker: id, ceiling, role } = reference;
    const possible = [...this.#all].filter(
      (worker) =>
        worker.role === ceiling &&
        (id === null
          ? worker.sessions.roleIn(sessionId) === role && worker.mayHaveSent(cursor)
          : worker.id === id && worker.sessions.roleIn(sessionId) !== undefined),
    );
    const [only] = possible;
    return possible.length === 1 && only !== undefined ? only : null;
  }

  /** True if another client that is connected controls the session. */
  isControlled(sessionId: string, by: Worker): boolean {
    return [...this.#all].some(
      (worker) =>
        worker !== by && worker.isConnected && worker.sessions.roleIn(sessionId) === 'host_owner',
    );
  }

  close(): void {
    for (const worker of [...this.#all]) worker.close();
  }
}
