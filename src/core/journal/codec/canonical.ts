import { canonicalJson, NotJsonError } from '../../../base/canonical-json.ts';
import { JournalError } from '../errors.ts';

/** The version of the record form below; every record carries it. */
export const RECORD_VERSION = 1;

/** The names of the two chains of a session. */
export const STREAMS = ['history', 'control'] as const;
export type StreamName = (typeof STREAMS)[number];

/** The canonical text of a record's event. Throws `journal.bad_record` for what JSON can't hold. */
export function recordJson(event: unknown): string {
  try {
    return canonicalJson(event);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new JournalError('journal.bad_record', `A record was not stored: ${error.message}`, {
      cause: error,
      data: { path: error.path },
    });
  }
}
