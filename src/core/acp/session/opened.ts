import { isBlank } from '../../host/views/blank.ts';
import type { Attachment } from './attachment.ts';
import type { OpenedResult } from './session-item.ts';

/**
 * What a result claims; of a session in which nothing has happened there is no cursor and nothing to compare, and
 * making it is not told as a replay. Source: design §6; Harn session control, Resume.
 */
export function identifiers({ session, snapshot }: Attachment): {
  readonly lastEventId?: number;
  readonly prefix_hash: string | null;
} {
  if (isBlank(session.describe())) return { prefix_hash: null };
  return { lastEventId: snapshot.lastEventId, prefix_hash: snapshot.prefixHash };
}

/**
 * Harn's fields stand at the root and again under `_meta.harn`. Which turn runs or stands at a question is told to who
 * reads only the end of a long history: its begin may lie before that.
 */
export function shownOpened(
  result: OpenedResult,
  facts: object,
  { snapshot: { activeTurn } }: Attachment,
): object {
  const harn = { session: result.session, ...facts };
  return { ...result, ...facts, _meta: { harn, pilothouse: { activeTurn } } };
}
