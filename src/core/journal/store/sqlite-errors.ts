import { messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { JournalError } from '../errors.ts';

/** Primary result codes. Source: https://sqlite.org/rescode.html */
const CODES = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readonly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const;

/** Extended result codes. */
const EXTENDED = { write: 778, databaseMoved: 1032 } as const;

/** The primary result code of an error of `node:sqlite`, or null for any other error. */
export function sqliteCode(error: unknown): number | null {
  if (!isObject(error) || error['code'] !== 'ERR_SQLITE_ERROR') return null;
  return typeof error['errcode'] === 'number' ? error['errcode'] & 0xff : null;
}

export function isSqliteBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CODES.busy || code === CODES.locked;
}

/** True if what is on disk is damaged, so that writing more would be dangerous. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CODES.corrupt || code === CODES.notADatabase;
}

/** Failures whose reason may pass: the store itself is sound, and the same may succeed later. */
const PASSING: ReadonlySet<number | null> = new Set([
  CODES.busy,
  CODES.locked,
  CODES.noMemory,
  CODES.readonly,
  CODES.ioError,
  CODES.full,
  CODES.cantOpen,
]);

/** True if the store can go on once the reason is gone. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(sqliteCode(error));
}

/**
 * True if a commit that is not there now may be there after a crash: its last bytes were written, and only syncing
 * or tidying up failed. A write that failed left the commit without its end, which nobody takes for one.
 */
export function mayComeBack(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === null || (code === CODES.ioError && extendedCode(error) !== EXTENDED.write);
}

function extendedCode(error: unknown): number | null {
  return isObject(error) && typeof error['errcode'] === 'number' ? error['errcode'] : null;
}

/** The fault for whatever broke: what happened and what to do. `opening`: before the store was ever in use. */
export function faultOf(error: unknown, folder: string, opening = false): JournalError {
  if (error instanceof JournalError) return error;
  const code = sqliteCode(error) ?? systemCode(error);
  const again = opening ? 'restart Pilothouse' : 'close the session and open it again';
  return new JournalError('journal.fault', adviceFor(code, error, { folder, again }), {
    cause: error,
    retryable: isPassing(error),
    data: { folder, sqliteCode: code, extendedCode: extendedCode(error), detail: messageOf(error) },
  });
}

/** File system errors that mean the same as a result code. */
const SYSTEM_CODES: Readonly<Record<string, number>> = {
  ENOSPC: CODES.full,
  EDQUOT: CODES.full,
  EACCES: CODES.readonly,
  EPERM: CODES.readonly,
  EROFS: CODES.readonly,
  ENOTDIR: CODES.cantOpen,
  EEXIST: CODES.cantOpen,
  EIO: CODES.ioError,
};

function systemCode(error: unknown): number | null {
  if (!isObject(error) || typeof error['code'] !== 'string') return null;
  return SYSTEM_CODES[error['code']] ?? null;
}

function adviceFor(
  code: number | null,
  error: unknown,
  { folder, again }: { readonly folder: string; readonly again: string },
): string {
  switch (code) {
    case CODES.full:
      return `The disk that holds ${folder} is full, so the last step was not saved; all before it is. Free some space, then ${again}.`;
    case CODES.readonly:
    case CODES.cantOpen:
      return extendedCode(error) === EXTENDED.databaseMoved
        ? `The file sessions.db in ${folder} was moved or deleted while Pilothouse used it, so nothing more can be saved. Put it back, then restart Pilothouse.`
        : `Pilothouse can't write to ${folder}, so the last step was not saved. Check that the folder and its files belong to you and are writable, or set PILOTHOUSE_HOME to another folder, then ${again}.`;
    case CODES.ioError:
      return `The disk that holds ${folder} reported an error, so the last step was not saved; all before it is. Check the disk, then ${again}.`;
    case CODES.corrupt:
    case CODES.notADatabase:
      return `The session database in ${folder} is damaged, so nothing more is written to it. What can still be read can be exported, and verifying a session tells which of its records are whole. Copy the folder aside, then put back a backup of sessions.db, or move the file away to begin with an empty one, and restart Pilothouse.`;
    case CODES.busy:
    case CODES.locked:
      return `The session database in ${folder} is in use by another program, so the last step was not saved. Close that program, then ${again}.`;
    case CODES.noMemory:
      return `There was not enough memory to save the last step. Close other programs, then ${again}.`;
    default:
      return `The session store in ${folder} failed: ${messageOf(error)}. Restart Pilothouse; if it happens again, look at the log.`;
  }
}
