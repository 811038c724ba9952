import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { DurablePorts } from './ports.ts';
import { refusedImport } from './refused-import.ts';

export type ExportFormat = 'markdown' | 'json';

/** How long writing or checking a large session may take, in milliseconds. */
const TRANSFER_TIMEOUT_MS = 300_000;
const KIB = 1024;
const HASH_SHOWN = 12;

/** Writes a session to a file that the person chooses. */
export async function exportSession(
  ports: DurablePorts,
  sessionId: string,
  format: ExportFormat,
): Promise<void> {
  const name = ports.nameOf(sessionId);
  const target = await vscode.window.showSaveDialog({
    title:
      format === 'markdown'
        ? l10n.t('Export “{0}” as Markdown', name)
        : l10n.t('Export “{0}” as JSON', name),
    defaultUri: defaultTarget(fileName(name, format)),
    filters: format === 'markdown' ? { Markdown: ['md'] } : { JSON: ['json'] },
    saveLabel: l10n.t('Export'),
  });
  if (!target) return;
  const bytes = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: l10n.t('Exporting “{0}”…', name) },
    async () => write(ports, sessionId, format, target),
  );
  const open = l10n.t('Open');
  const size = Math.max(1, Math.round(bytes / KIB));
  const picked = await vscode.window.showInformationMessage(
    l10n.t('“{0}” was exported to {1} ({2} KiB).', name, baseOf(target), size),
    open,
  );
  if (picked === open) await vscode.commands.executeCommand('vscode.open', target);
}

async function write(
  ports: DurablePorts,
  sessionId: string,
  format: ExportFormat,
  target: vscode.Uri,
): Promise<number> {
  const options = { timeoutMs: TRANSFER_TIMEOUT_MS };
  const request = { sessionId, format };
  if (target.scheme === 'file' || target.scheme === 'vscode-remote') {
    const path = target.fsPath;
    return (await ports.request('_pilothouse/sessions/export', { ...request, path }, options))
      .bytes;
  }
  const { text = '', bytes } = await ports.request('_pilothouse/sessions/export', request, options);
  await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  return bytes;
}

/** Takes in a session that was exported as JSON, and says what was checked. */
export async function importSession(ports: DurablePorts): Promise<string | undefined> {
  const [source] =
    (await vscode.window.showOpenDialog({
      title: l10n.t('Import Session'),
      filters: { JSON: ['json'] },
      openLabel: l10n.t('Import'),
    })) ?? [];
  if (!source) return undefined;
  const folder = await ports.pickFolder();
  if (!folder) return undefined;
  const place = source.scheme === 'file' ? { path: source.fsPath } : { text: await read(source) };
  const taken = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: l10n.t('Checking {0}…', baseOf(source)) },
    async () =>
      ports
        .request(
          '_pilothouse/sessions/import',
          { ...place, cwd: folder.path },
          { timeoutMs: TRANSFER_TIMEOUT_MS },
        )
        .catch((error: unknown) => {
          throw refusedImport(baseOf(source), error);
        }),
  );
  await ports.show(taken.sessionId);
  void vscode.window.showInformationMessage(
    l10n.t(
      'Imported and checked: {0} records, hash {1}…',
      taken.events,
      taken.prefixHash.slice(0, HASH_SHOWN),
    ),
  );
  return taken.sessionId;
}

async function read(source: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(source));
}

/** A name that every file system takes. */
export function fileName(name: string, format: ExportFormat): string {
  const plain = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._ -]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '');
  const short = Array.from(plain).slice(0, 60).join('').trimEnd();
  return `${short === '' ? 'session' : short}.${format === 'markdown' ? 'md' : 'json'}`;
}

function defaultTarget(file: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return folder ? vscode.Uri.joinPath(folder, file) : vscode.Uri.file(file);
}

function baseOf(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1);
}
