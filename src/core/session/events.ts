import type { Json, JsonObject } from '../../base/json.ts';
import type {
  AvailableCommand,
  ContentBlock,
  PlanEntry,
  StopReason,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '../../protocol/acp.ts';
import type { Actor } from '../../protocol/controls.ts';
import type { DelegateOutcome } from './commands/command.ts';
import type { CheckpointFiles, ControlEvent, Directive, RestoredFiles } from './control-events.ts';
import type { EphemeralEvent } from './ephemeral-events.ts';
import type { GateAnswer, GateRequest } from './gate-words.ts';
import type { FinishReason, ModelToolCall, ModelToolResult } from './model.ts';
import type {
  CheckpointId,
  CommandId,
  CompactionRejection,
  DelegateOrigin,
  EnvironmentPolicy,
  GateId,
  InjectMode,
  LoopId,
  MessageId,
  ProcessId,
  Seam,
  SessionConfig,
  SessionId,
  Terminal,
  ToolCallId,
  TurnId,
  Usage,
} from './words.ts';

/**
 * The history of a session: what the conversation is. Enduring: journaled before anyone sees it, in the
 * `history` chain. Unknown types are a hard error when read back.
 */
export type HistoryEvent =
  | {
      readonly type: 'session_created';
      readonly cwd: string;
      readonly additionalDirectories: readonly string[];
      readonly config: SessionConfig;
      /** What the host's environment lets through; missing means everything that tools see by default. */
      readonly environmentPolicy?: EnvironmentPolicy;
      /** The session and the event it was forked from. */
      readonly parent?: {
        readonly sessionId: SessionId;
        readonly eventId: number;
        readonly branchName?: string;
      };
      /** Present on the loop of a delegate, which has streams of its own and is in no list. */
      readonly delegate?: DelegateOrigin;
    }
  | { readonly type: 'config_changed'; readonly config: SessionConfig; readonly actor: Actor }
  | { readonly type: 'title_changed'; readonly title: string }
  | { readonly type: 'commands_changed'; readonly commands: readonly AvailableCommand[] }
  | {
      readonly type: 'turn_started';
      readonly turnId: TurnId;
      readonly commandId: CommandId;
      readonly messageId: MessageId;
      readonly content: readonly ContentBlock[];
      /** What the model reads instead of `content`, where a slash command was expanded. */
      readonly modelText?: string;
      readonly config: SessionConfig;
      /** Present where no person sent it: the hand-back of a delegate began it. */
      readonly origin?: 'machine';
    }
  /** A coalesced piece of streamed text. `offset` counts UTF-16 units within the message and kind. */
  | {
      readonly type: 'message_delta';
      readonly turnId: TurnId;
      readonly messageId: MessageId;
      readonly kind: 'text' | 'thought';
      readonly offset: number;
      readonly text: string;
    }
  /** A model reply is complete; its text is the deltas of `messageId`. */
  | {
      readonly type: 'model_replied';
      readonly turnId: TurnId;
      readonly iteration: number;
      readonly messageId: MessageId;
      readonly calls: readonly ModelToolCall[];
      /** `aborted` by Stop or a failure, `interrupted` by an interrupt: the text so far is kept, its calls are not. */
      readonly finish: FinishReason | 'aborted' | 'interrupted';
      readonly usage: Usage;
      readonly providerState?: Json;
    }
  | {
      readonly type: 'model_failed';
      readonly turnId: TurnId;
      readonly iteration: number;
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
      /** Milliseconds until the next attempt; null if there is none. */
      readonly retryInMs: number | null;
    }
  | {
      readonly type: 'tool_proposed';
      readonly turnId: TurnId;
      readonly toolCallId: ToolCallId;
      readonly name: string;
      readonly title: string;
      readonly kind: ToolKind;
      readonly input: JsonObject;
      readonly locations: readonly ToolCallLocation[];
      readonly content: readonly ToolCallContent[];
    }
  /** Journaled before the tool runs: without a `tool_ended` after it, the outcome is unknown (design §4.9). */
  | { readonly type: 'tool_started'; readonly turnId: TurnId; readonly toolCallId: ToolCallId }
  | {
      readonly type: 'tool_ended';
      readonly turnId: TurnId;
      readonly toolCallId: ToolCallId;
      readonly result: ModelToolResult;
      readonly content: readonly ToolCallContent[];
      readonly locations: readonly ToolCallLocation[];
      readonly rawOutput?: Json;
    }
  | {
      readonly type: 'plan_changed';
      readonly turnId: TurnId;
      readonly entries: readonly PlanEntry[];
    }
  | {
      readonly type: 'gate_opened';
      readonly turnId: TurnId;
      readonly gateId: GateId;
      readonly request: GateRequest;
    }
  | {
      readonly type: 'gate_resolved';
      readonly turnId: TurnId;
      readonly gateId: GateId;
      readonly answer: GateAnswer;
      readonly actor: Actor;
    }
  | {
      readonly type: 'process_started';
      readonly processId: ProcessId;
      readonly command: string;
    }
  | {
      readonly type: 'process_ended';
      readonly processId: ProcessId;
      readonly state: 'exited' | 'stopped' | 'lost';
      readonly exitCode: number | null;
      readonly signal: string | null;
    }
  /** Machine input that the model reads at the next seam (a process ended, external tools changed). */
  | {
      readonly type: 'machine_message';
      readonly turnId: TurnId | null;
      readonly messageId: MessageId;
      readonly text: string;
    }
  | {
      readonly type: 'usage_changed';
      readonly used: number;
      readonly size: number;
      readonly costUsd: number | null;
    }
  | {
      readonly type: 'notice';
      readonly severity: 'info' | 'warning' | 'error';
      readonly title: string;
      readonly description: string;
    }
  /** A pending message arrived in the transcript. With mode `queue` no model ever reads it. */
  | {
      readonly type: 'inject_delivered';
      readonly turnId: TurnId;
      readonly messageId: MessageId;
      readonly mode: InjectMode;
      readonly content: readonly ContentBlock[];
      readonly seam: Seam;
      readonly actor: Actor;
    }
  /** One envelope of directives, as the model reads it from here on; in authority order. */
  | {
      readonly type: 'directives_issued';
      readonly turnId: TurnId;
      readonly messageId: MessageId;
      readonly seam: Seam;
      /** Only envelopes with the session's nonce are genuine; the first one fixes it. */
      readonly nonce: string;
      readonly directives: readonly Directive[];
    }
  /** The completion judge looked at a finished turn. */
  | {
      readonly type: 'judge_decision';
      readonly turnId: TurnId;
      readonly iteration: number;
      /** The model that judged. */
      readonly judge: string;
      readonly verdict: 'done' | 'vetoed' | 'failed';
      readonly reason: string;
      /** What the agent is told after a veto. */
      readonly correction: string | null;
      readonly usage: Usage;
    }
  /**
   * The model reads a summary instead of all but the last `keptMessages` messages from here on; standing directives
   * and the turn's objective are kept.
   */
  | {
      readonly type: 'compacted';
      /** Null where nothing ran. */
      readonly turnId: TurnId | null;
      /** Missing: automatic, as older versions wrote it. */
      readonly trigger?: 'automatic' | 'manual';
      readonly messageId: MessageId;
      readonly summary: string;
      readonly keptMessages: number;
      readonly beforeMessageCount: number;
      readonly afterMessageCount: number;
    }
  /** A compaction that was asked for came to nothing; the conversation is as it was. `reason` is a word for programs. */
  | {
      readonly type: 'compaction_rejected';
      readonly turnId: TurnId | null;
      readonly reason: CompactionRejection;
      readonly message: string;
    }
  /** A child loop was given something to do. */
  | {
      readonly type: 'delegate_started';
      readonly turnId: TurnId;
      readonly toolCallId: ToolCallId;
      readonly requestId: CommandId;
      readonly loopId: LoopId;
      /** What it is called among its siblings. */
      readonly name: string;
      readonly prompt: string;
      /** True: the parent goes on, and reads the result when it comes. */
      readonly background: boolean;
      readonly config: SessionConfig;
    }
  /** The one hand-back of a request. `text` is what the parent reads. */
  | {
      readonly type: 'delegate_ended';
      readonly requestId: CommandId;
      readonly loopId: LoopId;
      readonly outcome: DelegateOutcome;
      readonly text: string;
      readonly usage: Usage;
    }
  /** The files of the workspace as a person had them kept; no turn is part of it. */
  | {
      readonly type: 'workspace_checkpointed';
      readonly checkpointId: CheckpointId;
      readonly trigger: 'manual' | 'restored_turn';
      readonly files: CheckpointFiles;
      readonly actor: Actor;
    }
  /** Transcript and files as a turn left them. A cancelled turn's checkpoint is not on the rollback stack. */
  | {
      readonly type: 'turn_checkpoint';
      readonly turnId: TurnId;
      readonly checkpointId: CheckpointId;
      readonly onStack: boolean;
      readonly beforeMessageCount: number;
      readonly afterMessageCount: number;
      /** The newest event before the turn began: where a rollback of this turn goes. */
      readonly beforeEventId: number;
      readonly files: CheckpointFiles | null;
      /** The process ended in the middle of the turn; the files are as the session found them when it came back. */
      readonly interrupted?: true;
      /** Why the files were not kept as the session requires; no turn begins before a person had them kept. */
      readonly fault?: string;
    }
  /**
   * The current branch goes on behind event `to`: what lies between is not part of the conversation any more (or, for
   * a redo, is part of it again). Nothing is removed.
   */
  | {
      readonly type: 'history_moved';
      readonly reason: 'rollback' | 'redo' | 'truncate';
      readonly to: number;
      /** The oldest checkpoint that was rolled back, or the newest that was redone. */
      readonly checkpointId: CheckpointId | null;
      readonly beforeMessageCount: number;
      readonly afterMessageCount: number;
      readonly files: RestoredFiles | null;
      /** Whole turns, where it was cut: how many are left and went, and the newest that is left. */
      readonly turns?: {
        readonly kept: number;
        readonly removed: number;
        readonly tip: TurnId | null;
      };
      readonly actor: Actor;
    }
  /** Files were put back without moving the transcript: of one tool call, or to a checkpoint. */
  | {
      readonly type: 'files_restored';
      readonly toolCallId: ToolCallId | null;
      readonly checkpointId: CheckpointId | null;
      readonly files: RestoredFiles;
      readonly actor: Actor;
    }
  | {
      readonly type: 'turn_ended';
      readonly turnId: TurnId;
      readonly terminal: Terminal;
      readonly stopReason: StopReason;
      readonly usage: Usage;
      readonly iterations: number;
    };

/** What brought an event about: the commands behind it, oldest first; empty where nobody commanded it. */
export type Cause = { readonly command_ids: readonly CommandId[] };

/** An enduring event as stored. */
export type Stored<E> = {
  readonly sessionId: SessionId;
  /** 1, 2, 3 … within its session and stream. For the history stream this is the event id on the wire. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly event: E;
  /** Part of the record's canonical bytes. Empty also in records of older versions. */
  readonly cause: Cause;
  /** SHA-256 over the previous hash and this record's canonical bytes, lower-case hexadecimal. */
  readonly hash: string;
};

/** What subscribers of a session receive, in one order. */
export type SessionSignal =
  | { readonly stream: 'history'; readonly record: Stored<HistoryEvent> }
  | { readonly stream: 'control'; readonly record: Stored<ControlEvent> }
  | { readonly stream: 'ephemeral'; readonly event: EphemeralEvent }
  /** What happens in a loop below this one, its own signals as they are. */
  | {
      readonly stream: 'loop';
      readonly loopId: LoopId;
      readonly origin: DelegateOrigin;
      readonly signal: LoopSignal;
    };

/** A signal of one loop. */
export type LoopSignal = Exclude<SessionSignal, { readonly stream: 'loop' }>;
