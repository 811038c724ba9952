/** What a session's snapshots may cost. */
export type CheckpointLimits = {
  /** A folder with more files has no snapshots. */
  readonly files: number;
  /** Bytes that one snapshot may have to read. */
  readonly bytes: number;
  /** Time for the snapshot before a turn's first effect, which that effect waits for; milliseconds. */
  readonly beforeMs: number;
  /** Time for the snapshot at a turn's end; milliseconds. */
  readonly afterMs: number;
  /** Time for a snapshot that a person asked for or goes back to; milliseconds. */
  readonly keptMs: number;
  /** A new file above this is left out of snapshots; own tools' pre-images are kept up to `preImageBytes`. */
  readonly fileBytes: number;
  readonly preImageBytes: number;
};

export const DEFAULT_LIMITS: CheckpointLimits = {
  files: 50_000,
  bytes: 512 * 1024 * 1024,
  beforeMs: 10_000,
  afterMs: 20_000,
  keptMs: 60_000,
  fileBytes: 32 * 1024 * 1024,
  preImageBytes: 512 * 1024 * 1024,
};
