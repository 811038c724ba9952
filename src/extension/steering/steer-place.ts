import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { linesOfSelection } from '../chat/mentions/line-range.ts';
import { parseChangeUri } from '../diffs/change-uris.ts';

/** Lines of a text that a steer is about. Lines are 1-based and inclusive. */
export type SteerPlace = {
  readonly document: vscode.TextDocument;
  readonly first: number;
  readonly last: number;
  /** The session that the command named, if any. */
  readonly sessionId: string | null;
};

/** What a lens hands over. */
const LINK = z.object({
  sessionId: z.string(),
  path: z.string(),
  first: z.number(),
  last: z.number(),
});

/** A row of the changes: a file, or one change of it. Its line is 0-based in the text as it is now. */
const ROW = z.looseObject({
  sessionId: z.string(),
  file: z.looseObject({ path: z.string() }),
  item: z.optional(
    z.looseObject({
      hunk: z.nullable(z.looseObject({ after: z.array(z.unknown()) })),
      place: z.looseObject({ line: z.optional(z.number()) }),
    }),
  ),
});

/** The place that a command is about: what a lens or a row names, else the selection of the active editor. */
export async function steerPlace(argument: unknown): Promise<SteerPlace | null> {
  const named = namedPlace(argument);
  if (named) {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(named.path));
    const last = Math.min(named.last, document.lineCount);
    return { document, first: Math.min(named.first, last), last, sessionId: named.sessionId };
  }
  const editor = vscode.window.activeTextEditor;
  if (!editor) return null;
  return { document: editor.document, ...linesOfSelection(editor.selection), sessionId: null };
}

function namedPlace(argument: unknown): z.infer<typeof LINK> | null {
  const link = z.safeParse(LINK, argument);
  if (link.success) return link.data;
  const row = z.safeParse(ROW, argument);
  if (!row.success) return null;
  const { sessionId, file, item } = row.data;
  const first = (item?.place.line ?? 0) + 1;
  const count = Math.max(1, item?.hunk?.after.length ?? 1);
  return { sessionId, path: file.path, first, last: first + count - 1 };
}

/** The file that a document shows, also where it is one side of a diff. */
export function fileOf({ uri }: vscode.TextDocument): vscode.Uri {
  const change = parseChangeUri(uri);
  return change ? vscode.Uri.file(change.path) : uri;
}

/** The text of the place. */
export function textAt({ document, first, last }: SteerPlace): string {
  const range = new vscode.Range(first - 1, 0, last - 1, Number.MAX_SAFE_INTEGER);
  return document.getText(document.validateRange(range));
}
