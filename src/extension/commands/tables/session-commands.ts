import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { relativeTime } from '../../sessions/tree/relative-time.ts';
import { parseRow, type SessionRow } from '../../sessions/tree/row.ts';
import { baseName, sessionName } from '../../sessions/tree/tree-model.ts';
import { saveGrouping } from '../../settings/settings.ts';
import { targetOf } from '../picks/arguments.ts';
import { pickSession, targetSession } from '../picks/pick-session.ts';
import type { CommandTable, Services } from '../services.ts';

const SEARCH_DELAY_MS = 150;

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
    'pilothouse.searchSessions': async () => {
      const sessionId = await searchSessions(services);
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
    'pilothouse.refreshSessions': async () => hub.directory.refresh(),
    'pilothouse.loadMoreSessions': async () => hub.directory.loadMore(),
    'pilothouse.groupByFolder': async () => saveGrouping('folder'),
    'pilothouse.groupByStatus': async () => saveGrouping('status'),
    'pilothouse.deleteSession': async (argument) => deleteSession(services, argument),
    'pilothouse.copySessionId': async (argument) => {
      const sessionId = await targetSession(services, argument);
      if (sessionId) await vscode.env.clipboard.writeText(sessionId);
    },
  };
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

type RowItem = vscode.QuickPickItem & { readonly sessionId: string };

function rowItem(row: SessionRow): RowItem {
  return {
    label: sessionName(row.title),
    description: `${baseName(row.cwd)} · ${relativeTime(row.updatedAt, Date.now())}`,
    detail: row.cwd,
    alwaysShow: true,
    sessionId: row.sessionId,
  };
}

/** Searches titles and messages while the person types; the agent does the searching. */
async function searchSessions({ hub, agent, log }: Services): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<RowItem>();
  pick.title = l10n.t('Search Sessions');
  pick.placeholder = l10n.t('Words of the title or the conversation');
  pick.items = hub.directory.rows().map(rowItem);
  let newest = 0;
  const search = async (text: string): Promise<void> => {
    newest += 1;
    const own = newest;
    await new Promise((resolve) => setTimeout(resolve, SEARCH_DELAY_MS));
    if (own !== newest) return;
    pick.busy = true;
    try {
      const connection = await agent.ensure();
      const found = await connection.request('_pilothouse/sessions/search', { text, limit: 50 });
      if (own === newest)
        pick.items = found.sessions.flatMap((one) => {
          const row = parseRow(one);
          return row ? [rowItem(row)] : [];
        });
    } catch (error) {
      log.error(String(error));
    } finally {
      if (own === newest) pick.busy = false;
    }
  };
  pick.onDidChangeValue((text) => void search(text));
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      resolve(pick.selectedItems[0]?.sessionId);
      pick.hide();
    });
    pick.onDidHide(() => {
      newest += 1;
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}
