import type * as vscode from 'vscode';
import { Emitter } from '../../base/emitter.ts';
import { targetSession } from '../commands/picks/pick-session.ts';
import type { Services } from '../commands/services.ts';
import { isElsewhere } from '../hosts/hosts.ts';
import type { HubChange } from '../sessions/session-hub.ts';
import { sessionName } from '../sessions/tree/tree-model.ts';
import type { DiffPorts } from './ports.ts';

/** The ports of the diff views on the extension's services. */
export function diffPorts(services: Services, state: vscode.Memento): DiffPorts {
  const { hub, hosts, bridge, log } = services;
  const filesChanged = new Emitter<{ sessionId: string; turnEnded: boolean }>();
  const connected = new Emitter<void>();
  const shown = new Emitter<void>();
  hub.onDidChange((change) => {
    const isEnd = change.change.kind === 'turn_ended';
    if (isEnd || hasNewDiff(change))
      filesChanged.fire({ sessionId: change.session.sessionId, turnEnded: isEnd });
  });
  hosts.onDidChange(({ state }) => {
    if (state.kind === 'ready') connected.fire();
  });
  bridge.onDidShow(() => shown.fire());
  return {
    isElsewhere: (sessionId) => isElsewhere(hosts.of(sessionId)),
    list: async (sessionId) => {
      if (isElsewhere(hosts.of(sessionId))) return [];
      const connection = await hosts.connectFor({ sessionId });
      return (await connection.request('_pilothouse/changes/list', { sessionId })).files;
    },
    text: async (sessionId, path, side) => {
      const connection = await hosts.connectFor({ sessionId });
      const params = { sessionId, path, side };
      return (await connection.request('_pilothouse/changes/text', params)).text;
    },
    page: async (params) =>
      (await hosts.connectFor(params)).request('_pilothouse/history/page', params),
    sessionName: (sessionId) => sessionName(hub.directory.get(sessionId)?.title ?? ''),
    onDidChangeNames: hub.directory.onDidChange,
    shownSession: () => bridge.sessionId,
    onDidShowSession: shown.event,
    chooseSession: async (argument) => targetSession(services, argument),
    onDidChangeFiles: filesChanged.event,
    onDidRemoveSession: hub.onDidRemove,
    onDidConnect: connected.event,
    store: {
      get: (key) => state.get<unknown>(key),
      update: (key, value) => state.update(key, value),
    },
    log: (message) => log.warn(message),
  };
}

/** True if a finished call of the session showed a diff. */
function hasNewDiff({ change }: HubChange): boolean {
  if (change.kind !== 'chat') return false;
  return change.changes.some(
    (one) =>
      one.type === 'upsert' &&
      one.items.some(
        (item) => item.kind === 'tool' && item.status === 'completed' && item.diffs.length > 0,
      ),
  );
}
