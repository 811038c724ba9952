import type { SessionRow } from '../../session/ports.ts';

/** What creating a session writes: the session itself and its commands. */
const CREATION_EVENTS = 2;

/**
 * True while nothing has happened in a session since it was created: then it has no cursor and no prefix to compare.
 * Source: Harn session control, Status.
 */
export function isBlank(row: SessionRow): boolean {
  return row.lastEventId <= CREATION_EVENTS && row.lastMessageAt <= row.createdAt;
}
