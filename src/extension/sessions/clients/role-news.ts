import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Disposable } from '../../../base/disposables.ts';
import { messageOf } from '../../../base/errors.ts';
import type { SessionHub } from '../session-hub.ts';
import { sessionName } from '../tree/tree-model.ts';
import { type RoleChange, WINDOW_CLIENT } from './session-clients.ts';

/** Says that another client took control of a session that is open here, or gave it to this window. */
export function tellRoles(hub: SessionHub, log: (message: string) => void): Disposable {
  return hub.onDidChangeRole((change) => {
    const isOwn = hub.get(change.sessionId)?.clients.isOwn(change.by.key) ?? false;
    if (isOwn) return;
    tell(hub, change).catch((error: unknown) => {
      log(messageOf(error));
      void vscode.window.showErrorMessage(messageOf(error));
    });
  });
}

async function tell(hub: SessionHub, { sessionId, role, by }: RoleChange): Promise<void> {
  const session = sessionName(hub.directory.get(sessionId)?.title ?? '');
  const isWindow = by.clientId === WINDOW_CLIENT;
  const who = isWindow ? l10n.t('Another window') : (by.title ?? by.clientId);
  if (role === 'host_owner') {
    const words = l10n.t('{0} gave this window control of “{1}”.', who, session);
    await vscode.window.showInformationMessage(words);
    return;
  }
  const take = l10n.t('Take Control');
  const words = l10n.t('{0} took control of “{1}”. This window only reads it now.', who, session);
  if ((await vscode.window.showInformationMessage(words, take)) === take)
    await hub.get(sessionId)?.clients.claim(false);
}
