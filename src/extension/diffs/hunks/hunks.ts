import { diffArrays } from 'diff';
import { linesOf } from './lines.ts';

/** One place where two texts differ. Line numbers are 0-based; texts are without line ends. */
export type Hunk = {
  /** The same as long as what it says is the same, wherever in the file it stands. */
  readonly id: string;
  readonly beforeStart: number;
  readonly before: readonly string[];
  readonly afterStart: number;
  readonly after: readonly string[];
};

/** A change of a file with its hunks in order. */
export type FileHunks = {
  readonly beforeLines: readonly string[];
  readonly afterLines: readonly string[];
  readonly hunks: readonly Hunk[];
};

/** Past this many changed lines the whole changed range counts as one hunk: an exact diff would take too long. */
const MAX_EDITS = 1_500;

/** Where two texts differ, line by line. Differences in line ends alone are none. */
export function hunksOf(before: string, after: string): FileHunks {
  const beforeLines = linesOf(before);
  const afterLines = linesOf(after);
  const ids = new HunkIds();
  const hunks = rangesOf(beforeLines, afterLines).map(([bs, be, as, ae]) => {
    const removed = beforeLines.slice(bs, be);
    const added = afterLines.slice(as, ae);
    return {
      id: ids.next(removed, added),
      beforeStart: bs,
      before: removed,
      afterStart: as,
      after: added,
    };
  });
  return { beforeLines, afterLines, hunks };
}

/** `[beforeStart, beforeEnd, afterStart, afterEnd]` of each difference. */
type Ranges = [number, number, number, number][];

function rangesOf(before: readonly string[], after: readonly string[]): Ranges {
  const parts = diffArrays([...before], [...after], { maxEditLength: MAX_EDITS });
  if (!parts) return coarseRange(before, after);
  const ranges: Ranges = [];
  let [b, a] = [0, 0];
  let open: Ranges[number] | null = null;
  for (const { added, removed, count } of parts) {
    if (!added && !removed) {
      open = null;
      b += count;
      a += count;
      continue;
    }
    if (!open) {
      open = [b, b, a, a];
      ranges.push(open);
    }
    if (removed) b += count;
    else a += count;
    open[1] = b;
    open[3] = a;
  }
  return ranges;
}

function coarseRange(before: readonly string[], after: readonly string[]): Ranges {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return [[head, before.length - tail, head, after.length - tail]];
}

/** Ids by content; equal hunks of one file are counted. */
class HunkIds {
  readonly #seen = new Map<string, number>();

  next(before: readonly string[], after: readonly string[]): string {
    const name = hash(JSON.stringify([before, after]));
    const count = this.#seen.get(name) ?? 0;
    this.#seen.set(name, count + 1);
    return count === 0 ? name : `${name}.${count}`;
  }
}

/** FNV-1a in two halves: it tells the hunks of a file apart, and nothing more is asked of it. */
function hash(text: string): string {
  let low = 0x811c9dc5;
  let high = 0xcbf29ce4;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low & 0xffff), 0x01000193);
  }
  return [low, high].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
