import { CodedError } from '../../../base/errors.ts';

/** What a session refuses, and why. */
export type SessionErrorCode =
  | 'session.command_collision'
  | 'session.command_too_large'
  | 'session.closed'
  /** The files of a turn could not be kept, and the session requires it. */
  | 'session.workspace_fault'
  | 'session.empty_prompt'
  /** It was taken, and its turn could not be begun. */
  | 'session.not_begun'
  | 'session.bad_option';

/** A refused command; the message says what to do. */
export class SessionError extends CodedError<SessionErrorCode> {}
