import { CodedError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';

/** What a session refuses, and why. */
export type SessionErrorCode =
  | 'session.command_collision'
  | 'session.closed'
  | 'session.empty_prompt'
  | 'session.bad_option';

/** A refused command; the message says what to do. */
export class SessionError extends CodedError<SessionErrorCode> {}

/**
 * The canonical text of a command's body: object keys sorted, so that the same command sent twice has the same
 * bytes whatever order its client writes them in.
 */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: Json) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
    );
  });
}
