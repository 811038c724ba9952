import { CodedError } from '../../base/errors.ts';

/** Why files could not be kept or put back. */
export type CheckpointErrorCode =
  /** Nothing was changed: every file is as it was before the restore. */
  | 'checkpoint.restore_failed'
  /** A restore failed and what it had done could not be undone everywhere; `data.paths` are not as they were. */
  | 'checkpoint.half_restored'
  /** The stored state is not here: it belongs to another session, or the data folder was changed. */
  | 'checkpoint.unknown'
  /** The folder could not be read whole, so it can not be kept or compared. Nothing was changed. */
  | 'checkpoint.unreadable'
  /** The data folder could not be written. */
  | 'checkpoint.store_failed'
  /** The session is being closed. */
  | 'checkpoint.closed';

/** The checkpoint room refused or failed; the message says what happened and what to do. */
export class CheckpointError extends CodedError<CheckpointErrorCode> {}

/** True if a system call failed with one of these codes. */
export function failedWith(failure: unknown, ...codes: readonly string[]): boolean {
  return (
    failure instanceof Error &&
    'code' in failure &&
    typeof failure.code === 'string' &&
    codes.includes(failure.code)
  );
}

/** For `catch`: undefined where the name does not exist, everything else is thrown again. */
export function ignoreMissing(failure: unknown): undefined {
  if (failedWith(failure, 'ENOENT', 'ENOTDIR')) return undefined;
  throw failure;
}
