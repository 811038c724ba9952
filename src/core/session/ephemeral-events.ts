import type { NextTurns, PendingMessage } from './control-events.ts';
import type { FsMode, MessageId, Seam, ToolCallId, TurnId } from './words.ts';

/** Only fanned out, never stored: everything in it can be rebuilt from enduring events. */
export type EphemeralEvent =
  | {
      readonly type: 'message_chunk';
      readonly turnId: TurnId;
      readonly messageId: MessageId;
      readonly kind: 'text' | 'thought';
      readonly offset: number;
      readonly text: string;
      /** The newest durable event when the chunk was made. */
      readonly afterEventId: number;
    }
  | {
      readonly type: 'tool_output';
      readonly turnId: TurnId;
      readonly toolCallId: ToolCallId;
      readonly text: string;
    }
  | {
      readonly type: 'seam_passed';
      readonly turnId: TurnId;
      readonly iteration: number;
      readonly seam: Seam;
      /** Messages that were delivered here. */
      readonly delivered: number;
      readonly messageIds: readonly MessageId[];
      /** True when the batch that stood before this seam was dropped. */
      readonly dispatchSkipped: boolean;
    }
  /** What waits to be delivered, sent or kept changed. */
  | {
      readonly type: 'pending_changed';
      readonly pending: readonly PendingMessage[];
      readonly nextTurns: NextTurns;
    }
  | { readonly type: 'staged_changed'; readonly mode: FsMode; readonly paths: readonly string[] }
  /** The summary is being written; the end is an enduring event. */
  | {
      readonly type: 'compaction_started';
      readonly turnId: TurnId | null;
      readonly messageId: MessageId;
      readonly trigger: 'automatic' | 'manual';
    }
  | {
      readonly type: 'activity_changed';
      readonly activePrompt: boolean;
      readonly openGates: number;
      readonly queued: number;
    };
