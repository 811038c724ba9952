import type { CheckpointFiles, FileDifference, RestoredFiles } from './control-events.ts';
import type { ToolCallId, TurnId } from './words.ts';

/**
 * The files of one session as its turns found and left them. What it keeps is on disk before the promise of a call
 * resolves, so that an event may name it (design §4.1).
 */
export interface Checkpoints {
  /**
   * Called before a call that may change something runs. Keeps what `paths` hold now as the call's pre-images, and
   * at the first such call of a turn the state of the whole folder. Never rejects: what can't be kept makes the
   * turn's coverage `partial`. Resolves with why something is lacking that should be kept, or null.
   */
  beforeEffect(effect: Effect, signal: AbortSignal): Promise<string | null>;
  /** What the turn changed since its first effect; null if it had none. Call it once a turn, when no tool runs. */
  endTurn(turnId: TurnId): Promise<EndedTurn | null>;
  /**
   * What a turn changed that a crash broke off, from what it found at its first effect until now; null if that is not
   * kept, or it had none. The same again until another turn has an effect.
   */
  recoverTurn(turnId: TurnId): Promise<CheckpointFiles | null>;
  /**
   * Keeps the files as they are now, without a turn. All of it is on disk when it resolves. Throws
   * `checkpoint.unreadable` where the folder can't be kept whole.
   */
  keep(): Promise<CheckpointFiles>;
  /** What `restore` would do, and which files changed since the session left them. Changes nothing. */
  plan(target: RestoreTarget): Promise<RestorePlan>;
  /**
   * Puts files back. A file that changed since is left alone and listed as skipped, unless `overwrite` names it.
   * All or nothing: throws `checkpoint.restore_failed` with every file as it was before the call. Until it is
   * `settled`, a restart takes it back.
   */
  restore(target: RestoreTarget, overwrite: 'all' | readonly string[]): Promise<RestoredFiles>;
  /** The event that tells of the newest restore is in the journal: from here on it stands. Never rejects. */
  settled(): Promise<void>;
  /**
   * Called when a session comes back, before anything else: takes a restore back that a crash cut, or of which no
   * event tells, since nobody was told of it either. Never rejects.
   */
  recover(isRecorded: (undo: string) => boolean): Promise<void>;
  /** The bytes of one file of a plan; null where there is no file. */
  read(target: RestoreTarget, path: string, side: 'now' | 'then'): Promise<Uint8Array | null>;
}

/** The files of a turn. `lacks`: why something is lacking that should be kept, or null. */
export type EndedTurn = { readonly files: CheckpointFiles; readonly lacks: string | null };

/** A call that is about to run. */
export type Effect = {
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  /** Absolute paths that the call says it writes; empty for commands. */
  readonly paths: readonly string[];
};

/** Where files should go back to. */
export type RestoreTarget =
  /** Before the first of these turns, which follow one another on the branch, oldest first. */
  | { readonly kind: 'turns'; readonly turns: readonly CheckpointFiles[] }
  /** As a person had them kept; `turns` came after that on the branch, oldest first. */
  | {
      readonly kind: 'kept';
      readonly files: CheckpointFiles;
      readonly turns: readonly CheckpointFiles[];
    }
  /** Before an earlier restore: `RestoredFiles.undo`. */
  | { readonly kind: 'undo'; readonly undo: string }
  /** Before one tool call; only what its own tool wrote. */
  | {
      readonly kind: 'call';
      readonly toolCallId: ToolCallId;
      readonly paths?: readonly string[];
    };

/** What a restore would do. */
export type RestorePlan = {
  readonly files: readonly (FileDifference & {
    /** The file is not as the session left it: somebody else changed it since. */
    readonly changedSince: boolean;
    readonly binary: boolean;
  })[];
  readonly coverage: 'full' | 'partial';
  readonly reason?: string;
};
