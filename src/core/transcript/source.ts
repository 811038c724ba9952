import type { Event } from '../../base/emitter.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';

/** A session's history grew. */
export type TranscriptChange = {
  readonly sessionId: string;
  /** True when a turn ended: whoever shows it should show it at once. */
  readonly turnEnded: boolean;
};

/** The histories as the transcript server needs them. */
export interface TranscriptSource {
  /**
   * At most `limit` records after the event `after`, oldest first; fewer only at the end. Null if there is no such
   * session (any more).
   */
  read(
    sessionId: string,
    after: number,
    limit: number,
  ): Promise<readonly Stored<HistoryEvent>[] | null>;
  /** Fires after a record became readable. May fire for sessions that nobody shows. */
  readonly onDidChange: Event<TranscriptChange>;
}
