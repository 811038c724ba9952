import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { Hunk } from '../diffs/hunks/hunks.ts';
import { parseStagedUri } from './staged-documents.ts';
import { hunkAt, hunksIn } from './staged-file.ts';
import type { StagedFiles } from './staged-files.ts';

type Place = { readonly sessionId: string; readonly path: string };

/** Keep and Discard above each staged change, and as quick fixes where lenses are off. */
export class StagedLenses
  implements vscode.CodeLensProvider, vscode.CodeActionProvider, Disposable
{
  readonly #files: StagedFiles;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #store = new DisposableStore();

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(files: StagedFiles) {
    this.#files = files;
    this.#store.add(this.#changed);
    this.#store.add(files.onDidChange(() => this.#changed.fire()));
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const place = parseStagedUri(document.uri);
    const file = place?.side === 'staged' ? await this.#find(place) : null;
    if (!place || !file) return [];
    const hunks = hunksIn(file);
    if (hunks.length === 0) {
      const top = new vscode.Range(0, 0, 0, 0);
      return wholeCommands(document.uri).map((command) => new vscode.CodeLens(top, command));
    }
    return hunks.flatMap((hunk) => {
      const line = Math.min(hunk.afterStart, document.lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      return commandsFor(place, hunk).map((command) => new vscode.CodeLens(range, command));
    });
  }

  async provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
  ): Promise<vscode.CodeAction[]> {
    const place = parseStagedUri(document.uri);
    const file = place?.side === 'staged' ? await this.#find(place) : null;
    const hunk = file && hunkAt(file, range.start.line);
    if (!place || !hunk) return [];
    return commandsFor(place, hunk).map((command) => {
      const action = new vscode.CodeAction(command.title, vscode.CodeActionKind.QuickFix);
      action.command = command;
      return action;
    });
  }

  async #find({ sessionId, path }: Place) {
    return this.#files.find(sessionId, path);
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** A file that is new or gone is decided as a whole. */
function wholeCommands(uri: vscode.Uri): vscode.Command[] {
  return [
    { title: l10n.t('Keep This File'), command: 'pilothouse.keepStagedFile', arguments: [uri] },
    {
      title: l10n.t('Discard This File'),
      command: 'pilothouse.discardStagedFile',
      arguments: [uri],
    },
  ];
}

function commandsFor({ sessionId, path }: Place, hunk: Hunk): vscode.Command[] {
  const target = { sessionId, path, hunkId: hunk.id };
  return [
    {
      title: l10n.t('Keep This Change'),
      command: 'pilothouse.keepStagedChange',
      arguments: [target],
    },
    {
      title: l10n.t('Discard This Change'),
      command: 'pilothouse.discardStagedChange',
      arguments: [target],
    },
  ];
}
