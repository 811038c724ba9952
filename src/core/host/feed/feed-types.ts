import { CodedError } from '../../../base/errors.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { HistoryRange } from '../../session/ports.ts';
import type { LoopId, SessionId } from '../../session/words.ts';

/** Stored in the history, stored as bookkeeping, or only told. */
export const EVENT_CLASSES = ['history', 'control', 'ephemeral'] as const;
export type EventClass = (typeof EVENT_CLASSES)[number];
export type StoredClass = Exclude<EventClass, 'ephemeral'>;

/** Where a reader stands in each loop: the last seq that it has of each stream, 0 for none. */
export type FeedCursor = ReadonlyMap<
  LoopId,
  { readonly history?: number; readonly control?: number }
>;

/** What a subscriber asks for. */
export type FeedRequest = {
  readonly sessionId: SessionId;
  /** Missing: the root loop and every delegate, also those to come. */
  readonly loops?: readonly LoopId[];
  /** Missing: all. */
  readonly classes?: readonly EventClass[];
  /**
   * Missing: from now on. 0: everything. Another number: the root loop's history behind that event, and everything else
   * from now on. A cursor: each stream behind what it states, from its beginning where it states none.
   */
  readonly from?: number | FeedCursor;
};

/** One delivery. Within a loop and class stored events come in the order of their seq, without gap or repeat. */
export type FeedItem =
  | {
      readonly class: 'history';
      readonly loopId: LoopId;
      readonly record: Stored<HistoryEvent>;
    }
  | {
      readonly class: 'control';
      readonly loopId: LoopId;
      readonly record: Stored<ControlEvent>;
    }
  | { readonly class: 'ephemeral'; readonly loopId: LoopId; readonly event: EphemeralEvent };

export type StoredItem = Extract<FeedItem, { record: unknown }>;

/** Where a feed reads what is stored. */
export interface FeedSource {
  /** Null if there is no such session. */
  describe(sessionId: SessionId): Promise<{ readonly lastEventId: number } | null>;
  /** The loops of a session, live or stored. */
  loops(sessionId: SessionId): Promise<readonly LoopId[]>;
  readHistory(loopId: LoopId, range: HistoryRange): Promise<readonly Stored<HistoryEvent>[]>;
  readControl(loopId: LoopId, range: HistoryRange): Promise<readonly Stored<ControlEvent>[]>;
}

/** Why events can't be followed. */
export class FeedError extends CodedError<
  'feed.unknown_loop' | 'feed.unknown_event' | 'feed.missing_records' | 'feed.too_many'
> {}
