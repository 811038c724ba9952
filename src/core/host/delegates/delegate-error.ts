import { CodedError } from '../../../base/errors.ts';

/** Why something was not done with a delegate; the model that asked for it reads the message. */
export type DelegateErrorCode =
  | 'delegate.too_deep'
  | 'delegate.quota'
  | 'delegate.wider_mode'
  | 'delegate.no_budget'
  | 'delegate.unknown'
  | 'delegate.gone'
  | 'delegate.closed';

/** A refused start, message or stop: nothing has changed. */
export class DelegateError extends CodedError<DelegateErrorCode> {}

/** No delegate of this loop has this id: it never was, or it is another loop's. */
export function unknownDelegate(loopId: string): DelegateError {
  return new DelegateError(
    'delegate.unknown',
    `There is no delegate ${loopId} of yours. Use delegate_list to see which there are.`,
    { data: { loopId } },
  );
}

/** The session ends. */
export function delegatesClosed(): DelegateError {
  return new DelegateError('delegate.closed', 'The session is being closed; nothing is begun.');
}
