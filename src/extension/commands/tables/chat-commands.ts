import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { attachmentOf, selectionAttachment } from '../../chat/mentions/mentions.ts';
import type { CommandTable, Services } from '../services.ts';

const MAX_ADDED = 50;

/** Commands that fill the chat or send to it. */
export function chatCommands(services: Services): CommandTable {
  const { bridge, chat } = services;
  return {
    'pilothouse.focusChat': async () => {
      await chat.reveal(false);
      bridge.compose({}, true);
    },
    'pilothouse.sendPrompt': async () => sendPrompt(services),
    'pilothouse.addSelectionToChat': async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor) await add(services, [selectionAttachment(editor)]);
    },
    'pilothouse.addToChat': async (argument, others) => {
      const uris = urisOf(argument, others);
      await add(services, await Promise.all(uris.slice(0, MAX_ADDED).map(attachmentOf)));
    },
  };
}

async function add(
  { bridge, chat }: Services,
  attachments: Parameters<Services['bridge']['compose']>[0]['attachments'],
): Promise<void> {
  await chat.reveal(false);
  bridge.compose(attachments ? { attachments } : {}, true);
}

/** The explorer hands over the clicked entry and then all selected ones. */
function urisOf(argument: unknown, others: unknown): vscode.Uri[] {
  const all = Array.isArray(others) && others.length > 0 ? others : [argument];
  return all.filter((one) => one instanceof vscode.Uri);
}

async function sendPrompt(services: Services): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: l10n.t('Send Prompt'),
    prompt: l10n.t('What should be done?'),
    ignoreFocusOut: true,
  });
  if (text === undefined || text.trim() === '') return;
  const sessionId = services.bridge.sessionId;
  const session =
    sessionId === null ? await services.startSession() : await services.hub.open(sessionId);
  if (!session) return;
  await session.send([{ type: 'text', text }], text);
}
