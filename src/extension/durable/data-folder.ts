import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';

/** Shows the data folder: in the system's file manager, or where there is none, as a path and as a window. */
export async function openDataFolder(folder: string): Promise<void> {
  const uri = vscode.Uri.file(folder);
  const isDesktop = vscode.env.uiKind === vscode.UIKind.Desktop && !vscode.env.remoteName;
  if (isDesktop) {
    await vscode.commands.executeCommand('revealFileInOS', uri);
    return;
  }
  const copy = l10n.t('Copy Path');
  const open = l10n.t('Open in New Window');
  const picked = await vscode.window.showInformationMessage(
    l10n.t('The sessions are kept in {0}.', folder),
    copy,
    open,
  );
  if (picked === copy) await vscode.env.clipboard.writeText(folder);
  if (picked === open)
    await vscode.commands.executeCommand('vscode.openFolder', uri, { forceNewWindow: true });
}
