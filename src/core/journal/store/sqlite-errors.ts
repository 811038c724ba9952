import { messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { JournalError } from '../errors.ts';

/** Primary result codes. Source: https://sqlite.org/rescode.html */
const CODES = {
  busy: 5,
  locked: 6,
  readonly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const;

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

/** True if it is unknown how much of a commit reached the disk. */
export function isAmbiguousCommit(error: unknown): boolean {
  return sqliteCode(error) === CODES.ioError;
}

/** The fault for whatever broke while the store worked: what happened and what to do. */
export function faultOf(error: unknown, folder: string): JournalError {
  if (error instanceof JournalError) return error;
  const code = sqliteCode(error) ?? systemCode(error);
  return new JournalError('journal.fault', `${adviceFor(code, error, folder)}`, {
    cause: error,
    data: { folder, sqliteCode: code, detail: messageOf(error) },
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

function adviceFor(code: number | null, error: unknown, folder: string): string {
  switch (code) {
    case CODES.full:
      return `The disk that holds ${folder} is full, so nothing more can be saved. Free some space, then restart Pilothouse.`;
    case CODES.readonly:
    case CODES.cantOpen:
      return `Pilothouse can't write to ${folder}. Check that the folder and its files belong to you and are writable, then restart Pilothouse.`;
    case CODES.ioError:
      return `The disk that holds ${folder} reported an error, so nothing more is saved. Check the disk, then restart Pilothouse.`;
    case CODES.corrupt:
    case CODES.notADatabase:
      return `The session database in ${folder} is damaged, so nothing more is written to it. Copy the folder aside, then put back a backup of sessions.db or move the file away to begin with an empty one.`;
    case CODES.busy:
    case CODES.locked:
      return `The session database in ${folder} is in use by another program. Close that program, then restart Pilothouse.`;
    default:
      return `The session store in ${folder} failed: ${messageOf(error)}. Restart Pilothouse; if it happens again, look at the log.`;
  }
}
