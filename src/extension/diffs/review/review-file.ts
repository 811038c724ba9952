import type { ChangedFile } from '../../../protocol/listed-shapes.ts';
import { type FileHunks, type Hunk, hunksOf } from '../hunks/hunks.ts';
import { lineEndOf, linesOf } from '../hunks/lines.ts';
import { type HunkPlace, locateHunks } from '../hunks/locate.ts';

/** A file as the session found it and as it last wrote it; null where it did not exist. */
export type FileTexts = { readonly before: string | null; readonly after: string | null };

/** One thing to review: a hunk, or the whole file where it is new or gone. */
export type ReviewItem = {
  readonly id: string;
  readonly hunk: Hunk | null;
  readonly place: HunkPlace;
};

/** A changed file with what of it is still to be reviewed. */
export type ReviewFile = {
  readonly path: string;
  readonly state: ChangedFile['state'];
  readonly texts: FileTexts;
  readonly hunks: FileHunks;
  /** What was neither kept nor undone, in the order of the file. */
  readonly pending: readonly ReviewItem[];
  /** Ids of the hunks that read as they were before the session. */
  readonly undone: ReadonlySet<string>;
};

/** Looks at a file again: `kept` are ids that were marked as reviewed, `current` is its text now (null: no file). */
export function reviewFile(
  file: { path: string; state: ChangedFile['state'] },
  texts: FileTexts,
  kept: ReadonlySet<string>,
  current: string | null,
): ReviewFile {
  const hunks = hunksOf(texts.before ?? '', texts.after ?? '');
  const items =
    texts.before === null || texts.after === null || hunks.hunks.length === 0
      ? [wholeFile(texts, hunks, current)]
      : hunkItems(hunks, current);
  const pending = items.filter(({ id, place }) => !kept.has(id) && place.state !== 'undone');
  const undone = new Set(items.filter(({ place }) => place.state === 'undone').map(({ id }) => id));
  return { path: file.path, state: file.state, texts, hunks, pending, undone };
}

/**
 * The text that the rest of the review compares with: the file as the session found it, plus what was kept. Null
 * where there was no file.
 */
export function baselineOf(file: ReviewFile): string | null {
  const { before } = file.texts;
  if (before === null) return null;
  const open = new Set(file.pending.map(({ id }) => id));
  const lines: string[] = [];
  let from = 0;
  for (const hunk of file.hunks.hunks) {
    lines.push(...file.hunks.beforeLines.slice(from, hunk.beforeStart));
    // An undone hunk reads the same before and now, so only a kept one shows as the session wrote it.
    const isKept = !open.has(hunk.id) && !file.undone.has(hunk.id);
    lines.push(...(isKept ? hunk.after : hunk.before));
    from = hunk.beforeStart + hunk.before.length;
  }
  lines.push(...file.hunks.beforeLines.slice(from));
  return lines.join(lineEndOf(before) ?? '\n');
}

function hunkItems(file: FileHunks, current: string | null): ReviewItem[] {
  const places = current === null ? [] : locateHunks(file, linesOf(current));
  return file.hunks.map((hunk, index) => ({
    id: hunk.id,
    hunk,
    place: places[index] ?? { state: 'changed' },
  }));
}

function wholeFile(texts: FileTexts, hunks: FileHunks, current: string | null): ReviewItem {
  const id = `whole.${hunks.hunks.map((hunk) => hunk.id).join('.')}`;
  return { id, hunk: null, place: placeOfWhole(texts, current) };
}

function placeOfWhole({ before, after }: FileTexts, current: string | null): HunkPlace {
  if (isSame(current, after)) return { state: 'applied', line: 0 };
  if (isSame(current, before)) return { state: 'undone', line: 0 };
  return { state: 'changed' };
}

function isSame(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one === other ||
    (linesOf(one).join('\n') === linesOf(other).join('\n') && lineEndOf(one) === lineEndOf(other))
  );
}
