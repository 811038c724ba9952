import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { HOST_STREAM } from '../../session/ports.ts';
import type { FoundHits, ListPosition, ListQuery, SessionColumns } from '../worker-protocol.ts';
import { OpenGates } from './open-gates.ts';
import { SESSION_COLUMNS, type Sliced, sessionColumns } from './reader.ts';
import { Finder } from './search/finder.ts';
import { Hits } from './search/hits.ts';
import type { SearchIndex } from './search/search-index.ts';

/** A page of the session list; with a search, what was found in each. */
export type ListPage = {
  rows: readonly SessionColumns[];
  more: boolean;
  found?: readonly FoundHits[];
};

/** A session that a page may show. */
export type Candidate = { readonly n: number; readonly columns: SessionColumns };

/**
 * Lists sessions, newest message first, then by id. A page begins after a position, not at an offset: sessions that
 * come or move between two pages shift nothing.
 */
export class Lister {
  readonly #database: DatabaseSync;
  readonly #finder: Finder;
  readonly #openGates: OpenGates;

  constructor(database: DatabaseSync, index: SearchIndex) {
    this.#database = database;
    this.#openGates = new OpenGates(database);
    this.#finder = new Finder(index, new Hits(database, index));
  }

  *list(query: ListQuery): Sliced<undefined, ListPage> {
    const { text, limit } = query;
    if (text === undefined) {
      const candidates = this.#page(query, limit + 1);
      const rows = candidates.slice(0, limit).map((candidate) => this.#row(candidate));
      return { rows, more: candidates.length > limit };
    }
    const found = yield* this.#finder.find(text, limit + 1, (after, count, among) =>
      this.#page({ ...query, from: after?.columns ?? query.from }, count, among),
    );
    const shown = found.slice(0, limit);
    return {
      rows: shown.map(({ candidate }) => this.#row(candidate)),
      more: found.length > limit,
      found: shown.map(({ hits }) => hits),
    };
  }

  #row({ n, columns }: Candidate): SessionColumns {
    return { ...columns, ...this.#openGates.of(n) };
  }

  #page(
    { cwd, from }: { cwd?: string | undefined; from?: ListPosition | undefined },
    limit: number,
    among?: readonly number[],
  ): Candidate[] {
    const conditions = ['deleting = 0', 'root IS NULL', 'session_id <> ?'];
    const values: SQLInputValue[] = [HOST_STREAM];
    if (cwd !== undefined) {
      conditions.push('cwd = ?');
      values.push(cwd.toWellFormed());
    }
    if (from !== undefined) {
      conditions.push('last_message_at <= ? AND (last_message_at < ? OR session_id > ?)');
      values.push(from.lastMessageAt, from.lastMessageAt, from.sessionId);
    }
    if (among !== undefined) {
      conditions.push('n IN (SELECT value FROM json_each(?))');
      values.push(JSON.stringify(among));
    }
    const rows = this.#database
      .prepare(
        `SELECT n, ${SESSION_COLUMNS} FROM sessions WHERE ${conditions.join(' AND ')}
         ORDER BY last_message_at DESC, session_id LIMIT ?`,
      )
      .all(...values, limit);
    return rows.map((row) => ({ n: Number(row['n']), columns: sessionColumns(row) }));
  }
}
