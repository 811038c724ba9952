import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { SessionView } from '../../sessions/session-view.ts';
import { relativeTime } from '../../sessions/tree/relative-time.ts';
import { baseName, sessionName } from '../../sessions/tree/tree-model.ts';
import type { Services } from '../services.ts';
import { targetOf } from './arguments.ts';

/** Lets a person choose a session; undefined if they gave up or there is none. */
export async function pickSession(
  { hub, tree }: Services,
  filter: (view: SessionView) => boolean = () => true,
  placeHolder = l10n.t('Choose a session'),
): Promise<string | undefined> {
  if (!hub.directory.hasLoaded) await hub.directory.refresh();
  const items = tree
    .views()
    .filter(filter)
    .map(({ row, state, hostName }) => ({
      label: `$(${ICONS[state]}) ${sessionName(row.title)}`,
      description: [hostName, baseName(row.cwd), relativeTime(row.updatedAt, Date.now())]
        .filter((part) => part !== undefined)
        .join(' · '),
      detail: row.cwd,
      sessionId: row.sessionId,
    }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('There is no such session.'));
    return undefined;
  }
  const options = { placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.sessionId;
}

const ICONS: Readonly<Record<SessionView['state'], string>> = {
  waiting: 'bell-dot',
  running: 'sync',
  stopping: 'loading',
  failed: 'error',
  faulted: 'error',
  interrupted: 'debug-disconnect',
  offline: 'debug-disconnect',
  idle: 'comment-discussion',
};

/** The session a command is about: the one named, else the one in the chat, else a picked one. */
export async function targetSession(
  services: Services,
  argument: unknown,
): Promise<string | undefined> {
  return targetOf(argument).sessionId ?? services.bridge.sessionId ?? (await pickSession(services));
}
