import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { parseStagedUri } from './staged-documents.ts';
import { hunkAt } from './staged-file.ts';
import type { StagedFiles } from './staged-files.ts';

/** What a command decides about: a staged file, and one change of it or, without an id, all of it. */
export type StagedTarget = {
  readonly sessionId: string;
  readonly path: string;
  readonly hunkId: string | null;
};

const ROW = z.looseObject({
  sessionId: z.string(),
  staged: z.looseObject({ change: z.looseObject({ path: z.string() }) }),
  hunk: z.optional(z.looseObject({ id: z.string() })),
});
const LINK = z.object({ sessionId: z.string(), path: z.string(), hunkId: z.string() });

/**
 * What a command is about: a row of the Changes view, what a lens hands over, else the staged text in the active
 * editor, all of it (`whole`) or the change at its cursor. Null if there is none.
 */
export async function stagedTarget(
  files: StagedFiles,
  argument: unknown,
  scope: 'whole' | 'cursor',
): Promise<StagedTarget | null> {
  const row = z.safeParse(ROW, argument);
  if (row.success) {
    const { sessionId, staged, hunk } = row.data;
    return { sessionId, path: staged.change.path, hunkId: hunk?.id ?? null };
  }
  const link = z.safeParse(LINK, argument);
  if (link.success) return link.data;
  const editor = vscode.window.activeTextEditor;
  const uri = argument instanceof vscode.Uri ? argument : editor?.document.uri;
  const place = uri && parseStagedUri(uri);
  if (!place) return null;
  const { sessionId, path } = place;
  if (scope === 'whole') return { sessionId, path, hunkId: null };
  const file = await files.find(sessionId, path);
  const hunk = file && editor ? hunkAt(file, editor.selection.active.line) : null;
  return hunk === null ? null : { sessionId, path, hunkId: hunk.id };
}
