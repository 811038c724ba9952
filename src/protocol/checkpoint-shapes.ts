/** Which going back is meant. */
export type RestoreChoice = {
  what: 'rollback' | 'redo' | 'files' | 'call';
  /** For `rollback` (missing: the newest) and `files`. */
  checkpointId?: string;
  toolCallId?: string;
};

/** Files that may be overwritten though somebody else changed them since: all, or these. */
export type Overwrite = 'all' | readonly string[];

export type SkippedPath = { path: string; reason: string };

export type RestorePreview = {
  files: readonly {
    path: string;
    /** What the restore does to it. */
    change: 'added' | 'modified' | 'deleted';
    changedSince: boolean;
    binary: boolean;
  }[];
  coverage: 'full' | 'partial';
  reason?: string;
};

/**
 * A checkpoint: the state that a turn left, or files that a person had kept. `stack`: a rollback may pop it; `redo`: a
 * redo would push it back.
 */
export type ListedCheckpoint = {
  checkpointId: string;
  /** `interrupted`: of a turn that a crash broke off. `manual`: files alone; only `checkpoints/restore` takes it. */
  kind: 'turn' | 'interrupted' | 'manual';
  /** Empty for a manual one. */
  turnId: string;
  at: string;
  prompt: string;
  state: 'stack' | 'redo' | 'off';
  beforeMessageCount: number;
  afterMessageCount: number;
  files: number;
  coverage: 'full' | 'partial' | 'none';
};
