import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { relativeTime } from '../sessions/tree/relative-time.ts';
import { baseName, sessionName } from '../sessions/tree/tree-model.ts';
import {
  type FoundSession,
  foundSession,
  type Hit,
  isRolledBack,
  oneLine,
} from './found-sessions.ts';
import type { DurablePorts } from './ports.ts';

const SEARCH_DELAY_MS = 150;
const LIMIT = 50;
/** How many older pages are read to come to a hit, before the session is shown at its end. */
const MAX_PAGES = 100;

type Item = vscode.QuickPickItem & { readonly sessionId?: string; readonly eventId?: number };

/** Searches titles and conversations while the person types, and opens what is picked at the place that was found. */
export async function searchSessions(ports: DurablePorts): Promise<void> {
  const picked = await pickFound(ports);
  if (picked?.sessionId === undefined) return;
  const { sessionId, eventId } = picked;
  await ports.open(sessionId);
  const page: Parameters<typeof isRolledBack>[0] = async (params) =>
    ports.request('_pilothouse/history/page', params);
  if (eventId !== undefined && (await isRolledBack(page, sessionId, eventId))) {
    await showRolledBack(sessionId);
    return;
  }
  await ports.show(sessionId);
  if (eventId !== undefined) await revealHit(ports, sessionId, eventId);
}

/** The chat shows the conversation as it stands; the transcript has what was rolled back too. */
async function showRolledBack(sessionId: string): Promise<void> {
  await vscode.commands.executeCommand('pilothouse.openTranscript', { sessionId });
  void vscode.window.showInformationMessage(
    l10n.t(
      'What you searched for was rolled back: the chat shows it no more, the transcript does.',
    ),
  );
}

async function revealHit(ports: DurablePorts, sessionId: string, eventId: number): Promise<void> {
  const session = await ports.open(sessionId);
  await loadUntil(session, eventId);
  const row = session.conversation.rowAt(eventId);
  if (row !== null) ports.reveal(sessionId, row);
}

async function loadUntil(session: LiveSession, eventId: number): Promise<void> {
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { hasBefore, oldestEvent } = session.conversation;
    if (!hasBefore || oldestEvent === null || oldestEvent <= eventId) return;
    await session.loadBefore();
  }
}

function pickFound(ports: DurablePorts): Promise<Item | undefined> {
  const pick = vscode.window.createQuickPick<Item>();
  pick.title = l10n.t('Search Sessions');
  pick.placeholder = l10n.t('Words of the title or the conversation');
  pick.items = recent(ports);
  const search = searcher(ports, pick);
  pick.onDidChangeValue((text) => void search.run(text));
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const [picked] = pick.selectedItems;
      if (picked?.sessionId === undefined) return;
      resolve(picked);
      pick.hide();
    });
    pick.onDidHide(() => {
      search.end();
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

function recent(ports: DurablePorts): Item[] {
  return ports.rows().flatMap((row) => items(ports, { row, hits: [], count: 0 }));
}

/** Only the newest question's answer counts. */
function searcher(
  ports: DurablePorts,
  pick: vscode.QuickPick<Item>,
): { readonly run: (text: string) => Promise<void>; readonly end: () => void } {
  let newest: AbortController | null = null;
  const run = async (text: string): Promise<void> => {
    newest?.abort();
    const own = new AbortController();
    newest = own;
    await new Promise((resolve) => setTimeout(resolve, SEARCH_DELAY_MS));
    if (own.signal.aborted) return;
    pick.busy = true;
    const found = await ask(ports, text, own.signal);
    if (own.signal.aborted) return;
    pick.busy = false;
    pick.items = found;
  };
  return { run, end: () => newest?.abort() };
}

async function ask(ports: DurablePorts, text: string, signal: AbortSignal): Promise<Item[]> {
  if (text.trim() === '') return recent(ports);
  try {
    const sessions = await ports.search({ text, limit: LIMIT }, signal);
    const found = sessions.map(foundSession).filter((one) => one !== null);
    return found.length === 0
      ? [{ label: l10n.t('Nothing found for “{0}”', text), alwaysShow: true }]
      : found.flatMap((one) => items(ports, one));
  } catch (error) {
    if (!signal.aborted) ports.log(`the search failed: ${messageOf(error)}`);
    return [{ label: l10n.t('The search failed: {0}', messageOf(error)), alwaysShow: true }];
  }
}

/** One line for each place that fits, newest first as the agent tells them; one for a session whose title fits. */
function items(
  { hostName }: Pick<DurablePorts, 'hostName'>,
  { row, hits, count }: FoundSession,
): Item[] {
  const time = relativeTime(row.updatedAt, Date.now());
  const more = count > hits.length ? ` · ${l10n.t('{0} messages', count)}` : '';
  const session = {
    label: sessionName(row.title),
    description: [hostName(row.sessionId), baseName(row.cwd), `${time}${more}`]
      .filter((part) => part !== undefined)
      .join(' · '),
    alwaysShow: true,
    sessionId: row.sessionId,
  };
  if (hits.length === 0) return [{ ...session, detail: row.cwd }];
  return hits.map((hit) => ({
    ...session,
    detail: `${speaker(hit)}: ${oneLine(hit.snippet)}`,
    ...(hit.eventId === null ? {} : { eventId: hit.eventId }),
  }));
}

function speaker({ role }: Hit): string {
  switch (role) {
    case 'user':
      return l10n.t('You');
    case 'tool':
      return l10n.t('Step');
    case 'assistant':
    case 'title':
      return l10n.t('Agent');
    case 'machine':
      return l10n.t('Told to the agent');
  }
}
