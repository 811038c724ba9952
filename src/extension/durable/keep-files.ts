import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { DurablePorts } from './ports.ts';

/** How long keeping the files of a large folder may take, in milliseconds. */
const KEEP_TIMEOUT_MS = 300_000;

/** Keeps the files as they are now, and says how to get back to them. */
export async function keepFiles(ports: DurablePorts, sessionId: string): Promise<void> {
  const kept = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: l10n.t('Keeping the files…') },
    async () =>
      ports.request(
        '_pilothouse/checkpoints/create',
        { sessionId },
        { timeoutMs: KEEP_TIMEOUT_MS },
      ),
  );
  const show = l10n.t('Restore Files…');
  const picked = await vscode.window.showInformationMessage(
    keptWords(kept.coverage, kept.reason ?? ''),
    show,
  );
  if (picked === show)
    await vscode.commands.executeCommand('pilothouse.restoreFiles', { sessionId });
}

function keptWords(coverage: 'full' | 'partial', reason: string): string {
  if (coverage === 'full')
    return l10n.t('The files are kept as they are now. Restore Files brings them back.');
  return reason === ''
    ? l10n.t('Only the files that tools of this session wrote are kept.')
    : l10n.t('Only the files that tools of this session wrote are kept: {0}', reason);
}
