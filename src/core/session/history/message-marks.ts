import { ControlRefused } from '../control/refusal.ts';
import type { HistoryEvent } from '../events.ts';
import type { ModelMessage } from '../model.ts';
import type { MessageId, TurnId } from '../words.ts';

/** Where a conversation is cut: after so many messages, before the user's message with this id, or nowhere. */
export type CutPoint =
  | { readonly keepFirst: number }
  | { readonly beforeMessageId: string }
  | { readonly whole: true };

/** A cut: what is kept ends with event `to`. */
export type Cut = {
  readonly to: number;
  readonly messageCount: number;
  readonly turnCount: number;
  readonly lastTurnId: TurnId | null;
  /** The turn that the cut goes through; null between two turns. */
  readonly insideTurnId: TurnId | null;
};

type Mark = {
  /** The event with which the message was complete. */
  readonly eventId: number;
  readonly messageId: MessageId | null;
  readonly isUser: boolean;
  /** Turns that had begun by then, its own included. */
  readonly turnCount: number;
  readonly turnId: TurnId | null;
  readonly beginsTurn: boolean;
  /** A reply with calls: their results must follow it. */
  readonly hasCalls: boolean;
};

/**
 * Every message of a branch with the event that completed it. A compaction takes none away: what was said stays
 * countable, whatever the model still reads.
 */
export class MessageMarks {
  readonly #marks: Mark[] = [];
  #turnCount = 0;
  #turnId: TurnId | null = null;
  #isTurnOpen = false;
  #last = 0;

  /** Messages so far. */
  get count(): number {
    return this.#marks.length;
  }

  get turnCount(): number {
    return this.#turnCount;
  }

  /** Messages that were complete before an event. */
  countBefore(eventId: number): number {
    return this.#marks.filter((mark) => mark.eventId < eventId).length;
  }

  /** Takes the branch's next event and the message that it completed, if it did. */
  note(event: HistoryEvent, eventId: number, message: ModelMessage | null): void {
    this.#last = eventId;
    const beginsTurn = event.type === 'turn_started';
    if (beginsTurn) {
      this.#turnCount += 1;
      this.#turnId = event.turnId;
      this.#isTurnOpen = true;
    }
    if (event.type === 'turn_ended') this.#isTurnOpen = false;
    if (message === null) return;
    this.#marks.push({
      eventId,
      messageId: message.role === 'tool' ? null : message.messageId,
      isUser: message.role === 'user',
      turnCount: this.#turnCount,
      turnId: this.#turnId,
      beginsTurn,
      hasCalls: message.role === 'assistant' && message.calls.length > 0,
    });
  }

  /**
   * The event behind which a conversation is cut; at the end of a turn all that belongs to it is kept. A whole
   * conversation in the middle of a batch is cut before that. Throws `out_of_range`, `unknown_message_id`, and
   * `splits_tool_batch` with `nearest`.
   */
  cut(point: CutPoint): Cut {
    if ('whole' in point) return this.#cutAfter(this.#wholeCount());
    if ('keepFirst' in point) return this.#cutAfter(this.#checked(point.keepFirst));
    const index = this.#marks.findIndex(
      ({ isUser, messageId }) => isUser && messageId === point.beforeMessageId,
    );
    if (index === -1)
      throw new ControlRefused(
        'unknown_message_id',
        `No message of a user with the id ${point.beforeMessageId} is in this conversation. Take an id of its current branch.`,
        { messageId: point.beforeMessageId },
      );
    return this.#cutAfter(index);
  }

  #wholeCount(): number {
    const isCut = this.#marks.at(-1)?.hasCalls === true;
    return isCut ? this.#marks.length - 1 : this.#marks.length;
  }

  #checked(keepFirst: number): number {
    const messageCount = this.#marks.length;
    if (!Number.isInteger(keepFirst) || keepFirst < 0)
      throw new ControlRefused('invalid_params', 'keepFirst must be a whole number from 0 on.');
    if (keepFirst > messageCount)
      throw new ControlRefused(
        'out_of_range',
        `The conversation has ${messageCount} messages, so the first ${keepFirst} can't be kept.`,
        { messageCount },
      );
    return keepFirst;
  }

  #cutAfter(count: number): Cut {
    const kept = this.#marks[count - 1];
    const next = this.#marks[count];
    if (kept?.hasCalls === true)
      throw new ControlRefused(
        'splits_tool_batch',
        `The first ${count} messages end between tool calls and their results. Keep ${count - 1} or ${count + 1}.`,
        { nearest: [count - 1, count + 1] },
      );
    const isBetweenTurns =
      kept === undefined || (next === undefined ? !this.#isTurnOpen : next.beginsTurn);
    return {
      to: this.#endOf(kept, next, isBetweenTurns),
      messageCount: count,
      turnCount: kept?.turnCount ?? 0,
      lastTurnId: kept?.turnId ?? null,
      insideTurnId: isBetweenTurns ? null : kept.turnId,
    };
  }

  #endOf(kept: Mark | undefined, next: Mark | undefined, isBetweenTurns: boolean): number {
    if (kept === undefined || isBetweenTurns)
      return next === undefined ? this.#last : next.eventId - 1;
    return kept.eventId;
  }
}
