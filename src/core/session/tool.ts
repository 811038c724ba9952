import type { Json, JsonObject } from '../../base/json.ts';
import type {
  ElicitationSchema,
  PlanEntry,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '../../protocol/acp.ts';
import type { DelegateOutcome } from './commands/command.ts';
import type { ModelPart, ToolDefinition } from './model.ts';
import type { CommandId, LoopId, Mode, ProcessId, SessionId, ToolCallId, TurnId } from './words.ts';

/** What a tool call would touch; policy decides on these. A call may need several. */
export type Access =
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string }
  | { readonly kind: 'execute'; readonly command: string; readonly cwd: string }
  | { readonly kind: 'fetch'; readonly url: string }
  | { readonly kind: 'external'; readonly server: string; readonly tool: string }
  /** Touches nothing outside the session (plan, ask, delegate). */
  | { readonly kind: 'session' };

/** Where a session may work. All paths are absolute and canonical. */
export type Workspace = {
  readonly cwd: string;
  /** `cwd` first, then the additional directories. */
  readonly roots: readonly string[];
};

/** How a call is shown before it runs. */
export type ToolPreview = {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: readonly ToolCallLocation[];
  /** What it would do, as diffs where it changes text. */
  readonly content: readonly ToolCallContent[];
};

/** A call whose input was checked. `run` is called at most once, and only after policy allowed `accesses`. */
export type PreparedCall = {
  readonly accesses: readonly Access[];
  readonly preview: ToolPreview;
  run(context: ToolContext): Promise<ToolOutcome>;
};

/** Bad input or an impossible request: `message` is read by the model and should help it to do better. */
export type PrepareFailure = { readonly error: string };

/** What came of a run. A failure is data, not an exception. */
export type ToolOutcome = {
  readonly status: 'completed' | 'failed';
  /** What the model reads. */
  readonly parts: readonly ModelPart[];
  /** What a person sees. */
  readonly content: readonly ToolCallContent[];
  readonly locations?: readonly ToolCallLocation[];
  readonly rawOutput?: Json;
};

/** What came of a question; `reason` says why there is no answer where it was not the person's choice. */
export type AskAnswer =
  | { readonly kind: 'answered'; readonly content: JsonObject }
  | { readonly kind: 'declined'; readonly reason: string | null };

/** A question to a person; the answer is an object that fits `schema`. */
export type AskRequest = { readonly message: string; readonly schema: ElicitationSchema };

/** A sign-in that happens elsewhere, in a browser; asked as an `auth` gate. */
export type SignInRequest = {
  /** The MCP server that wants it, by name. */
  readonly target: string;
  readonly message: string;
  readonly url: string;
  /** Settles by itself: true when the sign-in arrived, false when it can't any more. Must not reject. */
  readonly arrived: Promise<boolean>;
};

/** Resolves true when the sign-in arrived or the person says that it is done; false if they declined or on Stop. */
export type AskSignIn = (request: SignInRequest) => Promise<boolean>;

/** What may be done before a turn takes its snapshot of tools. */
export type TurnPreparation = { readonly signal: AbortSignal; readonly signIn: AskSignIn };

/** What a running tool may use. `signal` aborts on Stop; a tool must then end all it started. */
export type ToolContext = {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly workspace: Workspace;
  readonly mode: Mode;
  readonly signal: AbortSignal;
  /** Streams output to whoever watches; not kept beyond the outcome. */
  readonly output: (text: string) => void;
  readonly files: DocumentFiles;
  readonly ask: (request: AskRequest) => Promise<AskAnswer>;
  readonly signIn: AskSignIn;
  readonly setPlan: (entries: readonly PlanEntry[]) => Promise<void>;
  readonly processes: Processes;
  /** Missing where a loop may have no delegates. */
  readonly delegates?: Delegates;
};

/**
 * Text of open and dirty documents, read and written through the editor where the client offers it. `null` or
 * `false` means: not open there, use the disk.
 */
export interface DocumentFiles {
  readText(path: string, signal: AbortSignal): Promise<string | null>;
  /** True if the editor took the text. */
  writeText(path: string, text: string, signal: AbortSignal): Promise<boolean>;
  /** Present where files may be staged instead of written. */
  readonly staging?: Staging;
}

/** Files that tools write, but that reach the disk only when a person commits them. Paths are canonical. */
export interface Staging {
  /** What stands for the file instead of what the disk holds, null for no file; undefined if the disk counts. */
  staged(path: string): { readonly text: string | null } | undefined;
  /** Every staged path. */
  paths(): readonly string[];
  /** True if a write of this file is to be staged: the mode says so, or a version of it is staged already. */
  stages(path: string): boolean;
  /** Stages a text; resolves when it is journaled. `base` gives what the disk holds, null for no file. */
  stage(
    file: { readonly path: string; readonly text: string; readonly toolCallId: ToolCallId },
    base: () => Promise<string | null>,
  ): Promise<void>;
}

/** A background process of a session. */
export type ProcessInfo = {
  readonly processId: ProcessId;
  readonly command: string;
  readonly startedAt: number;
  readonly state: 'running' | 'exited' | 'stopped';
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** The background processes of one session. They end with the session or on Stop, as whole process groups. */
export interface Processes {
  start(command: string, cwd: string): Promise<ProcessInfo>;
  list(): readonly ProcessInfo[];
  /** Output from byte `from` on; at most `maxBytes`, cut on a character boundary. */
  output(
    processId: ProcessId,
    from: number,
    maxBytes: number,
  ): { text: string; next: number } | null;
  stop(processId: ProcessId): Promise<ProcessInfo | null>;
}

/** Something to do for a child loop. */
export type DelegateRequest = {
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly prompt: string;
  /** What it is called; missing: a name is made. */
  readonly name?: string;
  /** No wider than the parent's; missing: the parent's. */
  readonly mode?: Mode;
  readonly background: boolean;
};

/** A delegate of this loop. */
export type DelegateInfo = {
  readonly loopId: LoopId;
  readonly name: string;
  readonly state: 'running' | 'waiting' | 'idle' | 'closed';
  /** The newest request. */
  readonly requestId: CommandId;
};

/** What a request came to; `text` is the delegate's last message, or why there is none. */
export type DelegateResult = {
  readonly loopId: LoopId;
  readonly requestId: CommandId;
  readonly outcome: DelegateOutcome;
  readonly text: string;
};

/**
 * The child loops of one loop, each with a transcript, a budget and a policy of its own that is no wider. Failures are
 * `CodedError`s whose message helps the model: depth, quota, unknown or foreign delegate.
 */
export interface Delegates {
  /** Resolves when it is on disk and runs. */
  start(request: DelegateRequest): Promise<DelegateInfo>;
  /** Resolves with the one result of a request; an abort ends the request first. `watch` is told what it says and does. */
  result(
    requestId: CommandId,
    signal: AbortSignal,
    watch?: (text: string) => void,
  ): Promise<DelegateResult>;
  /** Steers it while it works, else gives it the next thing to do; its result comes as a background one. */
  message(
    loopId: LoopId,
    request: Omit<DelegateRequest, 'mode' | 'name' | 'background'>,
  ): Promise<{ readonly requestId: CommandId; readonly delivery: 'steered' | 'started' }>;
  list(): readonly DelegateInfo[];
  /** False if it did nothing. */
  stop(loopId: LoopId): Promise<boolean>;
  /** Ends all of them and what they started. Bounded. */
  stopAll(): Promise<void>;
}

/** A tool. `prepare` must have no effect on the world. */
export interface Tool {
  readonly definition: ToolDefinition;
  readonly kind: ToolKind;
  /** True if it changes nothing: such calls may run side by side, and `architect` allows them. */
  readonly readOnly: boolean;
  prepare(input: JsonObject, context: PrepareContext): Promise<PreparedCall | PrepareFailure>;
}

/** What `prepare` may look at. */
export type PrepareContext = {
  readonly sessionId: SessionId;
  readonly workspace: Workspace;
  readonly files: DocumentFiles;
  readonly signal: AbortSignal;
};

/** What policy says of a call. `ask` carries what a remembered answer would cover. */
export type PolicyDecision =
  | { readonly decision: 'allow'; readonly reason: string }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'propose'; readonly reason: string }
  | {
      readonly decision: 'ask';
      readonly reason: string;
      readonly details: readonly string[];
      readonly remember: readonly RememberOption[];
    };

/** A rule that an answer can store. */
export type RememberScope = 'session' | 'workspace' | 'user';
export type RememberOption = {
  readonly scope: RememberScope;
  readonly label: string;
  readonly rules: readonly PolicyRule[];
};

/** One stored rule. `pattern` is a path glob, a command pattern, a URL pattern or `server/tool`, by `kind`. */
export type PolicyRule = {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly tool: string | '*';
  readonly kind: Access['kind'] | '*';
  readonly pattern: string;
};

/** Decides before every tool. Denies beat allows; the built-in deny floor beats everything. */
export interface Policy {
  decide(call: {
    readonly sessionId: SessionId;
    readonly workspace: Workspace;
    readonly mode: Mode;
    readonly tool: string;
    readonly readOnly: boolean;
    readonly accesses: readonly Access[];
  }): Promise<PolicyDecision>;
  remember(
    sessionId: SessionId,
    workspace: Workspace,
    option: RememberOption,
    effect: 'allow' | 'deny',
  ): Promise<void>;
}
