/** A model that sessions may use, or could if something were done. */
export type ListedModel = {
  id: string;
  name: string;
  description?: string;
  available: boolean;
  /** What to do to make it available. */
  unavailableReason?: string;
  contextTokens?: number;
  images: boolean;
};

/** A remembered decision about tools. */
export type ListedRule = {
  scope: 'session' | 'workspace' | 'user';
  effect: 'allow' | 'ask' | 'deny';
  tool: string;
  kind: string;
  pattern: string;
};

/** A file that a session's own tools changed. */
export type ChangedFile = {
  path: string;
  state: 'added' | 'modified' | 'deleted';
  addedLines: number;
  removedLines: number;
};

/** A file whose edits wait for a decision. */
export type StagedChange = {
  path: string;
  state: 'added' | 'modified' | 'deleted';
  addedLines: number;
  removedLines: number;
  /** The disk is not as it was when the file was staged. */
  changedSince: boolean;
};
