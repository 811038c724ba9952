import * as l10n from '@vscode/l10n';
import { isObject } from '../../base/json.ts';
import { isAgentRequestError } from './connection.ts';

/** Why there is no agent process. */
export type Outage = {
  readonly reason: string;
  /** Another process holds the data folder; `reason` then is sentences that say which, and what to do. */
  readonly folderInUse?: true;
  /** The host wants a token, or another one: trying again changes nothing. */
  readonly signedOut?: true;
};

/** The code of agent-core's error where a remote host did not take its token. Source: `core/door/connect`. */
const SIGNED_OUT = 'connect.unauthorized';

/** The outage that a start which failed with `error` makes, told by `reason`. */
export function outageOf(error: unknown, reason: string): Outage {
  const details = isAgentRequestError(error) ? error.details : null;
  const code = isObject(details) ? details['code'] : null;
  if (code === 'journal.locked') return { reason, folderInUse: true };
  return code === SIGNED_OUT ? { reason, signedOut: true } : { reason };
}

/** Who holds the data folder and how to use another one, in sentences; null if that is not what is wrong. */
export function folderInUseWords({ reason, folderInUse }: Outage): string | null {
  if (folderInUse !== true) return null;
  return l10n.t(
    '{0} In the editor, another folder is set with the setting “pilothouse.agent.dataFolder”.',
    reason,
  );
}
