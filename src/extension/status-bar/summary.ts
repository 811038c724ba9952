import * as l10n from '@vscode/l10n';
import type { AgentState } from '../core/agent.ts';
import { folderInUseWords } from '../core/offline-words.ts';
import type { SessionView } from '../sessions/session-view.ts';
import { sessionName } from '../sessions/tree/tree-model.ts';
import type { StatusBarInput } from './status-model.ts';

/** What all sessions together are doing. A session that waits for an answer still runs: Stop ends it. */
export function summarize(
  views: readonly SessionView[],
  openGates: number,
  agent: AgentState,
  showIdle: boolean,
): StatusBarInput {
  const named = (state: (view: SessionView) => boolean) =>
    views
      .filter(state)
      .map(({ row }) => ({ sessionId: row.sessionId, name: sessionName(row.title) }));
  return {
    running: named(({ state }) => state === 'running' || state === 'waiting'),
    stopping: named(({ state }) => state === 'stopping'),
    openGates,
    offline: offline(agent),
    showIdle,
  };
}

function offline(agent: AgentState): string | null {
  if (agent.kind !== 'failed' && agent.kind !== 'restarting') return null;
  const inUse = folderInUseWords(agent);
  if (inUse !== null) return inUse;
  if (agent.kind === 'failed')
    return l10n.t('The session host is not running ({0}). Click to start it again.', agent.reason);
  return l10n.t('The session host ended ({0}) and is started again.', agent.reason);
}
