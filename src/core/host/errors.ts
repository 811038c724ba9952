import { CodedError } from '../../base/errors.ts';

/** What the host refuses. */
export type HostErrorCode =
  | 'host.unknown_session'
  | 'host.bad_cwd'
  | 'host.delegate_loop'
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

/** The id is that of a delegate's loop, which lives and goes with its session. */
export function delegateLoop(loopId: string, rootId: string): HostError {
  return new HostError(
    'host.delegate_loop',
    `${loopId} is a delegate of session ${rootId}, not a session of its own. Open that session; the delegate is shown in it.`,
    { data: { loopId, sessionId: rootId } },
  );
}
