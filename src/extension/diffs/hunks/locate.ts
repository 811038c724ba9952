import { diffArrays } from 'diff';
import type { FileHunks, Hunk } from './hunks.ts';
import { type LineEdit, standsAt } from './lines.ts';

/**
 * How a hunk stands in the text as it is now: `applied` as the session wrote it, `undone` as it was before, or
 * `changed` by somebody since. `line` is where it begins now.
 */
export type HunkPlace =
  | { readonly state: 'applied' | 'undone'; readonly line: number }
  | { readonly state: 'changed' };

/** What undoing a hunk does to the text as it is now. */
export type Undo =
  | { readonly kind: 'edit'; readonly edit: LineEdit }
  | { readonly kind: 'undone' }
  | { readonly kind: 'changed' };

const MAX_EDITS = 1_500;

/** Where each hunk stands in `current`, in the order of `file.hunks`. */
export function locateHunks(file: FileHunks, current: readonly string[]): HunkPlace[] {
  const exact = placesOf(file, current, null);
  if (exact) return exact;
  const map = unchangedLines(file.afterLines, current);
  return file.hunks.map((hunk) => placeByNeighbours(file, hunk, current, map));
}

/**
 * The edit that takes one hunk back. Lines that somebody changed since are never touched; every other change in the
 * text, also of other hunks, stays.
 */
export function undoHunk(file: FileHunks, hunk: Hunk, current: readonly string[]): Undo {
  const index = file.hunks.indexOf(hunk);
  const place =
    placesOf(file, current, { index, undone: false })?.[index] ??
    placesOf(file, current, { index, undone: true })?.[index] ??
    locateHunks(file, current)[index];
  if (!place || place.state === 'changed') return { kind: 'changed' };
  if (place.state === 'undone') return { kind: 'undone' };
  return {
    kind: 'edit',
    edit: { start: place.line, end: place.line + hunk.after.length, lines: hunk.before },
  };
}

type Forced = { readonly index: number; readonly undone: boolean };
type Step = { readonly from: Step | null; readonly end: number; readonly undone: boolean };

/**
 * Reads `current` as the session's text with some hunks undone and nothing else changed; null if it is not that.
 * Where lines repeat there can be several readings: all are followed, and `forced` picks one.
 */
function placesOf(
  file: FileHunks,
  current: readonly string[],
  forced: Forced | null,
): HunkPlace[] | null {
  const first = gap(file, -1);
  let steps: Step[] = standsAt(current, 0, first)
    ? [{ from: null, end: first.length, undone: false }]
    : [];
  for (const [index, hunk] of file.hunks.entries()) {
    const rest = gap(file, index);
    const next = new Map<number, Step>();
    for (const from of steps) {
      for (const undone of [false, true]) {
        if (forced?.index === index && forced.undone !== undone) continue;
        const part = undone ? hunk.before : hunk.after;
        const end = from.end + part.length + rest.length;
        if (next.has(end) || !standsAt(current, from.end, part)) continue;
        if (standsAt(current, from.end + part.length, rest)) next.set(end, { from, end, undone });
      }
    }
    steps = [...next.values()];
  }
  const last = steps.find(({ end }) => end === current.length);
  return last ? walkBack(last) : null;
}

/** The lines between hunk `index` and the next. */
function gap(file: FileHunks, index: number): readonly string[] {
  const hunk = file.hunks[index];
  const start = hunk ? hunk.afterStart + hunk.after.length : 0;
  return file.afterLines.slice(start, file.hunks[index + 1]?.afterStart ?? file.afterLines.length);
}

function walkBack(last: Step): HunkPlace[] {
  const places: HunkPlace[] = [];
  for (let step = last; step.from; step = step.from)
    places.push({ state: step.undone ? 'undone' : 'applied', line: step.from.end });
  return places.reverse();
}

/** For each line of `from` that also stands in `to`, unchanged: its line there. */
function unchangedLines(from: readonly string[], to: readonly string[]): Map<number, number> {
  const map = new Map<number, number>();
  const parts = diffArrays([...from], [...to], { maxEditLength: MAX_EDITS }) ?? [];
  let [f, t] = [0, 0];
  for (const { added, removed, count } of parts) {
    if (!added && !removed) for (let n = 0; n < count; n += 1) map.set(f + n, t + n);
    if (!added) f += count;
    if (!removed) t += count;
  }
  return map;
}

/** Somebody changed the text elsewhere: a hunk is where its lines and a neighbour still stand together. */
function placeByNeighbours(
  file: FileHunks,
  hunk: Hunk,
  current: readonly string[],
  map: ReadonlyMap<number, number>,
): HunkPlace {
  const { afterStart, after } = hunk;
  const afterEnd = afterStart + after.length;
  const above = afterStart === 0 ? -1 : map.get(afterStart - 1);
  const below = afterEnd === file.afterLines.length ? current.length : map.get(afterEnd);
  const line = after.length > 0 ? map.get(afterStart) : above === undefined ? undefined : above + 1;
  if (line === undefined) return { state: 'changed' };
  const isWhole = after.every((_, index) => map.get(afterStart + index) === line + index);
  const touchesAbove = above === line - 1;
  const touchesBelow = below === line + after.length;
  const isSure = after.length > 0 ? touchesAbove || touchesBelow : touchesAbove && touchesBelow;
  return isWhole && isSure ? { state: 'applied', line } : { state: 'changed' };
}
