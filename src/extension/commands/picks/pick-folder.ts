import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { folderChoice, type Root } from './folder-choice.ts';

/** The folder for a new session, asked where there are several; null if there is none or the person gave up. */
export async function pickFolder(title = l10n.t('New Session')): Promise<Root | null> {
  const roots = (vscode.workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === 'file')
    .map((folder) => ({ name: folder.name, path: folder.uri.fsPath }));
  const choice = folderChoice(roots, activeRoot());
  switch (choice.kind) {
    case 'no_folder':
      await offerOpenFolder();
      return null;
    case 'one':
      return choice.root;
    case 'pick': {
      const items = choice.roots.map((root) => ({
        label: root.name,
        description: root === choice.suggested ? l10n.t('folder of the active editor') : '',
        detail: root.path,
        root,
      }));
      const picked = await vscode.window.showQuickPick(items, {
        title,
        placeHolder: l10n.t('In which folder shall the session work?'),
      });
      return picked?.root ?? null;
    }
  }
}

function activeRoot(): string | null {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const folder = uri ? vscode.workspace.getWorkspaceFolder(uri) : undefined;
  return folder?.uri.fsPath ?? null;
}

async function offerOpenFolder(): Promise<void> {
  const open = l10n.t('Open Folder');
  const picked = await vscode.window.showInformationMessage(
    l10n.t('A session works in a folder. Open one first.'),
    open,
  );
  if (picked === open) await vscode.commands.executeCommand('workbench.action.files.openFolder');
}
