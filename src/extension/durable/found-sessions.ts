import * as z from 'zod/mini';
import { isObject } from '../../base/json.ts';
import { parseRow, type SessionRow } from '../sessions/tree/row.ts';

/** A place of a conversation where the words stand. */
export type Hit = { readonly eventId: number; readonly snippet: string };

/** A session that fits a search; without hits its title or folder does. */
export type FoundSession = { readonly row: SessionRow; readonly hits: readonly Hit[] };

const HITS = z.array(z.looseObject({ eventId: z.number(), snippet: z.string() }));

/** Reads one result of `_pilothouse/sessions/search`, or null. An agent that tells no hits tells the session alone. */
export function foundSession(value: unknown): FoundSession | null {
  const row = parseRow(value);
  if (!row || !isObject(value)) return null;
  const meta = isObject(value['_meta']) ? value['_meta'] : {};
  const own = isObject(meta['pilothouse']) ? meta['pilothouse'] : {};
  const hits = z.safeParse(HITS, value['hits'] ?? own['hits']);
  return {
    row,
    hits: hits.success ? hits.data.map(({ eventId, snippet }) => ({ eventId, snippet })) : [],
  };
}

/** A snippet on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
