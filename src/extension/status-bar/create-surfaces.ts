import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { GateToasts } from '../approvals/toasts.ts';
import { ContextKeys } from '../commands/context-keys.ts';
import type { Services } from '../commands/services.ts';
import { openGate } from '../commands/tables/control-commands.ts';
import { questionsIn } from '../sessions/session-view.ts';
import { sessionName } from '../sessions/tree/tree-model.ts';
import type { UnreadMarks } from '../sessions/tree/unread.ts';
import { settings } from '../settings/settings.ts';
import { StatusBar } from './status-bar.ts';
import { summarize } from './summary.ts';

/** What shows the state of all sessions outside the views. */
export type Surfaces = Disposable & { readonly update: () => void };

/** Builds status bar, notifications, unread marks and context keys, all from the same state. */
export function createSurfaces(services: Services, unread: UnreadMarks): Surfaces {
  const { hub, hosts, bridge, chat, tree } = services;
  const store = new DisposableStore();
  const nameOf = (id: string): string => sessionName(hub.directory.get(id)?.title ?? '');
  const isShown = (id: string): boolean => chat.isVisible && bridge.sessionId === id;
  const summary = () =>
    summarize(
      tree.views(),
      questionsIn(tree.views(), hub.gates),
      hosts.own.agent.state,
      settings.showIdleStatusBar(),
    );
  const keys = new ContextKeys();
  const bar = store.add(new StatusBar(summary));
  const update = (): void => {
    bar.update();
    keys.update(summary(), keyState(services));
  };
  const toasts = { gates: hub.gates, nameOf, isShown, onDidChangeShown: chat.onDidChangeShown };
  store.add(new GateToasts({ ...toasts, open: (gate) => void openGate(services, gate) }));

  const news = (id: string): void => {
    if (id !== '' && !isShown(id)) unread.mark(id);
  };
  store.add(
    hub.onDidChange(({ session, change }) => {
      if (change.kind === 'chat' || change.kind === 'delegate_rows') return;
      update();
      if (change.kind === 'turn_ended') news(session.sessionId);
      if (change.kind === 'stop_overdue')
        void offerRestart(nameOf(session.sessionId), session.sessionId);
    }),
  );
  store.add(
    hub.gates.onDidChange((change) => {
      update();
      if (change.kind === 'opened') news(change.gate.sessionId);
    }),
  );
  store.add(hub.directory.onDidChange(update));
  store.add(hub.onDidRemove((id) => unread.clear(id)));
  store.add(hosts.onDidChange(update));
  store.add(hosts.onDidChangeList(update));
  store.add(
    bridge.onDidShow((id) => {
      if (id !== null) unread.clear(id);
      tree.markShown(id);
      update();
    }),
  );
  store.add(
    chat.onDidChangeShown(
      () => chat.isVisible && bridge.sessionId !== null && unread.clear(bridge.sessionId),
    ),
  );
  tree.markShown(bridge.sessionId);
  update();
  return { update, dispose: () => store.dispose() };
}

/** What the context keys say besides what runs. */
function keyState({ hub, hosts, bridge, tree }: Services): Parameters<ContextKeys['update']>[1] {
  return {
    listed: hub.directory.hasLoaded,
    chatSession: bridge.sessionId !== null,
    delegates: bridge.session?.delegates.list ?? null,
    clients: bridge.session?.clients ?? null,
    hosts: hosts.added().length > 0,
    groupedByFolder: settings.grouping() === 'folder',
    views: tree.views(),
  };
}

/** The agent had its grace: only a new process will end the turn now. */
async function offerRestart(name: string, sessionId: string): Promise<void> {
  const restart = l10n.t('Restart Agent');
  const picked = await vscode.window.showWarningMessage(
    l10n.t(
      '“{0}” has not reacted to Stop for ten seconds. Restarting the session host ends it, and all else that runs there; what you have written is kept.',
      name,
    ),
    restart,
  );
  if (picked === restart)
    await vscode.commands.executeCommand('pilothouse.restartAgent', {
      sessionId,
      confirmed: true,
    });
}
