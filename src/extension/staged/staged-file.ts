import type { StagedChange } from '../../protocol/listed-shapes.ts';
import { composed } from '../diffs/hunks/compose.ts';
import { type FileHunks, type Hunk, hunksOf } from '../diffs/hunks/hunks.ts';

/** A staged file as the disk had it when it was staged, and as it would become; null where there is no file. */
export type StagedTexts = { readonly base: string | null; readonly staged: string | null };

/** A staged file with what of it can be decided apart. */
export type StagedFile = {
  readonly change: StagedChange;
  readonly texts: StagedTexts;
  /** Null where the file is new, gone or differs in line ends alone: then it is kept or discarded whole. */
  readonly hunks: FileHunks | null;
};

/** What to ask of the agent to keep or discard one change of a file. */
export type HunkDecision =
  /** It was the only one: the whole file is decided. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'edit'; readonly disk?: string; readonly staged: string }
  | { readonly kind: 'unknown' };

export function stagedFile(change: StagedChange, texts: StagedTexts): StagedFile {
  const { base, staged } = texts;
  const hunks = base === null || staged === null ? null : hunksOf(base, staged);
  return { change, texts, hunks: hunks && hunks.hunks.length > 0 ? hunks : null };
}

/** The changes of a file that can be decided one by one. */
export function hunksIn({ hunks }: StagedFile): readonly Hunk[] {
  return hunks?.hunks ?? [];
}

/** Keeping a hunk writes it to the disk and leaves the others staged. */
export function keepHunk(file: StagedFile, id: string): HunkDecision {
  return decided(file, id, ({ hunks, base, staged }) => ({
    kind: 'edit',
    disk: composed(hunks, base, staged, new Set([id])),
    staged,
  }));
}

/** Discarding a hunk takes it out of what is staged; the disk stays. */
export function discardHunk(file: StagedFile, id: string): HunkDecision {
  return decided(file, id, ({ hunks, base, staged }) => {
    const others = hunks.hunks.flatMap((hunk) => (hunk.id === id ? [] : [hunk.id]));
    return { kind: 'edit', staged: composed(hunks, base, staged, new Set(others)) };
  });
}

type Parts = { readonly hunks: FileHunks; readonly base: string; readonly staged: string };

function decided(
  file: StagedFile,
  id: string,
  decide: (parts: Parts) => HunkDecision,
): HunkDecision {
  const { hunks, texts } = file;
  const { base, staged } = texts;
  if (hunks === null || base === null || staged === null) return { kind: 'unknown' };
  if (!hunks.hunks.some((hunk) => hunk.id === id)) return { kind: 'unknown' };
  return hunks.hunks.length === 1 ? { kind: 'whole' } : decide({ hunks, base, staged });
}

/** The change at a line of the staged text; removed lines belong to the line below them. */
export function hunkAt(file: StagedFile, line: number): Hunk | null {
  return (
    hunksIn(file).find(
      ({ afterStart, after }) =>
        line >= afterStart && line <= afterStart + Math.max(0, after.length - 1),
    ) ?? null
  );
}
