import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FoundHits, HitRole, SearchHit } from '../../worker-protocol.ts';
import { type Document, ID_SPAN, type SearchIndex } from './search-index.ts';
import { written } from './search-text.ts';
import type { TextMatcher } from './text-matcher.ts';

/** Hits shown of each session. */
const SHOWN = 3;

const ROLES: Readonly<Record<string, HitRole>> = {
  turn_started: 'user',
  inject_delivered: 'user',
  message_delta: 'assistant',
  tool_proposed: 'tool',
};

/** Says of matching documents what a list shows: who said it, and the words around the match. */
export class Hits {
  readonly #index: SearchIndex;
  readonly #record: StatementSync;
  readonly #loop: StatementSync;

  constructor(database: DatabaseSync, index: SearchIndex) {
    this.#index = index;
    this.#record = database.prepare(
      `SELECT type, CASE WHEN type = 'turn_started' AND body IS NOT NULL THEN json_extract(body, '$.origin') END AS origin
       FROM records WHERE n = ? AND stream = 'history' AND seq = ?`,
    );
    this.#loop = database.prepare(
      'SELECT session_id FROM sessions WHERE n = ? AND root IS NOT NULL',
    );
  }

  /** Matches of a session, the ones to show first; all of them if the count is exact. */
  ofIds(ids: readonly number[], matcher: TextMatcher, isCountExact = true): FoundHits {
    const documents = ids.slice(0, SHOWN).flatMap((id) => this.#index.document(id) ?? []);
    return {
      hits: documents.map((document) => this.#hit(document, matcher)),
      hitCount: ids.length,
      isCountExact,
    };
  }

  /** Matches that were read; `isCountExact` if there are no more. */
  ofDocuments(
    documents: readonly Document[],
    matcher: TextMatcher,
    isCountExact: boolean,
  ): FoundHits {
    return {
      hits: documents.slice(0, SHOWN).map((document) => this.#hit(document, matcher)),
      hitCount: documents.length,
      isCountExact,
    };
  }

  #hit({ id, text }: Document, matcher: TextMatcher): SearchHit {
    const [n, seq] = [Math.floor(id / ID_SPAN), id % ID_SPAN];
    const loopId = this.#loop.get(n)?.['session_id'];
    return {
      ...matcher.snippet(written(text)),
      eventId: seq === 0 ? null : seq,
      role: seq === 0 ? 'title' : this.#roleOf(n, seq),
      ...(typeof loopId === 'string' ? { loopId } : {}),
    };
  }

  #roleOf(n: number, seq: number): HitRole {
    const record = this.#record.get(n, seq);
    if (record?.['origin'] === 'machine') return 'machine';
    return ROLES[String(record?.['type'])] ?? 'assistant';
  }
}
