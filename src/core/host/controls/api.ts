import type { Event } from '../../../base/emitter.ts';
import type { ContentBlock, SessionConfigOption } from '../../../protocol/acp.ts';
import type { Actor, Control, ControlOutcome } from '../../../protocol/controls.ts';
import type { RestorePlan } from '../../session/checkpoints.ts';
import type { Refusal } from '../../session/control/refusal.ts';
import type { CallCancelled, QueueRequest } from '../../session/control/session-control.ts';
import type {
  CheckpointFiles,
  NextTurns,
  PendingMessage,
  RestoredFiles,
} from '../../session/control-events.ts';
import type { EnvironmentPolicy, FsMode } from '../../session/words.ts';
import type { Client, LiveSession } from '../api.ts';
import type { DurableControls } from './durable-api.ts';

/**
 * Every control of the closed list but cancel, close, delete and the options, as doors see them. Each call that is a
 * control produces exactly one receipt, journaled before its promise settles (design §4.4): accepted when it
 * resolves, rejected when it throws `ControlRefused`. Reads produce none and throw `host.unknown_session`.
 */
export interface HostControls
  extends InjectControls,
    QueueControls,
    OptionControls,
    HistoryControls,
    FileControls,
    DurableControls {
  /** Every receipt as soon as it is kept; `actor` is the very object that the control was called with. */
  readonly onDidKeepReceipt: Event<ControlOutcome>;
  /**
   * The receipt of a control that a door refused before it got here (bad params, an observer). It goes to the host's
   * stream where the session is missing or not here; what else is named is kept in its `target`.
   */
  refuse(
    method: Control,
    target: { readonly actor: Actor; readonly sessionId?: string } & ControlNames,
    refusal: Refusal,
  ): Promise<void>;
  /** Oldest first. Without a session: the receipts of controls that named none that is here. */
  receipts(query: ReceiptQuery): Promise<ReceiptPage>;
}

/** Which session a control names, and who sent it. */
export type ControlTarget = {
  readonly sessionId: string;
  readonly actor: Actor;
};

/** What a control names besides its session. */
export type ControlNames = {
  readonly messageId?: string;
  readonly reminderId?: string;
  readonly toolCallId?: string;
  readonly itemId?: string;
  readonly gateId?: string;
  readonly commandId?: string;
  readonly loopId?: string;
};

/** `after` is exclusive: the `seq` of a receipt. */
export type ReceiptQuery = {
  readonly sessionId?: string;
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
  readonly method?: string;
  readonly status?: string;
};

/** A stored receipt with its place in the control stream and its hash. */
export type ListedReceipt = {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly hash: string;
  readonly receipt: ControlOutcome;
};

export type ReceiptPage = {
  readonly receipts: readonly ListedReceipt[];
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  /** Places of receipts that were damaged on disk and are left out; missing if there are none. */
  readonly damaged?: readonly number[];
};

/** Messages for a running turn. `content` null means that it is malformed. Checks go in the order that Harn states. */
export interface InjectControls {
  inject(
    target: ControlTarget,
    request: {
      readonly mode: unknown;
      readonly content: readonly ContentBlock[] | null;
      readonly commandId?: string;
    },
  ): Promise<{ readonly messageId: string }>;
  revokeInject(
    target: ControlTarget,
    messageId: string,
  ): Promise<{ readonly status: 'revoked' | 'already_revoked' }>;
  replaceInject(
    target: ControlTarget,
    messageId: string,
    content: readonly ContentBlock[] | null,
  ): Promise<void>;
  /** A read. */
  pending(sessionId: string): Promise<readonly PendingMessage[]>;
  /** `mode` and `authority` are the words of the wire; unknown ones are refused. */
  remind(
    target: ControlTarget,
    request: {
      readonly body: string;
      readonly mode: unknown;
      readonly authority?: unknown;
      readonly dedupeKey?: string;
      readonly tags?: readonly string[];
      readonly commandId?: string;
    },
  ): Promise<{ readonly reminderId: string }>;
  revokeReminder(
    target: ControlTarget,
    reminderId: string,
  ): Promise<{ readonly status: 'revoked' | 'already_revoked' }>;
  cancelToolCall(
    target: ControlTarget,
    request: {
      readonly toolCallId: string;
      /** The loop whose call it is; missing: the session's own, else the first delegate that has such a call. */
      readonly loopId?: string;
      readonly reason?: string;
      readonly injectReminder?: boolean;
    },
  ): Promise<CallCancelled>;
}

/** The next-turn queue. */
export interface QueueControls {
  changeQueue(
    target: ControlTarget,
    change: QueueRequest,
  ): Promise<{ readonly itemId: string | null; readonly nextTurns: NextTurns }>;
  /** A read. */
  nextTurns(sessionId: string): Promise<NextTurns>;
}

/** The options of a live session. */
export interface OptionControls {
  /** Takes effect from the next turn. Throws `session.bad_option` with what is allowed, and `unknown_session`. */
  setOption(
    target: ControlTarget,
    request: {
      readonly method: 'session/set_mode' | 'session/set_config_option';
      readonly configId: string;
      readonly value: string;
    },
  ): Promise<readonly SessionConfigOption[]>;
}

/** Where a conversation is cut: after so many messages, or before the user's message with this id. */
export type CutPoint =
  | { readonly keepFirst: number }
  | { readonly beforeMessageId: string }
  | { readonly whole: true };

/** What moves or copies a conversation. All throw `prompt_active` while a turn runs, but fork. */
export interface HistoryControls {
  /** Without an id: the newest turn on the stack. With one: to the state before that turn, on the stack or not. */
  rollback(
    target: ControlTarget,
    request: { readonly checkpointId?: string; readonly overwrite: Overwrite },
  ): Promise<MoveResult>;
  redo(target: ControlTarget, request: { readonly overwrite: Overwrite }): Promise<MoveResult>;
  /** Stops a running turn first. */
  truncate(
    target: ControlTarget,
    request: { readonly at: CutPoint; readonly reason?: string },
  ): Promise<{
    readonly keptTurnCount: number;
    readonly removedTurnCount: number;
    readonly newTipTurnId: string | null;
    readonly lastEventId: number;
    readonly prefixHash: string;
  }>;
  fork(
    target: ControlTarget,
    request: {
      readonly at: CutPoint;
      readonly id?: string;
      readonly branchName?: string;
      readonly environmentPolicy?: EnvironmentPolicy;
    },
    client: Client,
  ): Promise<{
    readonly session: LiveSession;
    readonly parentId: string;
    readonly branchedAt: number | null;
    /** Milliseconds since the epoch. */
    readonly at: number;
  }>;
  /** A read: all checkpoints, oldest first. */
  checkpoints(sessionId: string): Promise<readonly CheckpointInfo[]>;
  /** A read: what a rollback, redo or restore would do to files. */
  planRestore(sessionId: string, what: RestoreChoice): Promise<RestorePlan>;
  /** A read: one file of that plan. */
  readRestore(
    sessionId: string,
    what: RestoreChoice,
    path: string,
    side: 'now' | 'then',
  ): Promise<Uint8Array | null>;
  /** Files only; the transcript stays. */
  restoreFiles(
    target: ControlTarget,
    request: { readonly checkpointId: string; readonly overwrite: Overwrite },
  ): Promise<RestoredFiles>;
  restoreToolCall(
    target: ControlTarget,
    request: {
      readonly toolCallId: string;
      readonly paths?: readonly string[];
      readonly overwrite: Overwrite;
    },
  ): Promise<RestoredFiles>;
}

/** Files that may be overwritten though somebody else changed them since: all, or these. */
export type Overwrite = 'all' | readonly string[];

export type RestoreChoice =
  | { readonly kind: 'rollback'; readonly checkpointId?: string }
  | { readonly kind: 'redo' }
  | { readonly kind: 'files'; readonly checkpointId: string }
  | { readonly kind: 'call'; readonly toolCallId: string };

/** What a rollback or redo did, with the identifiers it claims. Source: Harn session control, turn checkpoints. */
export type MoveResult = {
  readonly status: 'rolled_back' | 'redone';
  readonly checkpointId: string;
  readonly beforeMessageCount: number;
  readonly afterMessageCount: number;
  readonly files: RestoredFiles | null;
  readonly lastEventId: number;
  readonly prefixHash: string;
};

/** A checkpoint as it is listed. */
export type CheckpointInfo = {
  readonly checkpointId: string;
  /** `interrupted`: of a turn that a crash broke off. `manual`: files alone, which a person had kept. */
  readonly kind: 'turn' | 'interrupted' | 'manual';
  /** Empty for a manual one. */
  readonly turnId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The beginning of the turn's prompt. */
  readonly prompt: string;
  /** `stack`: a rollback may pop it; `redo`: a redo would push it back; `off`: only by id. */
  readonly state: 'stack' | 'redo' | 'off';
  readonly beforeMessageCount: number;
  readonly afterMessageCount: number;
  readonly files: CheckpointFiles | null;
};

/** Files that are written only when a person says so. */
export interface FileControls {
  setFsMode(
    target: ControlTarget,
    mode: unknown,
  ): Promise<{
    readonly previousMode: FsMode;
    readonly mode: FsMode;
    /** Files that are staged and stay so, also when tools write at once from now on. */
    readonly stagedFiles: number;
  }>;
  /** Without paths: all. */
  commitStaged(
    target: ControlTarget,
    paths?: readonly string[],
  ): Promise<{
    readonly committedPaths: readonly string[];
    readonly failedPathsWithReasons: readonly { readonly path: string; readonly reason: string }[];
  }>;
  discardStaged(
    target: ControlTarget,
    paths?: readonly string[],
  ): Promise<{ readonly discardedPaths: readonly string[] }>;
  /**
   * Part of a staged file: `disk` is written to the disk now, `staged` is what stays staged. For one hunk kept or
   * discarded. Throws `not_staged`, and `fs_restore_error` if the disk is not as it was when it was staged.
   */
  editStaged(
    target: ControlTarget,
    edit: { readonly path: string; readonly disk?: string; readonly staged: string | null },
  ): Promise<void>;
  /** A read. */
  staged(
    sessionId: string,
  ): Promise<{ readonly mode: FsMode; readonly files: readonly StagedFile[] }>;
}

/** A file as it would become; null is no file. `base` is what the disk held when it was first staged. */
export type StagedFile = {
  readonly path: string;
  readonly base: string | null;
  readonly text: string | null;
  /** The disk is not as it was when the file was staged. */
  readonly changedSince: boolean;
};
