import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { codeOf, isCoded, messageOf } from '../../base/errors.ts';
import type { CommandTable } from './services.ts';

/**
 * Registers commands. A failure is logged and shown with what can be done about it; the promise of a failed command
 * resolves to undefined, so that a click never leaves an unhandled rejection.
 */
export function registerCommands(table: CommandTable, log: vscode.LogOutputChannel): Disposable {
  const store = new DisposableStore();
  for (const [id, body] of Object.entries(table))
    store.add(
      vscode.commands.registerCommand(id, async (argument?: unknown, others?: unknown) => {
        try {
          return await body(argument, others);
        } catch (error) {
          log.error(`${id}: ${messageOf(error)}`);
          void explain(error);
          return undefined;
        }
      }),
    );
  return store;
}

/** Shows an error with the actions that may help. */
async function explain(error: unknown): Promise<void> {
  const showLog = l10n.t('Show Log');
  const restart = l10n.t('Restart Agent');
  const code = codeOf(error) ?? '';
  if (code === 'control.refused') {
    // Nothing has changed, and the message says what to do: the log knows no more.
    void vscode.window.showWarningMessage(messageOf(error));
    return;
  }
  if (code === 'host.offline' || code === 'host.refused') return explainHost(error, code);
  const isAgent = code.startsWith('agent.');
  const actions = isAgent ? [restart, showLog] : [showLog];
  const picked = await vscode.window.showErrorMessage(messageOf(error), ...actions);
  if (picked === showLog) await vscode.commands.executeCommand('pilothouse.showLog');
  if (picked === restart) await vscode.commands.executeCommand('pilothouse.restartAgent');
}

/** A host that a person added is not reached, or wants another token. */
async function explainHost(error: unknown, code: string): Promise<void> {
  const [action, command] =
    code === 'host.refused'
      ? [l10n.t('Enter another token'), 'pilothouse.setHostToken']
      : [l10n.t('Retry'), 'pilothouse.retryHost'];
  const hostId = isCoded(error) ? error.data['hostId'] : null;
  const picked = await vscode.window.showErrorMessage(messageOf(error), action);
  if (picked === action) await vscode.commands.executeCommand(command, { hostId });
}
