import type { Disposable } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { compareRows, parseRow, type SessionRow } from './tree/row.ts';

/** One page of a list. */
export type ListPage = { readonly sessions: readonly unknown[]; readonly nextCursor?: string };

/** Fetches a page; without a cursor the first. */
export type FetchPage = (cursor: string | undefined) => Promise<ListPage>;

/** The sessions that are known, in the order of their last message. Pages are fetched when asked for. */
export class SessionDirectory implements Disposable {
  readonly #rows = new Map<string, SessionRow>();
  readonly #changed = new Emitter<string | null>();
  readonly #fetch: FetchPage;
  #cursor: string | undefined;
  #loading: Promise<void> | null = null;
  #hasLoaded = false;

  /** Fires with the session that changed, or null when many may have. */
  readonly onDidChange = this.#changed.event;

  constructor(fetch: FetchPage) {
    this.#fetch = fetch;
  }

  /** True after the first page has come. */
  get hasLoaded(): boolean {
    return this.#hasLoaded;
  }

  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  rows(): readonly SessionRow[] {
    return [...this.#rows.values()].sort(compareRows);
  }

  get(sessionId: string): SessionRow | null {
    return this.#rows.get(sessionId) ?? null;
  }

  /** Fetches the first page again; sessions that were deleted elsewhere in its range disappear. */
  async refresh(): Promise<void> {
    await this.#exclusive(async () => {
      const page = await this.#fetch(undefined);
      const rows = page.sessions.map(parseRow).filter((row) => row !== null);
      const oldest = page.nextCursor === undefined ? 0 : (rows.at(-1)?.updatedAt ?? 0);
      const listed = new Set(rows.map((row) => row.sessionId));
      for (const row of this.#rows.values())
        if (row.updatedAt > oldest && !listed.has(row.sessionId)) this.#rows.delete(row.sessionId);
      for (const row of rows) this.#rows.set(row.sessionId, row);
      if (!this.#hasLoaded || page.nextCursor === undefined) this.#cursor = page.nextCursor;
      this.#hasLoaded = true;
    });
  }

  /** Fetches the next page, if there is one. */
  async loadMore(): Promise<void> {
    await this.#exclusive(async () => {
      if (this.#cursor === undefined) return;
      const page = await this.#fetch(this.#cursor);
      this.#cursor = page.nextCursor;
      for (const row of page.sessions.map(parseRow)) if (row) this.#rows.set(row.sessionId, row);
    });
  }

  /** One load at a time; a second caller waits and then loads itself. */
  async #exclusive(load: () => Promise<void>): Promise<void> {
    while (this.#loading) await this.#loading.catch(() => undefined);
    this.#loading = load();
    try {
      await this.#loading;
    } finally {
      this.#loading = null;
      this.#changed.fire(null);
    }
  }

  /** Takes a row in as the agent sent it. */
  update(value: unknown): void {
    const row = parseRow(value);
    if (!row) return;
    this.#rows.set(row.sessionId, row);
    this.#changed.fire(row.sessionId);
  }

  /** Changes what is known of a listed session. */
  patch(sessionId: string, patch: Partial<Omit<SessionRow, 'sessionId'>>): void {
    const row = this.#rows.get(sessionId);
    if (!row) return;
    this.#rows.set(sessionId, { ...row, ...patch });
    this.#changed.fire(sessionId);
  }

  remove(sessionId: string): void {
    if (this.#rows.delete(sessionId)) this.#changed.fire(null);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
