import type { Disposable } from '../../base/disposables.ts';
import type {
  ContentBlock,
  McpServer,
  SessionConfigOption,
  StopReason,
} from '../../protocol/acp.ts';
import type { Actor } from '../../protocol/controls.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import type { HistoryEvent, SessionSignal, Stored } from '../session/events.ts';
import type { GateAnswer, GateRequest } from '../session/gate-words.ts';
import type { SessionHits, SessionRow } from '../session/ports.ts';
import type { SessionSnapshot } from '../session/state/folded.ts';
import type {
  CommandId,
  EnvironmentPolicy,
  GateId,
  LoopId,
  Mode,
  SessionId,
  Terminal,
  TurnId,
  Usage,
} from '../session/words.ts';
import type { ClientRoom } from './clients/client-room.ts';
import type { HostControls } from './controls/api.ts';
import type { EventFeed } from './feed/event-feed.ts';
import type { HistoryQuery } from './read-branch.ts';

/**
 * The session host as its doors see it (ACP now, UHP later). Everything a door does to a session goes through here,
 * so that all of them see one truth. Errors are `RpcError` or `CodedError`; nothing else is thrown on purpose.
 */
export interface SessionHost {
  /** Takes the next place in the order of arrival; see `Admission`. Call it as soon as a frame is read. */
  admit(): Admission;
  create(request: NewSession, client: Client): Promise<LiveSession>;
  /** Brings a stored session to life, or returns the live one. Throws `host.unknown_session`. */
  open(sessionId: SessionId, options: OpenSession, client: Client): Promise<LiveSession>;
  /** The live session, if there is one. */
  live(sessionId: SessionId): LiveSession | undefined;
  list(query: {
    cwd?: string;
    cursor?: string;
    limit?: number;
    text?: string;
  }): Promise<{ sessions: readonly ListedSession[]; nextCursor?: string }>;
  describe(sessionId: SessionId): Promise<ListedSession | null>;
  /** Stops what runs in it and frees it; it stays on disk. Throws `host.unknown_session` if it is nowhere. */
  close(sessionId: SessionId, actor: Actor): Promise<void>;
  /** Closes it and removes every trace; resolves also when there was nothing. */
  delete(sessionId: SessionId, actor: Actor): Promise<void>;
  /**
   * Stops the running turn and every prompt admitted before `admission`, never a later one (design §4.5).
   * Synchronous in its effect: the abort has happened when it returns; the receipt follows.
   */
  cancel(
    sessionId: SessionId,
    admission: Admission,
    actor: Actor,
    /** The same id again stops nothing more. */
    commandId?: CommandId,
  ): CancelResult;
  /** The client follows the session no more. What becomes of it without another client, its `onDetach` says. */
  detach(sessionId: SessionId, client: Client): Promise<void>;
  /** Any part of the stored history, live or not: of its current branch unless asked for another or for all. Throws `host.unknown_session`. */
  history(sessionId: SessionId, query: HistoryQuery): Promise<readonly Stored<HistoryEvent>[]>;
  /** A client went away; as `detach` from all its sessions. */
  clientGone(client: Client): Promise<void>;
  /** The prefix hash after `eventId`, and whether the whole chain verifies. */
  hashAt(sessionId: SessionId, eventId: number): Promise<string | null>;
  verify(
    sessionId: SessionId,
    stream?: 'history' | 'control',
  ): Promise<{ ok: true } | { ok: false; eventId: number; reason: string }>;
  /** Who follows which session, and who may control it. */
  readonly clients: ClientRoom;
  /** Every other control of the closed list, and what they act on. */
  readonly controls: HostControls;
  /** Events of any session, live or stored, at the reader's pace. */
  readonly events: Pick<EventFeed, 'subscribe'>;
}

/** A place in the order in which frames arrived at the host, over all clients. */
export type Admission = { readonly order: number };

/** What `session/cancel` answers with. */
export type CancelResult = {
  readonly status: 'cancelled' | 'already_cancelled' | 'unknown_session';
  readonly receipt: Promise<void>;
};

export type NewSession = {
  /** Absolute. Throws `host.bad_cwd` if it is not an existing folder. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: readonly McpServer[];
  /** What tools may see of the host's environment; missing inherits. Throws `host.bad_environment`. */
  readonly environmentPolicy?: EnvironmentPolicy;
  /** Missing: that of the host. */
  readonly origin?: ClientOrigin;
};

/** What the client's process was started with. Never stored, never logged. */
export type ClientOrigin = {
  /** The model of new sessions; null: the host's own choice. */
  readonly model: string | null;
  /** What children of the session see, unless its policy narrows it. */
  readonly environment: NodeJS.ProcessEnv;
};

/** Options of load and resume. A missing cwd means the stored one. */
export type OpenSession = {
  readonly cwd?: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  /** How the client attaches; one that is attached already keeps what it does not say. */
  readonly attach?: AttachOptions;
  /** Counts where the session is brought to life by this. Missing: that of the host. */
  readonly origin?: ClientOrigin;
};

/** What a client may do in a session: control it, or only read it. */
export type Role = Actor['role'];

/** How a client attaches to a session. */
export type AttachOptions = {
  /** Missing: as much as the client may. */
  readonly role?: Role;
  /** What becomes of its work when the client is the last to go; missing: as the client wants it in general. */
  readonly onDetach?: OnDetach;
};

/** A session as lists and status show it. */
export type ListedSession = SessionRow & {
  readonly liveState: 'live' | 'persisted';
  readonly activePrompt: boolean;
  readonly openGates: number;
  readonly currentModeId: Mode;
  /** Present where text was looked for. */
  readonly found?: SessionHits;
};

/** A prompt as admitted. The same `commandId` with the same content is answered from the record. */
export type PromptRequest = {
  readonly admission: Admission;
  readonly commandId?: CommandId;
  readonly content: readonly ContentBlock[];
  readonly actor: Actor;
  /** The client that sent it; it acts for the session from now on. */
  readonly client?: Client;
  /** The loop that it is for; missing: the active one. */
  readonly loopId?: LoopId;
};

/** How a prompt ended. */
export type PromptOutcome = {
  readonly turnId: TurnId | null;
  readonly stopReason: StopReason;
  readonly terminal: Terminal;
  readonly usage: Usage;
};

/** A gate that waits for an answer. */
export type OpenGate = {
  readonly gateId: GateId;
  readonly turnId: TurnId;
  readonly request: GateRequest;
  readonly openedAt: number;
  /** The delegate that asks, and what it is called; missing on questions of the root loop. */
  readonly loopId?: LoopId;
  readonly loopName?: string;
};

/** A session in memory. */
export interface LiveSession {
  readonly sessionId: SessionId;
  describe(): ListedSession;
  /** The complete list, as ACP wants it on every change. */
  configOptions(): Promise<readonly SessionConfigOption[]>;
  /** Resolves when the turn is sealed and journaled. Rejects only with typed errors (`host.command_collision`, a latched journal fault). */
  prompt(request: PromptRequest): Promise<PromptOutcome>;
  /** Takes effect from the next turn. Throws `host.bad_option` with what is allowed. */
  setOption(configId: string, value: string, actor: Actor): Promise<readonly SessionConfigOption[]>;
  openGates(): readonly OpenGate[];
  /** False if the gate is not open any more: the first answer won. */
  answerGate(gateId: GateId, answer: GateAnswer, actor: Actor): Promise<boolean>;
  /**
   * Signals from now on, in order. `snapshot` is taken at the same instant: the history up to `snapshot.lastEventId`
   * plus the partial texts plus the signals is everything, with no gap and no repeat.
   */
  subscribe(listener: (signal: SessionSignal) => void): {
    readonly snapshot: Snapshot;
    readonly subscription: Disposable;
  };
}

/** The state at the moment of a subscription. */
export type Snapshot = Omit<SessionSnapshot, 'commands' | 'gates'> & {
  /** Those of its delegates too. */
  readonly gates: readonly OpenGate[];
  /** The commands offered now, for a client that is not sent the history. */
  readonly commands?: SessionSnapshot['commands'];
};

/**
 * What a connected client can do for its sessions. Every call has a deadline inside and rejects with a typed error:
 * `client.gone` where the client vanished before it answered.
 */
export interface Client {
  /** Of its connection; no other one of this host has it. */
  readonly key: string;
  /** `role` is what it may do at most. */
  readonly actor: Actor;
  /** What a person would call it. */
  readonly title?: string | undefined;
  /** What becomes of a session's work when this client is its last one and goes; missing: it stops. */
  readonly onDetach?: OnDetach;
  readonly canReadFiles: boolean;
  readonly canWriteFiles: boolean;
  /** The text of an open or dirty document; null if it is not open there. */
  readTextFile(sessionId: SessionId, path: string, signal: AbortSignal): Promise<string | null>;
  /** False if the client would not take it. */
  writeTextFile(
    sessionId: SessionId,
    path: string,
    text: string,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Somebody, perhaps itself, gave it another role. */
  roleChanged?(sessionId: SessionId, role: Role, by: Client): void;
  /** The clients of the session changed, or which of them acts. */
  clientsChanged?(sessionId: SessionId): void;
}
