import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
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

  constructor(database: DatabaseSync, index: SearchIndex) {
    this.#index = index;
    // Only what may be a turn of the machine is parsed to find out.
    this.#record = database.prepare(
      `SELECT r.type,
         CASE WHEN r.type = 'turn_started' AND instr(r.body, '"origin":"machine"') > 0
           THEN json_extract(r.body, '$.origin') END AS origin,
         CASE WHEN s.root IS NOT NULL THEN s.session_id END AS loop
       FROM sessions s LEFT JOIN records r ON r.n = s.n AND r.stream = 'history' AND r.seq = ?
       WHERE s.n = ?`,
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
    const record = this.#record.get(seq, n);
    const loopId = record?.['loop'];
    return {
      ...matcher.snippet(written(text)),
      eventId: seq === 0 ? null : seq,
      role: seq === 0 ? 'title' : roleOf(record),
      ...(typeof loopId === 'string' ? { loopId } : {}),
    };
  }
}

function roleOf(record: Record<string, SQLOutputValue> | undefined): HitRole {
  if (record?.['origin'] === 'machine') return 'machine';
  return ROLES[String(record?.['type'])] ?? 'assistant';
}
