import type { HistoryEvent } from '../events.ts';

type Moved = Extract<HistoryEvent, { type: 'history_moved' }>;

/** A move before its messages are counted. */
export type NewMove = Omit<Moved, 'type' | keyof MovedCounts>;

/** What a move says of the length of the conversation. */
export type MovedCounts = Pick<Moved, 'beforeMessageCount' | 'afterMessageCount'>;

/**
 * The counts of a move. Of a rollback they are those of what was rolled back: its length before and after it, as of
 * the turns that a redo brings back. Source: Harn session control, turn checkpoints.
 */
export function movedCounts(reason: Moved['reason'], had: number, has: number): MovedCounts {
  return reason === 'rollback'
    ? { beforeMessageCount: has, afterMessageCount: had }
    : { beforeMessageCount: had, afterMessageCount: has };
}
