import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { DiffSides } from '../diffs/change-documents.ts';
import { currentText } from '../diffs/reviews.ts';
import type { StagedFile } from './staged-file.ts';
import type { StagedFiles } from './staged-files.ts';

/** The scheme of read-only texts of staged files: as the disk had them, and as they would become. */
export const STAGED_SCHEME = 'pilothouse-staged';

const QUERY = z.object({ sessionId: z.string(), side: z.enum(['base', 'staged']) });

/** What a URI of the scheme names. */
export type StagedPlace = {
  readonly sessionId: string;
  readonly side: 'base' | 'staged';
  readonly path: string;
};

/** The staged file that a URI names, or null. */
export function parseStagedUri(uri: vscode.Uri): StagedPlace | null {
  if (uri.scheme !== STAGED_SCHEME) return null;
  try {
    const parsed = z.safeParse(QUERY, JSON.parse(uri.query));
    if (!parsed.success) return null;
    return { ...parsed.data, path: uri.with({ scheme: 'file', query: '' }).fsPath };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function stagedUri(sessionId: string, path: string, side: 'base' | 'staged'): vscode.Uri {
  const query = JSON.stringify({ sessionId, side });
  return vscode.Uri.file(path).with({ scheme: STAGED_SCHEME, query });
}

/** Both sides of a diff of one staged file alone: the side that has no file is empty. */
export function wholeSides(sessionId: string, { change }: StagedFile): DiffSides {
  const { path } = change;
  return {
    file: vscode.Uri.file(path),
    before: stagedUri(sessionId, path, 'base'),
    after: stagedUri(sessionId, path, 'staged'),
  };
}

/** Both sides of a staged file's diff. */
export function stagedSides(sessionId: string, { change, texts }: StagedFile): DiffSides {
  const { path } = change;
  return {
    file: vscode.Uri.file(path),
    before: texts.base === null ? undefined : stagedUri(sessionId, path, 'base'),
    after: texts.staged === null ? undefined : stagedUri(sessionId, path, 'staged'),
  };
}

/** Serves both sides; they follow what is staged. */
export class StagedDocuments implements vscode.TextDocumentContentProvider, Disposable {
  readonly #files: StagedFiles;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #store = new DisposableStore();

  readonly onDidChange = this.#changed.event;

  constructor(files: StagedFiles) {
    this.#files = files;
    this.#store.add(this.#changed);
    this.#store.add(
      files.onDidChange((sessionId) => {
        for (const { uri } of vscode.workspace.textDocuments)
          if (parseStagedUri(uri)?.sessionId === sessionId) this.#changed.fire(uri);
      }),
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const place = parseStagedUri(uri);
    if (!place) return '';
    const file = await this.#files.find(place.sessionId, place.path);
    // What was kept or discarded meanwhile: both sides are the file itself.
    return (file ? file.texts[place.side] : await currentText(place.path)) ?? '';
  }

  dispose(): void {
    this.#store.dispose();
  }
}
