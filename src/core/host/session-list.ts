import type { Journal, SessionRow } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import type { ListedSession, SessionHost } from './api.ts';

const DEFAULT_LIMIT = 50;

/** What a list is asked for. */
export type ListQuery = Parameters<SessionHost['list']>[0];

/** The sessions of a data folder as lists show them, live or stored. */
export class SessionList {
  readonly #journal: Pick<Journal, 'sessions' | 'session'>;
  readonly #live: (sessionId: SessionId) => { describe(): ListedSession } | undefined;

  constructor(
    journal: Pick<Journal, 'sessions' | 'session'>,
    live: (sessionId: SessionId) => { describe(): ListedSession } | undefined,
  ) {
    this.#journal = journal;
    this.#live = live;
  }

  /** See `SessionHost.list`. */
  async page(
    query: ListQuery,
  ): Promise<{ sessions: readonly ListedSession[]; nextCursor?: string }> {
    const { rows, nextCursor, found } = await this.#journal.sessions({
      ...query,
      limit: query.limit ?? DEFAULT_LIMIT,
    });
    const sessions = rows.map((row, index) => {
      const hits = found?.[index];
      return { ...this.#listed(row), ...(hits === undefined ? {} : { found: hits }) };
    });
    return nextCursor === undefined ? { sessions } : { sessions, nextCursor };
  }

  /** Null if there is none. */
  async one(sessionId: SessionId): Promise<ListedSession | null> {
    const live = this.#live(sessionId);
    if (live !== undefined) return live.describe();
    const row = await this.#journal.session(sessionId);
    return row === null ? null : this.#listed(row);
  }

  #listed(row: SessionRow): ListedSession {
    return (
      this.#live(row.sessionId)?.describe() ?? {
        ...row,
        liveState: 'persisted',
        // A turn that stood at its question goes on when the session is opened.
        activePrompt: (row.openGates ?? 0) > 0,
        openGates: row.openGates ?? 0,
        currentModeId: 'ask',
      }
    );
  }
}
