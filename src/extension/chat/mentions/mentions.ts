import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { ChatAttachment, ChatCompletion } from '../../../protocol/chat.ts';
import { bestMatches, foldersOf, fuzzyScore } from './fuzzy.ts';
import { formatRange, linesOfSelection, parseRange } from './line-range.ts';
import { WorkspaceFiles } from './workspace-files.ts';

const MAX_COMPLETIONS = 50;
const MAX_EMBEDDED = 512 * 1024;

/** The @-mention list and the text behind its entries. */
export class Mentions {
  readonly #files = new WorkspaceFiles();

  /** What fits `query`: the selection and problems, open editors, then files and folders of the workspace. */
  async complete(query: string): Promise<ChatCompletion[]> {
    const context = [...selectionEntry(), ...diagnosticsEntries()].filter(
      (entry) => fuzzyScore(query, `${entry.kind} ${entry.name}`) !== null,
    );
    const files = await this.#files.list(Date.now());
    const open = openFiles();
    const openFirst = bestMatches(query, open, (file) => file.path, 10);
    const openPaths = new Set(open.map((file) => file.path));
    const others = files.filter((file) => !openPaths.has(file.path));
    const matched = bestMatches(query, others, (file) => file.path, MAX_COMPLETIONS);
    const folders = bestMatches(
      query,
      foldersOf(files.map(({ path }) => path)),
      (path) => path,
      10,
    );
    return [
      ...context,
      ...openFirst.map((file) => fileEntry(file.uri, file.path)),
      ...matched.map((file) => fileEntry(file.uri, file.path)),
      ...folders.flatMap(folderEntry),
    ].slice(0, MAX_COMPLETIONS);
  }

  /** The text that goes with an attachment; null for what is only linked. */
  async read(attachment: ChatAttachment): Promise<string | null> {
    if (attachment.kind === 'diagnostics') return diagnosticsText(attachment.uri);
    const range = attachment.range === undefined ? null : parseRange(attachment.range);
    if (attachment.kind !== 'selection' || !range) return null;
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(attachment.uri));
    const text = document.getText(
      document.validateRange(new vscode.Range(range.first - 1, 0, range.last, 0)),
    );
    return text.slice(0, MAX_EMBEDDED);
  }
}

/** The attachment for a file or folder, by what it is on disk. */
export async function attachmentOf(uri: vscode.Uri): Promise<ChatAttachment> {
  const isFolder = await vscode.workspace.fs.stat(uri).then(
    (stat) => (stat.type & vscode.FileType.Directory) !== 0,
    () => false,
  );
  return { name: nameOf(uri), uri: uri.toString(), kind: isFolder ? 'folder' : 'file' };
}

/** The attachment for the selection of an editor; its whole file if nothing is selected. */
export function selectionAttachment(editor: vscode.TextEditor): ChatAttachment {
  const uri = editor.document.uri.toString();
  const name = nameOf(editor.document.uri);
  if (editor.selection.isEmpty) return { name, uri, kind: 'file' };
  const range = formatRange(linesOfSelection(editor.selection));
  return { name, uri, kind: 'selection', range };
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1) || uri.path;
}

function fileEntry(uri: vscode.Uri, path: string): ChatCompletion {
  return { name: nameOf(uri), uri: uri.toString(), kind: 'file', detail: path };
}

function folderEntry(path: string): ChatCompletion[] {
  const uri = folderUri(path);
  return uri ? [{ name: nameOf(uri), uri: uri.toString(), kind: 'folder', detail: path }] : [];
}

/** A shown path begins with its root's name where there are several roots. */
function folderUri(path: string): vscode.Uri | null {
  const roots = vscode.workspace.workspaceFolders ?? [];
  const [first] = roots;
  if (!first) return null;
  if (roots.length === 1) return vscode.Uri.joinPath(first.uri, path);
  const [name = '', ...rest] = path.split('/');
  const root = roots.find((folder) => folder.name === name);
  return root ? vscode.Uri.joinPath(root.uri, ...rest) : null;
}

function openFiles(): { uri: vscode.Uri; path: string }[] {
  const uris = new Map<string, vscode.Uri>();
  for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs))
    if (tab.input instanceof vscode.TabInputText && tab.input.uri.scheme === 'file')
      uris.set(tab.input.uri.toString(), tab.input.uri);
  return [...uris.values()].map((uri) => ({ uri, path: vscode.workspace.asRelativePath(uri) }));
}

function selectionEntry(): ChatCompletion[] {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty || editor.document.uri.scheme !== 'file') return [];
  const attachment = selectionAttachment(editor);
  return [{ ...attachment, detail: l10n.t('Selected lines {0}', attachment.range ?? '') }];
}

function diagnosticsEntries(): ChatCompletion[] {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return [];
  const { uri } = editor.document;
  const count = vscode.languages.getDiagnostics(uri).length;
  if (count === 0) return [];
  const detail = count === 1 ? l10n.t('1 problem') : l10n.t('{0} problems', count);
  return [{ name: nameOf(uri), uri: uri.toString(), kind: 'diagnostics', detail }];
}

function diagnosticsText(uri: string): string {
  const found = vscode.languages.getDiagnostics(vscode.Uri.parse(uri));
  return found
    .map(({ message, range, severity, source }) => {
      const place = `${range.start.line + 1}:${range.start.character + 1}`;
      const from = source ? ` (${source})` : '';
      return `${place} ${vscode.DiagnosticSeverity[severity]}: ${message}${from}`;
    })
    .join('\n');
}
