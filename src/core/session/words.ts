import type { Brand } from '../../base/ids.ts';

/** Identifiers of the engine. Each is opaque; only the engine and the store make them. */
export type SessionId = Brand<'SessionId'>;
export type TurnId = Brand<'TurnId'>;
export type MessageId = Brand<'MessageId'>;
export type ToolCallId = Brand<'ToolCallId'>;
export type GateId = Brand<'GateId'>;
export type CommandId = Brand<'CommandId'>;
export type ProcessId = Brand<'ProcessId'>;

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
};

/** Token and cost counts of one or more model replies. Missing means the model did not say. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly thoughtTokens?: number;
  readonly costUsd?: number;
};
