import type { HistoryEvent } from '../events.ts';
import type { Journal } from '../ports.ts';
import type { Conversation } from '../state/conversation.ts';
import type { Recorder } from '../state/recorder.ts';
import type { SessionId } from '../words.ts';
import { foldBranch } from './fold-branch.ts';
import { type MovedCounts, movedCounts, type NewMove } from './new-move.ts';
import type { Timeline } from './timeline.ts';

/** What the branch is kept with. */
export type CurrentBranchParts = {
  readonly sessionId: SessionId;
  readonly journal: Journal;
  readonly recorder: Recorder;
  readonly timeline: Timeline;
};

/** The conversation of the current branch; another object after each move of the history. */
export class CurrentBranch {
  readonly #parts: CurrentBranchParts;
  #conversation: Conversation;
  /** What the conversation is once the move that is being journaled is on disk. */
  #movedTo: Conversation | null = null;

  constructor(parts: CurrentBranchParts, conversation: Conversation) {
    this.#parts = parts;
    this.#conversation = conversation;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Takes an event that is on disk. */
  apply(event: HistoryEvent, seq: number): void {
    if (event.type === 'history_moved') this.#conversation = this.#movedTo ?? this.#conversation;
    this.#conversation.apply(event, seq);
  }

  /** See `Session.moveHistory`. */
  async move(move: NewMove, seal: readonly HistoryEvent[]): Promise<MovedCounts> {
    const { journal, sessionId, timeline, recorder } = this.#parts;
    const next = await foldBranch(journal, sessionId, timeline.branchAt(move.to));
    const counts = movedCounts(move.reason, this.#conversation.messageCount, next.messageCount);
    this.#movedTo = next;
    try {
      await recorder.history({ type: 'history_moved', ...move, ...counts }, ...seal);
      return counts;
    } finally {
      this.#movedTo = null;
    }
  }
}
