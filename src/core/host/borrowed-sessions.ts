import type { Session } from '../session/session.ts';
import type { SessionId } from '../session/words.ts';
import { noSuchSession } from './controls/sessions-at-hand.ts';
import type { HostedSession } from './hosted-session.ts';
import type { SessionEnds } from './session-ends.ts';

/** What sessions are borrowed from. */
export type BorrowParts = {
  readonly ends: SessionEnds;
  readonly live: (sessionId: SessionId) => HostedSession | undefined;
  readonly isStored: (sessionId: SessionId) => Promise<boolean>;
  /** Throws `host.closing`. */
  readonly requireOpen: () => void;
  readonly open: (sessionId: SessionId) => Promise<HostedSession>;
  /** Nobody works on it any more. */
  readonly givenBack: (hosted: HostedSession) => Promise<void>;
};

/** Stored sessions that are brought to life for a piece of work. */
export class BorrowedSessions {
  readonly #parts: BorrowParts;
  /** How much work goes on with each. */
  readonly #borrowed = new Map<SessionId, number>();

  constructor(parts: BorrowParts) {
    this.#parts = parts;
  }

  has(sessionId: SessionId): boolean {
    return this.#borrowed.has(sessionId);
  }

  /** Does work on a session; a stored one lives for the time of it only, unless a client comes meanwhile. */
  async using<T>(sessionId: SessionId, work: (session: Session) => Promise<T>): Promise<T> {
    const { ends, live, requireOpen, isStored, open } = this.#parts;
    await ends.over(sessionId);
    const hosted = live(sessionId);
    if (hosted !== undefined) return work(hosted.session);
    requireOpen();
    if (!(await isStored(sessionId))) throw noSuchSession(sessionId);
    this.#borrowed.set(sessionId, (this.#borrowed.get(sessionId) ?? 0) + 1);
    try {
      return await work((await open(sessionId)).session);
    } finally {
      await this.#giveBack(sessionId);
    }
  }

  async #giveBack(sessionId: SessionId): Promise<void> {
    const left = (this.#borrowed.get(sessionId) ?? 1) - 1;
    if (left > 0) this.#borrowed.set(sessionId, left);
    else this.#borrowed.delete(sessionId);
    const hosted = this.#parts.live(sessionId);
    if (left === 0 && hosted !== undefined) await this.#parts.givenBack(hosted);
  }
}
