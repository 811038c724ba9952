import * as z from 'zod/mini';
import type { HistoryPage, HistoryPageParams, SearchHit } from '../../protocol/pilothouse.ts';
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

/** True if the conversation has moved back to before the event: what is stored up to it ends elsewhere. */
export async function isRolledBack(
  page: (params: HistoryPageParams) => Promise<Pick<HistoryPage, 'entries'>>,
  sessionId: string,
  eventId: number,
): Promise<boolean> {
  const upTo = { sessionId, before: eventId + 1, limit: 1 };
  const [shown, stored] = await Promise.all([page(upTo), page({ ...upTo, all: true })]);
  return shown.entries.at(-1)?.eventId !== stored.entries.at(-1)?.eventId;
}

/** A snippet on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
