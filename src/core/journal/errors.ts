import { CodedError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';

/** What can go wrong with the store. */
export type JournalErrorCode =
  /** Another process holds the data folder; `data.pid` names it where known. */
  | 'journal.locked'
  /** Used after `close()`. */
  | 'journal.closed'
  /** There is a session of that id, with another history. */
  | 'journal.exists'
  /** There is no session of that id. */
  | 'journal.unknown_session'
  /**
   * Nothing was stored. `retryable`: the reason may pass (a full disk), and the session that it hit can be opened
   * again then; else the store can't be trusted or written any more until it is opened anew.
   */
  | 'journal.fault'
  /** The data folder was written by a newer version. */
  | 'journal.too_new'
  /** A record that can't be stored as it is, or a stored one that can't be understood; `data` names it. */
  | 'journal.bad_record'
  /** A list cursor that this store did not make. */
  | 'journal.bad_cursor'
  /** A record past the size limit. */
  | 'journal.too_large'
  /** The store broke while it worked and can't be read: only a new open tells whether the records are there. */
  | 'journal.outcome_unknown';

/** A failure of the store. */
export class JournalError extends CodedError<JournalErrorCode> {}

/** A `JournalError` as it crosses the thread boundary. */
export type JournalErrorShape = {
  readonly code: JournalErrorCode;
  readonly message: string;
  readonly data: JsonObject;
  readonly retryable: boolean;
};

export function toErrorShape(error: JournalError): JournalErrorShape {
  return { code: error.code, message: error.message, data: error.data, retryable: error.retryable };
}

export function fromErrorShape(shape: JournalErrorShape): JournalError {
  return new JournalError(shape.code, shape.message, {
    data: shape.data,
    retryable: shape.retryable,
  });
}
