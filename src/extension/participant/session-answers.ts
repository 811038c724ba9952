import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { ChatStatus } from '../../protocol/chat.ts';
import { waitingStatus } from '../chat/waiting-status.ts';
import { isBusy, nameOfSession } from '../commands/picks/running-session.ts';
import type { Services } from '../commands/services.ts';

type Lists = Pick<ChatStatus, 'pending' | 'nextTurns'>;

/** Says which session an answer is about. */
export function sessionLine(
  services: Services,
  stream: vscode.ChatResponseStream,
  sessionId: string,
): void {
  const text = new vscode.MarkdownString(`${l10n.t('Session')}: **`);
  text.appendText(nameOfSession(services, sessionId)).appendMarkdown('**\n\n');
  stream.markdown(text);
}

/** A button that shows the session in the chat panel. */
export function openButton(
  services: Services,
  stream: vscode.ChatResponseStream,
  sessionId: string,
): void {
  stream.button({
    command: 'pilothouse.openSession',
    title: l10n.t('Open “{0}”', nameOfSession(services, sessionId)),
    arguments: [{ sessionId }],
  });
}

/** `/pending`: what waits in the chat's session and in every one that runs, with what can be done about it. */
export async function tellWaiting(
  services: Services,
  stream: vscode.ChatResponseStream,
  own: string | null,
): Promise<void> {
  let told = 0;
  for (const sessionId of await concerned(services, own)) {
    const { waiting } = await services.hub.open(sessionId);
    const lists = waitingStatus(waiting);
    const { pending, nextTurns } = lists;
    if (pending.length + nextTurns.items.length === 0 && nextTurns.paused === null) continue;
    told += 1;
    sessionLine(services, stream, sessionId);
    stream.markdown(listOf(lists));
    waitingButtons(services, stream, sessionId, lists);
  }
  if (told > 0) return;
  if (own !== null) sessionLine(services, stream, own);
  stream.markdown(l10n.t('No message waits.'));
}

/** `/receipts`: opens the receipts of the chat's session, or of the one that runs. */
export async function tellReceipts(
  services: Services,
  stream: vscode.ChatResponseStream,
  own: string | null,
): Promise<void> {
  const [first, ...others] = await concerned(services, own);
  const sessionId = own ?? (others.length === 0 ? first : undefined);
  if (sessionId === undefined) {
    await vscode.commands.executeCommand('pilothouse.showReceipts');
    stream.markdown(l10n.t('The receipts open in the editor.'));
    return;
  }
  const target = { sessionId };
  await vscode.commands.executeCommand('pilothouse.showReceipts', target);
  sessionLine(services, stream, sessionId);
  stream.markdown(l10n.t('The receipts open in the editor.'));
  stream.button({
    command: 'pilothouse.showReceipts',
    title: l10n.t('Show Receipts'),
    arguments: [target],
  });
}

/** The chat's own session first, then those that run. */
async function concerned({ hub, tree }: Services, own: string | null): Promise<string[]> {
  if (!hub.directory.hasLoaded) await hub.directory.refresh();
  const busy = tree.views().filter(({ state }) => isBusy(state));
  return [...new Set([...(own === null ? [] : [own]), ...busy.map(({ row }) => row.sessionId)])];
}

function listOf({ pending, nextTurns }: Lists): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  const row = (word: string, message: string): void => {
    text.appendMarkdown(`- ${word}: `);
    text.appendText(message.replaceAll(/\s*\n\s*/g, ' '));
    text.appendMarkdown('\n');
  };
  for (const { mode, state, text: message } of pending)
    row(state === 'given_back' ? l10n.t('Not delivered') : MODES[mode](), message);
  for (const { text: message } of nextTurns.items) row(l10n.t('Queued for a later turn'), message);
  if (nextTurns.paused !== null) text.appendMarkdown(`\n${nextTurns.paused}\n`);
  text.appendMarkdown('\n');
  return text;
}

const MODES: Readonly<Record<Lists['pending'][number]['mode'], () => string>> = {
  steer: () => l10n.t('Steer'),
  interrupt_immediate: () => l10n.t('Interrupt'),
  queue: () => l10n.t('Note'),
  prompt: () => l10n.t('Prompt'),
};

function waitingButtons(
  services: Services,
  stream: vscode.ChatResponseStream,
  sessionId: string,
  { pending, nextTurns }: Lists,
): void {
  const target = [{ sessionId }];
  if (nextTurns.paused !== null)
    stream.button({
      command: 'pilothouse.resumeQueue',
      title: l10n.t('Resume Queue'),
      arguments: target,
    });
  const editable = pending.some(({ state }) => state !== 'given_back');
  if (editable || nextTurns.items.length > 0) {
    stream.button({ command: 'pilothouse.editWaiting', title: l10n.t('Edit'), arguments: target });
    stream.button({
      command: 'pilothouse.clearWaiting',
      title: l10n.t('Clear'),
      arguments: target,
    });
  }
  openButton(services, stream, sessionId);
}
