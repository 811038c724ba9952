import { CodedError } from '../../base/errors.ts';

/** What the host refuses. */
export type HostErrorCode =
  | 'host.unknown_session'
  | 'host.bad_cwd'
  | 'host.bad_environment'
  | 'host.closing';

/** A refused request; the message says what to do. */
export class HostError extends CodedError<HostErrorCode> {}

/** No session with this id, live or stored. */
export function unknownSession(sessionId: string): HostError {
  return new HostError(
    'host.unknown_session',
    `There is no session ${sessionId}. It may have been deleted; list the sessions to see which there are.`,
    {
      data: { sessionId },
    },
  );
}
