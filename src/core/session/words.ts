import type { Brand } from '../../base/ids.ts';

/** Identifiers of the engine. Each is opaque; only the engine and the store make them. */
export type SessionId = Brand<'SessionId'>;
/** A loop of a session: its root loop has the session's own id, each delegate one of its own. */
export type LoopId = Brand<'LoopId'>;
export type TurnId = Brand<'TurnId'>;
export type MessageId = Brand<'MessageId'>;
export type ToolCallId = Brand<'ToolCallId'>;
export type GateId = Brand<'GateId'>;
export type CommandId = Brand<'CommandId'>;
export type ProcessId = Brand<'ProcessId'>;
/** `turn_` and a UUID. Source: Harn session control, turn checkpoints. */
export type CheckpointId = Brand<'CheckpointId'>;
/** An item of the next-turn queue; it becomes the command id of the prompt it is sent as. */
export type QueueItemId = Brand<'QueueItemId'>;

/** The loop that a stream belongs to: the session's own, or a delegate's. */
export function rootLoop(streamId: SessionId): LoopId {
  return String(streamId) as LoopId;
}

/** The agent modes: `ask` asks before effects, `architect` only reads, `code` acts, `shadow` only proposes. */
export const MODES = ['ask', 'architect', 'code', 'shadow'] as const;
export type Mode = (typeof MODES)[number];

/** How much a model is asked to reason before it answers. `auto` leaves it to the model. */
export const THOUGHT_LEVELS = ['auto', 'off', 'low', 'medium', 'high'] as const;
export type ThoughtLevel = (typeof THOUGHT_LEVELS)[number];

/** Limits of one turn; a missing one is unlimited. Reaching one ends the turn with `policy_budget`. */
export type Budget = {
  /** Model replies. */
  readonly steps?: number;
  /** Wall-clock seconds, gates included. */
  readonly seconds?: number;
  /** Input plus output tokens, as the model reports them. */
  readonly tokens?: number;
  /** US dollars, as computed from the model's prices; unknown prices count as zero. */
  readonly costUsd?: number;
};

/** What a person chooses for a session. A running turn keeps the snapshot it began with. */
export type SessionConfig = {
  readonly mode: Mode;
  /** `source/name`, for example `rehearsal/script` or `openai/gpt-5`. */
  readonly model: string;
  readonly thoughtLevel: ThoughtLevel;
  readonly budget: Budget;
  /** Who verifies that a turn is done: missing means nobody, `same` the session's own model, else a model id. */
  readonly judge?: string;
  /** After so many seconds without an answer a question is declined; missing means that it waits for ever. */
  readonly gateSeconds?: number;
  /** Whether the files are kept as turns find and leave them; missing is `best_effort`. */
  readonly checkpoints?: CheckpointPolicy;
};

/**
 * `best_effort`: what can't be kept is told as coverage. `required`: a call whose before-state can't be kept is not run,
 * and after a turn whose files can't be kept none begins before a person had them kept. `off`: nothing is kept.
 */
export const CHECKPOINT_POLICIES = ['best_effort', 'required', 'off'] as const;
export type CheckpointPolicy = (typeof CHECKPOINT_POLICIES)[number];

/**
 * When a pending message is delivered: `queue` when the loop exits (no model reads it), `steer` behind the running
 * step, `interrupt_immediate` before the next step, which is dropped. Source: Harn session control.
 */
export const INJECT_MODES = ['queue', 'steer', 'interrupt_immediate'] as const;
export type InjectMode = (typeof INJECT_MODES)[number];

/** How much a directive counts, highest first. Source: Harn session control, authority. */
export const AUTHORITIES = ['contract', 'corrective', 'advisory'] as const;
export type Authority = (typeof AUTHORITIES)[number];

/** Whether tools write files at once, or stage them until a person commits or discards them. */
export const FS_MODES = ['immediate', 'staged'] as const;
export type FsMode = (typeof FS_MODES)[number];

/** What of the host's environment a session's tools may see; a fork may only narrow it. */
export type EnvironmentPolicy =
  | { readonly kind: 'inherited' }
  | { readonly kind: 'isolated' }
  | { readonly kind: 'granted'; readonly grants: readonly EnvironmentGrant[] };

/** One variable of the host's environment, under the name that tools see it by. */
export type EnvironmentGrant = {
  readonly name: string;
  readonly source: { readonly env: { readonly var: string } };
  readonly expose_as_env: string;
  /** Only commands that begin with this program see it; missing means all. */
  readonly for_command?: string;
};

/** Named points of a loop where pending messages may be delivered, in the order of one iteration. */
export const SEAMS = [
  'iteration_start',
  'pre_compact',
  'post_compact',
  'pre_tool_dispatch',
  'post_tool_dispatch',
  'iteration_end',
  'idle_pre',
  'idle_post',
  'loop_exit',
] as const;
export type Seam = (typeof SEAMS)[number];

/** Why a turn ended. Source: Harn control extension, terminal kinds. */
export type TerminalKind =
  | 'natural'
  | 'user_cancelled'
  | 'policy_budget'
  | 'completion_unverified'
  | 'policy_no_progress'
  | 'policy_guardrail'
  | 'policy_stop'
  | 'provider_error'
  | 'runtime_error'
  | 'suspended'
  | 'unknown';

/** Who ended it; follows from the kind. */
export type TerminalOwner = 'agent' | 'user' | 'policy' | 'provider' | 'harness' | 'unknown';

/** How a turn ended. */
export type Terminal = {
  readonly kind: TerminalKind;
  readonly owner: TerminalOwner;
  /** The raw reason, for a person. */
  readonly reason: string;
  /** The limit that was reached, for `policy_budget`. */
  readonly limit?: { readonly kind: keyof Budget; readonly value: number };
};

/** Token and cost counts of one or more model replies. Missing means the model did not say. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly thoughtTokens?: number;
  readonly costUsd?: number;
};

/** Whose loop it is, and how deep below the session: 1 for a delegate of the root loop. */
export type DelegateOrigin = {
  readonly rootId: SessionId;
  readonly parentId: LoopId;
  readonly requestId: CommandId;
  readonly name: string;
  readonly depth: number;
};

/** Why a compaction was not done. */
export const COMPACTION_REJECTIONS = [
  'nothing_to_gain',
  'cancelled',
  'summary_failed',
  'shutting_down',
  'restart',
] as const;
export type CompactionRejection = (typeof COMPACTION_REJECTIONS)[number];
