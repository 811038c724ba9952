import * as vscode from 'vscode';
import type { Availability } from '../chat/chat-status.ts';

/** Whether sessions can run in this window. */
export function availability(): Availability {
  if (!vscode.workspace.isTrusted) return 'untrusted';
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.some((folder) => folder.uri.scheme === 'file') ? 'ok' : 'no_folder';
}
