import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { refusalOf } from '../sessions/control/refused.ts';
import type { LiveSession } from '../sessions/live-session.ts';

const SHOWN_MS = 5_000;

/** Condenses a conversation. The chat shows its course, and Stop ends it, which needs no further words. */
export async function compactConversation(session: LiveSession, name: string): Promise<void> {
  if (session.durability.isCompacting) return;
  const location = vscode.ProgressLocation.Window;
  const title = l10n.t('Condensing “{0}”…', name);
  try {
    const { beforeMessageCount, afterMessageCount } = await vscode.window.withProgress(
      { location, title },
      async () => session.durability.compact(),
    );
    const words = l10n.t('{0} messages condensed to {1}', beforeMessageCount, afterMessageCount);
    vscode.window.setStatusBarMessage(`$(fold) ${words}`, SHOWN_MS);
  } catch (error) {
    if (refusalOf(error) !== 'cancelled') throw error;
  }
}
