import * as z from 'zod/mini';
import type { SearchHit } from '../../protocol/pilothouse.ts';
import { parseRow, type SessionRow } from '../sessions/tree/row.ts';

/** A place of a conversation where the words stand; `eventId` null: it can't be shown by itself. */
export type Hit = {
  readonly eventId: number | null;
  readonly role: SearchHit['role'];
  readonly snippet: string;
};

/** A session that fits a search, and in how many messages; without hits its title or folder does. */
export type FoundSession = {
  readonly row: SessionRow;
  readonly hits: readonly Hit[];
  readonly count: number;
};

const FINDINGS = z.looseObject({
  hits: z.array(
    z.looseObject({
      eventId: z.nullable(z.number()),
      role: z.enum(['user', 'assistant', 'tool', 'machine', 'title']),
      snippet: z.string(),
      loopId: z.optional(z.string()),
    }),
  ),
  hitCount: z.number(),
});

/** Reads one result of `_pilothouse/sessions/search`, or null. What a title's match says, the row says already. */
export function foundSession(value: unknown): FoundSession | null {
  const row = parseRow(value);
  if (!row) return null;
  const found = z.safeParse(FINDINGS, value);
  if (!found.success) return { row, hits: [], count: 0 };
  const hits = found.data.hits
    .filter(({ role }) => role !== 'title')
    .map(({ eventId, role, snippet, loopId }) => ({
      eventId: loopId === undefined ? eventId : null,
      role,
      snippet,
    }));
  // A title counts as one that holds the words.
  const titles = found.data.hits.length - hits.length;
  return { row, hits, count: found.data.hitCount - titles };
}

/** A snippet on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
