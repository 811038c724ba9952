import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { Agency } from '../commands/command.ts';
import type { NextTurns, PendingMessage, ReminderTraits } from '../control-events.ts';
import type { CommandId, InjectMode, MessageId, QueueItemId, ToolCallId } from '../words.ts';

/**
 * The controls of a live session that act on its loop. Each takes effect in the order of the calls, is journaled
 * before its promise resolves, and throws `ControlRefused` with nothing changed. Receipts are the host's.
 */
export interface SessionControl {
  /** Pending messages, in the order they were accepted. */
  pending(): readonly PendingMessage[];
  nextTurns(): NextTurns;
  /** Throws `no_active_prompt`, `invalid_content`, `command_collision`. A repeat gets the first one's message id. */
  inject(
    message: NewInject,
  ): Promise<{ readonly messageId: MessageId; readonly isRepeat?: boolean }>;
  /** Throws `unknown_message_id`, `already_delivered`, `not_owner_or_not_authorized`. */
  revoke(messageId: MessageId, actor: Actor): Promise<'revoked' | 'already_revoked'>;
  /** Keeps id, mode and place. Throws as `revoke`, also `already_revoked` and `invalid_content`. */
  replace(messageId: MessageId, content: readonly ContentBlock[], actor: Actor): Promise<void>;
  /** Ends one call; the turn goes on. `remind` tells the model why. */
  cancelToolCall(
    toolCallId: ToolCallId,
    options: { readonly reason: string; readonly remind: boolean; readonly actor: Actor },
  ): CallCancelled;
  /**
   * Throws `unknown_item`, `invalid_content`, `command_collision`. A resumed or unpaused queue of an idle session begins
   * at once. A repeat has changed nothing.
   */
  changeQueue(change: QueueRequest, actor: Actor): Promise<QueueChanged>;
}

/** A message for a running turn. */
export type NewInject = {
  readonly mode: InjectMode;
  readonly content: readonly ContentBlock[];
  readonly actor: Actor;
  /** Missing: a person's. */
  readonly agency?: Agency;
  readonly commandId?: CommandId;
  /** Makes it a reminder. */
  readonly reminder?: ReminderTraits;
};

/** What `cancelToolCall` came to; `tool` is null where the call is not known. */
export type CallCancelled = {
  readonly status: 'cancelled' | 'already_cancelled' | 'not_found';
  readonly tool: string | null;
};

/** Which item a change of the queue was about; null for the queue as a whole. */
export type QueueChanged = { readonly itemId: QueueItemId | null; readonly isRepeat?: boolean };

/** A change of the next-turn queue; `before` null means to the end. */
export type QueueRequest =
  | {
      readonly kind: 'add';
      readonly itemId?: QueueItemId;
      readonly content: readonly ContentBlock[];
      readonly before: QueueItemId | null;
    }
  | {
      readonly kind: 'edit';
      readonly itemId: QueueItemId;
      readonly content: readonly ContentBlock[];
    }
  | { readonly kind: 'move'; readonly itemId: QueueItemId; readonly before: QueueItemId | null }
  | { readonly kind: 'remove'; readonly itemId: QueueItemId }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** Stops what runs and sends this one next, also from a paused queue; the others keep their places. */
  | { readonly kind: 'send_now'; readonly itemId: QueueItemId };
