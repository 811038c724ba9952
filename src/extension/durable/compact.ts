import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { LiveSession } from '../sessions/live-session.ts';

/** Condenses a conversation; the notification, the chat and Stop can end it. */
export async function compactConversation(session: LiveSession, name: string): Promise<void> {
  if (session.durability.isCompacting) return;
  const { beforeMessageCount, afterMessageCount } = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Window,
      title: l10n.t('Condensing “{0}”…', name),
    },
    async () => session.durability.compact(),
  );
  vscode.window.setStatusBarMessage(
    `$(fold) ${l10n.t('{0} messages condensed to {1}', beforeMessageCount, afterMessageCount)}`,
    SHOWN_MS,
  );
}

const SHOWN_MS = 5_000;
