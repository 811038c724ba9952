import { CodedError } from '../../base/errors.ts';

/**
 * A door has no host to bring its client to. `host.silent`: there is one and it does not answer. `host.refused`: it
 * answers that it won't. `host.other_user`: it runs as somebody else. `host.not_started`: none came up. Others are what
 * kept a host from opening its store.
 */
export class DoorError extends CodedError<string> {}

/** There is a host, and it does not answer. */
export function silentHost(pid: number): DoorError {
  return new DoorError(
    'host.silent',
    `The session host (process ${pid}) does not answer. Wait a moment and try again, or end that process.`,
    { retryable: true, data: { pid } },
  );
}
