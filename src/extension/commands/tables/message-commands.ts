import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { messageOf } from '../../../base/errors.ts';
import type { ChatSendMode } from '../../../protocol/chat.ts';
import { fellBackWords, type Sent, sendMessage } from '../../sessions/control/sending.ts';
import type { LiveSession } from '../../sessions/live-session.ts';
import { settings } from '../../settings/settings.ts';
import { nameOfSession, sessionToSteer } from '../picks/running-session.ts';
import type { CommandTable, Services } from '../services.ts';

const SHOWN_MS = 5_000;

/** Commands that send a message into a running turn, or hold it for the next one. */
export function messageCommands(services: Services): CommandTable {
  const send =
    (mode: ChatSendMode) =>
    async (argument?: unknown): Promise<void> => {
      const session = await sessionToSteer(services, argument);
      if (session) await askAndSend(services, session, mode);
    };
  return {
    'pilothouse.steer': send('steer'),
    'pilothouse.queueMessage': send('next'),
    'pilothouse.interrupt': send('interrupt'),
    'pilothouse.addNote': send('note'),
  };
}

/** Asks for a text until it was taken or the person gives up: a refused one can be sent again as it is. */
async function askAndSend(
  services: Services,
  session: LiveSession,
  mode: ChatSendMode,
): Promise<void> {
  let value = '';
  for (;;) {
    const text = await ask(services, session, mode, value);
    if (text === undefined || text.trim() === '') return;
    try {
      const sent = await sendMessage(
        session,
        [{ type: 'text', text }],
        text,
        settings.sending(),
        mode,
      );
      tellSent(services, session, sent);
      return;
    } catch (error) {
      const again = l10n.t('Edit and Send Again');
      if ((await vscode.window.showErrorMessage(messageOf(error), again)) !== again) return;
      value = text;
    }
  }
}

function ask(
  services: Services,
  session: LiveSession,
  mode: ChatSendMode,
  value: string,
): Thenable<string | undefined> {
  const name = nameOfSession(services, session.sessionId);
  return vscode.window.showInputBox({
    title: titleOf(mode, name),
    prompt: session.isRunning || mode === 'next' ? promptOf(mode) : idlePrompt(mode),
    value,
    ignoreFocusOut: true,
  });
}

function titleOf(mode: ChatSendMode, name: string): string {
  switch (mode) {
    case 'interrupt':
      return l10n.t('Interrupt “{0}”', name);
    case 'next':
      return l10n.t('Queue for the Next Turn of “{0}”', name);
    case 'note':
      return l10n.t('Note in “{0}”', name);
    case 'steer':
    case 'prompt':
      return l10n.t('Steer “{0}”', name);
  }
}

function promptOf(mode: ChatSendMode): string {
  switch (mode) {
    case 'interrupt':
      return l10n.t(
        'Ends the reply and skips what has not begun; steps under way are finished first',
      );
    case 'next':
      return l10n.t('Held until the running turn has ended');
    case 'note':
      return l10n.t('Kept in the conversation; the agent will not read it');
    case 'steer':
    case 'prompt':
      return l10n.t('The agent reads this after the step that runs, and goes on');
  }
}

function idlePrompt(mode: ChatSendMode): string {
  return mode === 'note'
    ? l10n.t('No turn is running, so a note will be refused')
    : l10n.t('No turn is running: this is sent as a prompt');
}

/** Says for a moment what became of a message that was sent from outside the chat. */
export function tellSent(services: Services, session: LiveSession, sent: Sent): void {
  if (sent.fellBack) {
    void vscode.window.showInformationMessage(fellBackWords());
    return;
  }
  const name = nameOfSession(services, session.sessionId);
  vscode.window.setStatusBarMessage(`$(check) ${sentWords(sent.mode, name)}`, SHOWN_MS);
}

function sentWords(mode: ChatSendMode, name: string): string {
  switch (mode) {
    case 'steer':
    case 'interrupt':
      return l10n.t('On its way to “{0}”', name);
    case 'next':
      return l10n.t('Queued for the next turn of “{0}”', name);
    case 'note':
      return l10n.t('Noted in “{0}”', name);
    case 'prompt':
      return l10n.t('Sent to “{0}”', name);
  }
}
