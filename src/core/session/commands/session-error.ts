import { CodedError } from '../../../base/errors.ts';

/** What a session refuses, and why. */
export type SessionErrorCode =
  | 'session.command_collision'
  | 'session.closed'
  | 'session.empty_prompt'
  | 'session.bad_option';

/** A refused command; the message says what to do. */
export class SessionError extends CodedError<SessionErrorCode> {}
