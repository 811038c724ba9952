import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { parseChangeUri } from './change-uris.ts';
import type { ReviewFile, ReviewItem } from './review/review-file.ts';
import type { SessionReview } from './review/session-review.ts';
import type { Reviews } from './reviews.ts';

/** Changes of one file that a command is about. */
export type ChangeTarget = {
  readonly review: SessionReview;
  readonly file: ReviewFile;
  readonly items: readonly ReviewItem[];
};

const ROW = z.looseObject({
  sessionId: z.string(),
  file: z.looseObject({ path: z.string() }),
  item: z.optional(z.looseObject({ id: z.string() })),
});
const LINK = z.object({ sessionId: z.string(), path: z.string(), id: z.optional(z.string()) });

/**
 * What a command is about: a row of the tree, what a lens hands over, else the file (`whole`) or the change at the
 * cursor of the active editor. Null if there is none.
 */
export function changeTarget(
  reviews: Reviews,
  argument: unknown,
  scope: 'whole' | 'cursor',
): ChangeTarget | null {
  const named = namedTarget(argument);
  if (named) {
    const review = reviews.of(named.sessionId);
    const file = review.file(named.path);
    return (
      file && withItems(review, file, (item) => named.id === undefined || item.id === named.id)
    );
  }
  const uri =
    argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  const path = uri && pathOf(uri);
  const found = path === undefined ? undefined : reviews.withFile(path)[0];
  if (!found) return null;
  const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
  return withItems(
    found.review,
    found.file,
    (item) => scope === 'whole' || item.hunk === null || isAt(item, line),
  );
}

function withItems(
  review: SessionReview,
  file: ReviewFile,
  wanted: (item: ReviewItem) => boolean,
): ChangeTarget | null {
  const items = file.pending.filter(wanted);
  return items.length > 0 ? { review, file, items } : null;
}

function namedTarget(argument: unknown): { sessionId: string; path: string; id?: string } | null {
  const row = z.safeParse(ROW, argument);
  if (row.success) {
    const { sessionId, file, item } = row.data;
    return { sessionId, path: file.path, ...(item ? { id: item.id } : {}) };
  }
  const link = z.safeParse(LINK, argument);
  if (!link.success) return null;
  const { sessionId, path, id } = link.data;
  return { sessionId, path, ...(id === undefined ? {} : { id }) };
}

function pathOf(uri: vscode.Uri): string | undefined {
  return uri.scheme === 'file' ? uri.fsPath : parseChangeUri(uri)?.path;
}

/** True if a line of the text as it is now belongs to the change; removed lines belong to the line below them. */
export function isAt({ hunk, place }: ReviewItem, line: number): boolean {
  if (place.state === 'changed' || hunk === null) return false;
  return line >= place.line && line <= place.line + Math.max(0, hunk.after.length - 1);
}
