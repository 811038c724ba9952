import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { isObject } from '../../../base/json.ts';
import { textOf } from '../../chat/waiting-status.ts';
import { withText } from '../../sessions/control/waiting.ts';
import type { LiveSession } from '../../sessions/live-session.ts';
import { nameOfSession, sessionToSteer } from '../picks/running-session.ts';
import type { CommandTable, Services } from '../services.ts';

/** Commands for what waits in a session, and for single steps of its turn. */
export function waitingCommands(services: Services): CommandTable {
  const within =
    (run: (session: LiveSession, argument: unknown) => Promise<void>) =>
    async (argument?: unknown): Promise<void> => {
      const session = await sessionToSteer(services, argument);
      if (session) await run(session, argument);
    };
  return {
    'pilothouse.stopTool': within(stopTool),
    'pilothouse.pauseQueue': within((session) => session.controls.pauseQueue()),
    'pilothouse.resumeQueue': within((session) => session.controls.resumeQueue()),
    'pilothouse.editWaiting': within(editWaiting),
    'pilothouse.clearWaiting': within((session) => clearWaiting(services, session)),
  };
}

async function stopTool(session: LiveSession, argument: unknown): Promise<void> {
  const named = isObject(argument) ? argument['toolCallId'] : undefined;
  const toolCallId = typeof named === 'string' ? named : await pickTool(session);
  if (toolCallId === undefined) return;
  const status = await session.controls.stopTool(toolCallId);
  if (status !== 'cancelled')
    void vscode.window.showInformationMessage(l10n.t('This step has ended already.'));
}

async function pickTool(session: LiveSession): Promise<string | undefined> {
  const running = session.conversation
    .items()
    .flatMap((item) =>
      item.kind === 'tool' && item.status === 'in_progress'
        ? [{ label: item.title, description: item.name, toolCallId: item.id }]
        : [],
    );
  const [only] = running;
  if (!only) {
    void vscode.window.showInformationMessage(l10n.t('No step is running.'));
    return undefined;
  }
  if (running.length === 1) return only.toolCallId;
  const placeHolder = l10n.t('Which step shall stop? The turn goes on.');
  return (await vscode.window.showQuickPick(running, { placeHolder }))?.toolCallId;
}

type WaitingItem = vscode.QuickPickItem & {
  readonly edit: (text: string) => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly text: string;
  readonly more: readonly { readonly label: string; readonly run: () => Promise<void> }[];
};

async function editWaiting(session: LiveSession): Promise<void> {
  const items = waitingItems(session);
  if (items.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('No message waits in this session.'));
    return;
  }
  const placeHolder = l10n.t('Which message?');
  const picked = await vscode.window.showQuickPick(items, { placeHolder });
  if (!picked) return;
  const edit = l10n.t('Edit');
  const remove = l10n.t('Remove');
  const actions = [edit, ...picked.more.map(({ label }) => label), remove];
  const action = await vscode.window.showQuickPick(actions, { placeHolder: picked.label });
  if (action === remove) await picked.remove();
  else if (action === edit) await editOne(picked);
  else await picked.more.find(({ label }) => label === action)?.run();
}

async function editOne({ text, edit }: WaitingItem): Promise<void> {
  const title = l10n.t('Edit Message');
  const changed = await vscode.window.showInputBox({ title, value: text, ignoreFocusOut: true });
  if (changed !== undefined && changed.trim() !== '' && changed !== text) await edit(changed);
}

function waitingItems({ waiting, controls }: LiveSession): WaitingItem[] {
  const pending = waiting.pending.map(({ messageId, content, mode }): WaitingItem => {
    const icon = mode === 'steer' ? 'compass' : mode === 'queue' ? 'note' : 'zap';
    return {
      label: `$(${icon}) ${textOf(content)}`,
      description: l10n.t('for the running turn'),
      text: textOf(content),
      edit: (text) => controls.replace(messageId, withText(content, text)),
      remove: () => controls.revoke(messageId),
      more: [],
    };
  });
  const { items } = waiting.queue;
  const queued = items.map(({ itemId, content }, at): WaitingItem => {
    const up = items[at - 1]?.itemId;
    const below = items[at + 2]?.itemId ?? null;
    return {
      label: `$(list-ordered) ${textOf(content)}`,
      description: l10n.t('for a later turn'),
      text: textOf(content),
      edit: (text) => controls.editQueued(itemId, withText(content, text)),
      remove: () => controls.removeQueued(itemId),
      more: [
        { label: l10n.t('Send Now'), run: () => controls.sendQueuedNow(itemId) },
        ...(up === undefined
          ? []
          : [{ label: l10n.t('Move Up'), run: () => controls.moveQueued(itemId, up) }]),
        ...(at === items.length - 1
          ? []
          : [{ label: l10n.t('Move Down'), run: () => controls.moveQueued(itemId, below) }]),
      ],
    };
  });
  return [...pending, ...queued];
}

async function clearWaiting(services: Services, session: LiveSession): Promise<void> {
  const { waiting, controls } = session;
  const count = waiting.pending.length + waiting.queue.items.length;
  if (count === 0) {
    void vscode.window.showInformationMessage(l10n.t('No message waits in this session.'));
    return;
  }
  const clear = l10n.t('Clear');
  const name = nameOfSession(services, session.sessionId);
  const picked = await vscode.window.showWarningMessage(
    l10n.t('Clear all messages that wait in “{0}”?', name),
    { modal: true, detail: l10n.t('Messages that wait: {0}. Their texts are gone then.', count) },
    clear,
  );
  if (picked !== clear) return;
  for (const { messageId } of waiting.pending) await controls.revoke(messageId);
  for (const { itemId } of waiting.queue.items) await controls.removeQueued(itemId);
}
