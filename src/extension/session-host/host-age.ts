import * as l10n from '@vscode/l10n';
import { isNewer } from '../../base/version-order.ts';
import type { AgentState } from '../core/agent.ts';

/** How the version of a host is to this window's. */
export type HostAge = { readonly pid: number; readonly version: string; readonly isOlder: boolean };

/** Reads it from the state of the host's process; null where it is the same, or not known. */
export function hostAge(state: AgentState, version: string): HostAge | null {
  const host = state.kind === 'ready' ? state.info.host : null;
  if (host === null || host.version === version) return null;
  return { ...host, isOlder: isNewer(version, host.version) };
}

/** The same in few words. */
export function ageWords({ version, isOlder }: HostAge): string {
  return isOlder ? l10n.t('older host {0}', version) : l10n.t('newer host {0}', version);
}
