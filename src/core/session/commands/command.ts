import type { JsonObject } from '../../../base/json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { ReminderTraits } from '../control-events.ts';
import type {
  Budget,
  CommandId,
  GateId,
  InjectMode,
  LoopId,
  MessageId,
  Mode,
  ProcessId,
  SessionId,
  ThoughtLevel,
  ToolCallId,
  TurnId,
} from '../words.ts';

/** The version of every command's form. */
export const COMMAND_VERSION = 1;

/** The largest command that is taken or read back, in bytes of its canonical JSON. */
export const MAX_COMMAND_BYTES = 16 * 1024 * 1024;

/** Whether a person wants it or the machine; no check of rights. What says nothing is the machine's. */
export const AGENCIES = ['machine', 'user'] as const;
export type Agency = (typeof AGENCIES)[number];

/** What a command comes from: the backward edge. */
export type CommandCause = {
  readonly command_ids: readonly CommandId[];
  /** The child loop that a hand-back comes from. */
  readonly loop_id?: LoopId;
  readonly turn_id?: TurnId;
  readonly tool_call_id?: ToolCallId;
};

/** Which loop a command is for. Kept with the command, so that a restore knows where it goes. */
export type CommandTarget = { readonly session_id: SessionId; readonly loop_id: LoopId };

type Envelope<T extends string> = {
  readonly type: T;
  readonly v: typeof COMMAND_VERSION;
  /** Correlation, record and retry key in one: the same id with the same body is the same command. */
  readonly command_id: CommandId;
  readonly cause: CommandCause | null;
  readonly agency: Agency;
  readonly actor: Actor;
  readonly target: CommandTarget;
  /** Milliseconds since the epoch. 0 for a process notification, so that retries have the same bytes. */
  readonly created_at: number;
};

/** A prompt: a turn of its own, never folded into another. */
export type UserInput = Envelope<'user_input'> & { readonly blocks: readonly ContentBlock[] };

/** A message for the running turn, delivered at a seam. */
export type Inject = Envelope<'inject'> & {
  readonly message_id: MessageId;
  readonly mode: InjectMode;
  readonly blocks: readonly ContentBlock[];
  readonly reminder?: ReminderTraits;
};

/** How a delegate's request came out. */
export const DELEGATE_OUTCOMES = ['completed', 'failed', 'cancelled', 'interrupted'] as const;
export type DelegateOutcome = (typeof DELEGATE_OUTCOMES)[number];

/** A delegate hands its result back to its parent; `cause.loop_id` is the child. Exactly one for each request. */
export type SubagentResult = Envelope<'subagent_result'> & {
  readonly request_id: CommandId;
  readonly outcome: DelegateOutcome;
  /** False: it is the result of the tool call that waited for it, else it is read as a message. */
  readonly background: boolean;
  readonly blocks: readonly ContentBlock[];
};

/** Takes back an input that has not begun: a waiting prompt, a held message, a pending inject. */
export type CancelQueuedInput = Envelope<'cancel_queued_input'> & {
  readonly target_command_id: CommandId;
};

/** Ends one request of a delegate, waiting or running; its other requests stay. */
export type CancelDelegateRequest = Envelope<'cancel_delegate_request'> & {
  readonly target_command_id: CommandId;
};

/** Lets a parked tool call run. */
export type ApproveToolCall = Envelope<'approve_tool_call'> & {
  readonly gate_id: GateId;
  readonly tool_call_id: ToolCallId;
  readonly option_id: string;
};

/** Keeps a parked tool call from running. */
export type DenyToolCall = Envelope<'deny_tool_call'> & {
  readonly gate_id: GateId;
  readonly tool_call_id: ToolCallId;
  /** What the person says to it, for the model. */
  readonly note?: string;
};

/** Answers a question, a form or a sign-in. `content` is there when it was accepted. */
export type ProvideUserInput = Envelope<'provide_user_input'> & {
  readonly gate_id: GateId;
  readonly outcome: 'accepted' | 'declined';
  readonly content?: JsonObject;
  readonly reason?: string;
};

/** Replaces the older part of what the model reads by a summary. */
export type Compact = Envelope<'compact'>;

/** Ends the running turn and every prompt admitted before it (the seed's Interrupt; the UI says Stop). */
export type Cancel = Envelope<'cancel'> & { readonly reason?: string };

/** Ends the session's life in this process; it can be opened again. */
export type Shutdown = Envelope<'shutdown'> & { readonly reason: string };

/** How a background process can end. */
export const PROCESS_ENDS = ['exited', 'stopped', 'lost'] as const;

/** A background process ended. */
export type ProcessNotification = Envelope<'process_notification'> & {
  readonly process_id: ProcessId;
  readonly state: (typeof PROCESS_ENDS)[number];
  readonly exit_code: number | null;
  readonly signal: string | null;
};

/** The durable lane: journaled before they are delivered. Closed: the codec has exactly one form for each. */
export type DurableCommand =
  | UserInput
  | Inject
  | SubagentResult
  | CancelQueuedInput
  | CancelDelegateRequest
  | ApproveToolCall
  | DenyToolCall
  | ProvideUserInput
  | Compact
  | Cancel
  | Shutdown
  | ProcessNotification;

/** Changes the mode from the next turn on. */
export type SetLoopMode = Envelope<'set_loop_mode'> & { readonly mode: Mode };

/** Changes who answers and how, from the next turn on; what is missing stays. All or nothing. */
export type ChangeLoopInference = Envelope<'change_loop_inference'> & {
  readonly model?: string;
  readonly thought_level?: ThoughtLevel;
  readonly budget?: Budget;
  /** Null: nobody judges. */
  readonly judge?: string | null;
};

/** Replaces the external tools of one source from the next turn on; no tools clear its slot. */
export type ReplaceLoopExternalTools = Envelope<'replace_loop_external_tools'> & {
  readonly source: string;
  readonly generation: string;
  readonly tools: readonly { readonly name: string; readonly schema_digest: string }[];
};

/**
 * The live lane: no record of its own. What was committed, or why not, is recorded as `loop_changed` or
 * `loop_change_refused`, and the acknowledgement says the same.
 */
export type LiveCommand = SetLoopMode | ChangeLoopInference | ReplaceLoopExternalTools;

export type Command = DurableCommand | LiveCommand;
export type CommandType = Command['type'];

/** The types of the durable lane; the compiler keeps the list complete. */
export const DURABLE_TYPES = [
  'user_input',
  'inject',
  'subagent_result',
  'cancel_queued_input',
  'cancel_delegate_request',
  'approve_tool_call',
  'deny_tool_call',
  'provide_user_input',
  'compact',
  'cancel',
  'shutdown',
  'process_notification',
] as const satisfies readonly DurableCommand['type'][];

/** The types of the live lane. */
export const LIVE_TYPES = [
  'set_loop_mode',
  'change_loop_inference',
  'replace_loop_external_tools',
] as const satisfies readonly LiveCommand['type'][];

/** What a type adds to the envelope. */
export type PayloadOf<C extends Command> = Omit<C, keyof Envelope<string>>;

/** Why a command is not one; the first thing that is wrong with it. */
export type CommandViolation = {
  readonly command: string;
  readonly field: string;
  readonly rule: string;
};
