import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Host } from '../../hosts/hosts.ts';
import type { SessionHub } from '../../sessions/session-hub.ts';
import { baseName } from '../../sessions/tree/tree-model.ts';
import type { Root } from './folder-choice.ts';

/** A path from the root, on either kind of system. */
const ABSOLUTE = /^(\/|[a-z]:[\\/]|\\\\)/i;

/** Asks for a folder of another machine, where the editor can't look; null if the person gave up. */
export async function askFolder(host: Host, { directory }: SessionHub): Promise<Root | null> {
  const last = directory.rowsOf(host.id)[0]?.cwd ?? '';
  const typed = await vscode.window.showInputBox({
    title: l10n.t('New Session'),
    prompt: l10n.t('Folder on “{0}” in which the session works', host.added?.name ?? ''),
    placeHolder: '/home/me/project',
    value: last,
    ignoreFocusOut: true,
    validateInput: (value) =>
      ABSOLUTE.test(value.trim()) ? null : l10n.t('Enter the whole path, from the root.'),
  });
  const path = typed?.trim();
  return path === undefined ? null : { name: baseName(path), path };
}
