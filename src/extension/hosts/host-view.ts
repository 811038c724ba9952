import * as l10n from '@vscode/l10n';
import type { HostView } from '../sessions/tree/tree-model.ts';
import { placeOf } from './host.ts';
import { hostState } from './host-words.ts';
import { type Host, isDown } from './hosts.ts';

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
    state: hostState(state),
    reason: isDown(state) && 'reason' in state ? state.reason : '',
    offlineSince,
    otherVersion: theirs === version ? '' : theirs,
  };
}
