import * as l10n from '@vscode/l10n';
import type { AgentState } from '../core/agent.ts';
import type { HostView } from '../sessions/tree/tree-model.ts';
import { placeOf } from './host.ts';
import { hostState } from './host-words.ts';
import type { Host } from './hosts.ts';

/** A host as the tree shows it. `version`: this extension's. */
export function hostView(
  { id, added, agent }: Host,
  offlineSince: number | null,
  version: string,
): HostView {
  const { state } = agent;
  const theirs = state.kind === 'ready' ? state.info.version : '';
  return {
    id,
    kind: added?.kind ?? 'own',
    name: added?.name ?? l10n.t('This machine'),
    place: added ? placeOf(added) : '',
    // Each try to come back would else change the row and what is below it.
    state: state.kind === 'starting' && offlineSince !== null ? 'reconnecting' : hostState(state),
    reason: isOffline(state) ? state.reason : '',
    offlineSince,
    otherVersion: theirs === version ? '' : theirs,
  };
}

/** What is wrong with a token is said by the state. */
function isOffline(
  state: AgentState,
): state is Extract<AgentState, { kind: 'failed' | 'restarting' }> {
  return state.kind === 'restarting' || (state.kind === 'failed' && state.signedOut !== true);
}
