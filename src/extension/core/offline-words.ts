import * as l10n from '@vscode/l10n';
import { isObject } from '../../base/json.ts';
import { isAgentRequestError } from './connection.ts';

/** Why there is no agent process. */
export type Outage = {
  readonly reason: string;
  /** Another process holds the data folder; `reason` then is sentences that say which, and what to do. */
  readonly folderInUse?: true;
};

/** The outage that a start which failed with `error` makes, told by `reason`. */
export function outageOf(error: unknown, reason: string): Outage {
  const details = isAgentRequestError(error) ? error.details : null;
  const inUse = isObject(details) && details['code'] === 'journal.locked';
  return inUse ? { reason, folderInUse: true } : { reason };
}

/** Who holds the data folder and how to use another one, in sentences; null if that is not what is wrong. */
export function folderInUseWords({ reason, folderInUse }: Outage): string | null {
  if (folderInUse !== true) return null;
  return l10n.t(
    '{0} In the editor, another folder is set with the setting “pilothouse.agent.dataFolder”.',
    reason,
  );
}
