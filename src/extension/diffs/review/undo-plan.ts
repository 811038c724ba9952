import { hunksOf } from '../hunks/hunks.ts';
import { applyLineEdit, type LineEdit, lineEndOf, linesOf } from '../hunks/lines.ts';
import { undoHunk } from '../hunks/locate.ts';
import type { ReviewFile } from './review-file.ts';

/** What has to be done to take changes of a file back. */
export type UndoPlan =
  | {
      readonly kind: 'edit';
      /** In lines of the text as it is now, not overlapping, in order. */
      readonly edits: readonly LineEdit[];
      /** The line end that the file had, where the session changed it. */
      readonly lineEnd: '\n' | '\r\n' | null;
      /** How many of the wanted changes stay, because somebody changed their lines since. */
      readonly refused: number;
    }
  | { readonly kind: 'delete' }
  | { readonly kind: 'create'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: 'changed' | 'undone' };

/** Plans to undo the things with these ids in the file's `current` text (null: there is no file). */
export function planUndo(
  file: ReviewFile,
  ids: ReadonlySet<string>,
  current: string | null,
): UndoPlan {
  const { before } = file.texts;
  const whole = file.pending.find(({ id, hunk }) => hunk === null && ids.has(id));
  if (whole) return planWhole(file, whole.place.state, current);
  if (current === null) return { kind: 'refused', reason: 'changed' };
  const lines = linesOf(current);
  let result: readonly string[] = lines;
  let refused = 0;
  let undone = 0;
  for (const hunk of file.hunks.hunks) {
    if (!ids.has(hunk.id)) continue;
    const undo = undoHunk(file.hunks, hunk, result);
    if (undo.kind === 'edit') {
      result = applyLineEdit(result, undo.edit);
      undone += 1;
    } else if (undo.kind === 'changed') refused += 1;
  }
  if (undone === 0) return { kind: 'refused', reason: refused > 0 ? 'changed' : 'undone' };
  const isComplete = before !== null && result.join('\n') === linesOf(before).join('\n');
  return {
    kind: 'edit',
    edits: editsBetween(lines, result),
    lineEnd: isComplete ? changedLineEnd(before, current) : null,
    refused,
  };
}

function planWhole(
  file: ReviewFile,
  state: 'applied' | 'undone' | 'changed',
  current: string | null,
): UndoPlan {
  const { before, after } = file.texts;
  if (state !== 'applied') return { kind: 'refused', reason: state };
  if (before === null) return { kind: 'delete' };
  if (after === null || current === null) return { kind: 'create', text: before };
  return { kind: 'edit', edits: [], lineEnd: changedLineEnd(before, current), refused: 0 };
}

function changedLineEnd(before: string, current: string): '\n' | '\r\n' | null {
  const wanted = lineEndOf(before);
  return wanted === lineEndOf(current) ? null : wanted;
}

function editsBetween(from: readonly string[], to: readonly string[]): LineEdit[] {
  return hunksOf(from.join('\n'), to.join('\n')).hunks.map((hunk) => ({
    start: hunk.beforeStart,
    end: hunk.beforeStart + hunk.before.length,
    lines: hunk.after,
  }));
}
