import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { isObject } from '../../base/json.ts';
import type { RestoreChoice, RestorePreview } from '../../protocol/checkpoint-shapes.ts';
import type { DiffSides } from '../diffs/change-documents.ts';

/** The scheme of read-only texts that compare files as they are with what a restore makes of them. */
export const RESTORE_SCHEME = 'pilothouse-restore';

const QUERY = z.object({
  sessionId: z.string(),
  side: z.enum(['now', 'then']),
  what: z.enum(['rollback', 'redo', 'files', 'call']),
  checkpointId: z.exactOptional(z.string()),
  toolCallId: z.exactOptional(z.string()),
  /** Makes each preview a document of its own: an older text must not be shown for it. */
  at: z.number(),
});

/** Reads one file of a preview; null where there is none or it is binary. */
export type ReadRestore = (
  params: { sessionId: string; path: string; side: 'now' | 'then' } & RestoreChoice,
) => Promise<string | null>;

/** Serves both sides of previews. */
export class RestoreDocuments implements vscode.TextDocumentContentProvider {
  readonly #read: ReadRestore;

  constructor(read: ReadRestore) {
    this.#read = read;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const parsed = z.safeParse(QUERY, parsedJson(uri.query));
    if (!parsed.success) return '';
    const { at: _, ...params } = parsed.data;
    const path = uri.with({ scheme: 'file', query: '' }).fsPath;
    return (await this.#read({ ...params, path })) ?? '';
  }
}

function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Both sides of each text file of a preview: as it is now, and as it will be. */
export function previewSides(
  sessionId: string,
  choice: RestoreChoice,
  { files }: RestorePreview,
  at: number,
): DiffSides[] {
  return files
    .filter(({ binary }) => !binary)
    .map(({ path, change }) => {
      const file = vscode.Uri.file(path);
      const side = (name: 'now' | 'then'): vscode.Uri =>
        file.with({
          scheme: RESTORE_SCHEME,
          query: JSON.stringify({ sessionId, side: name, ...choice, at }),
        });
      return {
        file,
        before: change === 'added' ? undefined : side('now'),
        after: change === 'deleted' ? undefined : side('then'),
      };
    });
}
