import { isObject } from '../../../base/json.ts';
import { isAgentRequestError } from '../../core/connection.ts';

/** Why the agent can't save a session. `unsure`: it is not known whether the last record is on disk. */
export type StoreFault = { readonly message: string; readonly unsure: boolean };

/** The fault behind an error of the agent's, also of one that was put into other words; null if it is another one. */
export function storeFaultOf(error: unknown): StoreFault | null {
  if (!(error instanceof Error)) return null;
  if (!isAgentRequestError(error)) return storeFaultOf(error.cause);
  const code = isObject(error.details) ? error.details['code'] : undefined;
  if (code !== 'journal.fault' && code !== 'journal.outcome_unknown') return null;
  return { message: error.message, unsure: code === 'journal.outcome_unknown' };
}
