import { CodedError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import { JournalError } from '../../journal/errors.ts';

/** Why a file was not taken in. In every case nothing of it is kept. */
export type ImportErrorCode =
  /** It is not in the form that an export has; `data.line` says where it leaves it. */
  | 'import.not_an_export'
  /** It was written by a newer version. */
  | 'import.newer_version'
  /** A record does not fit its hash, its place or its shape; `data` names the loop, the stream and the record. */
  | 'import.bad_record'
  /** There is a session of that id with another history. */
  | 'import.exists'
  | 'import.too_large'
  /** The file can't be read. */
  | 'import.unreadable';

/** A refused import; the message says what to do. */
export class ImportError extends CodedError<ImportErrorCode> {}

export function notAnExport(line: number, what: string): ImportError {
  return new ImportError(
    'import.not_an_export',
    `Line ${line} is not as an export of a session has it: ${what}. The file must be exactly as Pilothouse wrote it; export the session again. Nothing was imported.`,
    { data: { line } },
  );
}

const OF_THE_STORE: Readonly<Record<string, ImportErrorCode>> = {
  'journal.bad_record': 'import.bad_record',
  'journal.too_large': 'import.too_large',
  'journal.exists': 'import.exists',
};

/** What the store refused, as the import tells it; `line` is where it reads. */
export function ofTheStore(error: unknown, line: number): unknown {
  const code = error instanceof JournalError ? OF_THE_STORE[error.code] : undefined;
  if (!(error instanceof JournalError) || code === undefined) return error;
  const data: JsonObject = { ...error.data, line };
  return new ImportError(code, error.message, {
    cause: error,
    retryable: error.retryable,
    data,
  });
}
