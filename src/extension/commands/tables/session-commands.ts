import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { sessionName } from '../../sessions/tree/tree-model.ts';
import { saveGrouping } from '../../settings/settings.ts';
import { hostIdOf, targetOf } from '../picks/arguments.ts';
import { pickSession, targetSession } from '../picks/pick-session.ts';
import type { CommandTable, Services } from '../services.ts';

/** Commands that make, find, show and remove sessions. */
export function sessionCommands(services: Services): CommandTable {
  const { hub, tree } = services;
  return {
    'pilothouse.newSession': async () => {
      const session = await services.startSession();
      return session?.sessionId;
    },
    'pilothouse.openSession': async (argument) => {
      const sessionId = targetOf(argument).sessionId ?? (await pickSession(services));
      if (sessionId) await services.showSession(sessionId);
    },
    'pilothouse.filterSessions': async () => {
      const filter = await vscode.window.showInputBox({
        title: l10n.t('Filter Sessions'),
        prompt: l10n.t('Shows sessions with this text in their title or folder'),
        value: tree.filter,
      });
      if (filter !== undefined) tree.setFilter(filter);
    },
    'pilothouse.clearFilter': async () => tree.setFilter(''),
    'pilothouse.refreshSessions': async () => hub.directory.refreshAll(),
    'pilothouse.loadMoreSessions': async (argument) => hub.directory.loadMore(hostIdOf(argument)),
    'pilothouse.groupByFolder': async () => saveGrouping('folder'),
    'pilothouse.groupByStatus': async () => saveGrouping('status'),
    'pilothouse.deleteSession': async (argument) => deleteSession(services, argument),
    'pilothouse.takeControl': async (argument) => claim(services, argument, false),
    'pilothouse.takeSoleControl': async (argument) => claim(services, argument, true),
    'pilothouse.copySessionId': async (argument) => {
      const sessionId = await targetSession(services, argument);
      if (sessionId) await vscode.env.clipboard.writeText(sessionId);
    },
  };
}

/** `exclusive`: everybody else only reads from then on. */
async function claim(services: Services, argument: unknown, exclusive: boolean): Promise<void> {
  const sessionId = await targetSession(services, argument);
  const session = sessionId ? await services.hub.open(sessionId) : null;
  await session?.clients.claim(exclusive);
}

async function deleteSession(services: Services, argument: unknown): Promise<void> {
  const sessionId = await targetSession(services, argument);
  if (!sessionId) return;
  const row = services.hub.directory.get(sessionId);
  const remove = l10n.t('Delete');
  const picked = await vscode.window.showWarningMessage(
    l10n.t('Delete “{0}”?', sessionName(row?.title ?? '')),
    {
      modal: true,
      detail: l10n.t(
        'Its conversation is removed for good. Files in your folder stay as they are. What runs in it is stopped.',
      ),
    },
    remove,
  );
  if (picked === remove) await services.hub.delete(sessionId);
}
