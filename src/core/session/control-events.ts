import type { ContentBlock } from '../../protocol/acp.ts';
import type { Actor, ControlOutcome } from '../../protocol/controls.ts';
import type { DurableCommand, LiveCommand } from './commands/command.ts';
import type {
  Authority,
  CommandId,
  FsMode,
  GateId,
  InjectMode,
  LoopId,
  MessageId,
  QueueItemId,
  SessionConfig,
  ToolCallId,
  TurnId,
} from './words.ts';

/** An instruction with an authority; it collides only with another of its own key (design §4.7). */
export type Directive = {
  readonly key: string;
  readonly authority: Authority;
  readonly source: 'steer' | 'interrupt' | 'judge' | 'reminder' | 'policy';
  readonly text: string;
  /** The text of the directive of the same key that this one replaces. */
  readonly supersedes: string | null;
  /** The pending message it came from. */
  readonly messageId?: MessageId;
};

/** How a file differs between two states. */
export type FileDifference = {
  /** Absolute. */
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted';
};

/** The files of a checkpoint. `before` and `after` name stored states; only the checkpoint room reads them. */
export type CheckpointFiles = {
  readonly before: string;
  readonly after: string;
  /** `partial`: only what the session's own tools wrote is known; `reason` says why. */
  readonly coverage: 'full' | 'partial';
  readonly reason?: string;
  readonly changed: readonly FileDifference[];
};

/** What a restore did. `undo` names the state before it, for a redo. */
export type RestoredFiles = {
  readonly undo: string;
  readonly restored: readonly string[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
};

/** Bookkeeping of a session, in the `control` chain: it never changes what the conversation is. */
export type ControlEvent =
  /** A command of the durable lane, on disk before it is delivered (design §4.1). */
  | {
      readonly type: 'command_issued';
      readonly command: DurableCommand;
      /** Of what makes two commands of one id the same. */
      readonly bodyHash: string;
    }
  /** A prompt's admission as older versions wrote it. */
  | {
      readonly type: 'command_accepted';
      readonly commandId: CommandId;
      readonly command: string;
      readonly bodyHash: string;
      readonly actor: Actor;
    }
  | {
      readonly type: 'command_resolved';
      readonly commandId: CommandId;
      /** `held`: it waits in the next-turn queue for a person. Older versions wrote other words. */
      readonly resolution: CommandResolution | (string & {});
      readonly reason?: string;
    }
  /** A change of the live lane: what the next turn begins with. */
  | {
      readonly type: 'loop_changed';
      readonly command: LiveCommand;
      readonly values: Pick<SessionConfig, 'mode' | 'model' | 'thoughtLevel'>;
    }
  /** `reason` is a word for programs. Nothing was changed. */
  | {
      readonly type: 'loop_change_refused';
      readonly command: LiveCommand;
      readonly reason: string;
      readonly message: string;
    }
  /** Prompts that name no loop go to this one from here on. */
  | {
      readonly type: 'active_loop_changed';
      readonly previous: LoopId;
      readonly active: LoopId;
      readonly actor: Actor;
    }
  /** A question is about to be asked: with it a restart can tell whether the same thing is asked again. */
  | {
      readonly type: 'gate_prepared';
      readonly turnId: TurnId;
      readonly gateId: GateId;
      readonly iteration: number;
      /** SHA-256 of what is asked and what the call would touch. */
      readonly fingerprint: string;
    }
  | { readonly type: 'control_outcome'; readonly receipt: ControlOutcome }
  /** A message waits for its seam, as older versions wrote it; now it is a command. */
  | {
      readonly type: 'inject_accepted';
      readonly messageId: MessageId;
      readonly mode: InjectMode;
      readonly content: readonly ContentBlock[];
      readonly actor: Actor;
      /** Present when it is a reminder: read as a directive, not as a user's message. */
      readonly reminder?: ReminderTraits;
      readonly commandId?: CommandId;
      readonly bodyHash?: string;
    }
  | {
      readonly type: 'inject_replaced';
      readonly messageId: MessageId;
      readonly content: readonly ContentBlock[];
      readonly actor: Actor;
    }
  /**
   * `given_back`: its turn ended before a seam could deliver it, and no next turn waited. `held`: the process ended
   * first, and it waits in the next-turn queue.
   */
  | {
      readonly type: 'inject_revoked';
      readonly messageId: MessageId;
      readonly why: 'revoked' | 'given_back' | 'held';
      readonly actor: Actor;
    }
  /** One change of the next-turn queue. */
  | { readonly type: 'queue_changed'; readonly change: QueueChange; readonly actor: Actor }
  | { readonly type: 'fs_mode_changed'; readonly mode: FsMode; readonly actor: Actor }
  /** A tool or a person wrote a file in staged mode; null is a deletion. `base` is what the disk held then. */
  | {
      readonly type: 'file_staged';
      readonly path: string;
      readonly base: string | null;
      readonly text: string | null;
      readonly toolCallId: ToolCallId | null;
    }
  /** Files that are staged no more. */
  | {
      readonly type: 'staged_settled';
      readonly how: 'committed' | 'discarded';
      readonly paths: readonly string[];
      readonly actor: Actor;
    }
  | { readonly type: 'client_attached'; readonly actor: Actor }
  | { readonly type: 'client_detached'; readonly actor: Actor }
  | { readonly type: 'session_closed'; readonly actor: Actor; readonly reason: string }
  /** `parkedTurnId` is the turn that goes on at its open question. */
  | {
      readonly type: 'session_restored';
      readonly interruptedTurnId: TurnId | null;
      readonly parkedTurnId?: TurnId;
    };

/**
 * How a command ended, once for each: `started` a turn, `folded` into one, `cancelled` or `rejected` with a reason,
 * `applied` with an effect of its own, `no_op` without one. `held` is no end: it waits for a person.
 */
export const COMMAND_RESOLUTIONS = [
  'started',
  'folded',
  'cancelled',
  'rejected',
  'applied',
  'no_op',
  'held',
] as const;
export type CommandResolution = (typeof COMMAND_RESOLUTIONS)[number];

/** What makes a pending message a reminder. */
export type ReminderTraits = {
  readonly dedupeKey: string;
  readonly authority: Authority;
  readonly tags: readonly string[];
};

/** One change of the next-turn queue; `before` null means last. */
export type QueueChange =
  | {
      readonly kind: 'added';
      readonly itemId: QueueItemId;
      readonly content: readonly ContentBlock[];
      readonly before: QueueItemId | null;
    }
  | {
      readonly kind: 'edited';
      readonly itemId: QueueItemId;
      readonly content: readonly ContentBlock[];
    }
  | { readonly kind: 'moved'; readonly itemId: QueueItemId; readonly before: QueueItemId | null }
  | { readonly kind: 'removed'; readonly itemId: QueueItemId }
  | { readonly kind: 'sent'; readonly itemId: QueueItemId }
  | { readonly kind: 'paused'; readonly why: 'asked' | 'stopped' | 'turn_failed' | 'restart' }
  | { readonly kind: 'resumed' };

/** A message that waits for its seam, as everybody may see it. */
export type PendingMessage = {
  readonly messageId: MessageId;
  readonly kind: 'user' | 'reminder';
  readonly mode: InjectMode;
  readonly content: readonly ContentBlock[];
  readonly owner: Actor;
  readonly at: number;
  /** True while an open gate keeps the turn from its next seam. */
  readonly behindGate: boolean;
};

/** The next-turn queue as it stands. */
export type NextTurns = {
  readonly paused: Extract<QueueChange, { kind: 'paused' }>['why'] | null;
  readonly items: readonly {
    readonly itemId: QueueItemId;
    readonly content: readonly ContentBlock[];
    readonly owner: Actor;
    readonly at: number;
  }[];
};
