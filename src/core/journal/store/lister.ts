import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { HOST_STREAM } from '../../session/ports.ts';
import type { ListPosition, ListQuery, SessionColumns } from '../worker-protocol.ts';
import { SESSION_COLUMNS, type Sliced, sessionColumns } from './reader.ts';
import type { SearchIndex, SearchTerms } from './search-index.ts';

/** A page of the session list. */
export type ListPage = { rows: readonly SessionColumns[]; more: boolean };

/** Sessions looked at in one slice of a search that has to test one after another. */
const SLICE_SESSIONS = 64;

type Candidate = { readonly n: number; readonly columns: SessionColumns };

/**
 * Lists sessions, newest message first, then by id. A page begins after a position, not at an offset: sessions that
 * come or move between two pages shift nothing.
 */
export class Lister {
  readonly #database: DatabaseSync;
  readonly #search: SearchIndex;

  constructor(database: DatabaseSync, search: SearchIndex) {
    this.#database = database;
    this.#search = search;
  }

  *list(query: ListQuery): Sliced<undefined, ListPage> {
    if (query.text === undefined) return pageOf(this.#page(query, query.limit + 1), query.limit);
    const terms = this.#search.terms(query.text);
    if (terms === null) return { rows: [], more: false };
    // A full-text index must know what was just appended.
    yield* this.#search.catchUp();
    const few = this.#search.sessionsIfFew(terms);
    if (few !== null) return pageOf(this.#page(query, query.limit + 1, few), query.limit);
    return yield* this.#testOneByOne(query, terms);
  }

  /** Many sessions match, so a page of them is found soon by looking at each in list order. */
  *#testOneByOne(query: ListQuery, terms: SearchTerms): Sliced<undefined, ListPage> {
    const found: Candidate[] = [];
    let from = query.from;
    for (;;) {
      const candidates = this.#page({ ...query, from }, SLICE_SESSIONS);
      for (const candidate of candidates) {
        if (this.#search.matches(candidate.n, terms)) found.push(candidate);
        if (found.length > query.limit) return pageOf(found, query.limit);
      }
      const last = candidates.at(-1);
      if (last === undefined || candidates.length < SLICE_SESSIONS) break;
      from = last.columns;
      yield;
    }
    return pageOf(found, query.limit);
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

function pageOf(candidates: readonly Candidate[], limit: number): ListPage {
  return {
    rows: candidates.slice(0, limit).map((candidate) => candidate.columns),
    more: candidates.length > limit,
  };
}
