import { type LineEnds, lineEndsOf } from './line-ends.ts';

/** What became of a replacement. Lines are 1-based. */
export type Replacement =
  | { readonly ok: true; readonly text: string; readonly lines: readonly number[] }
  | { readonly ok: false; readonly why: 'same' | 'empty' | 'missing' }
  | { readonly ok: false; readonly why: 'ambiguous'; readonly lines: readonly number[] };

/**
 * Replaces `oldText` by `newText` in `text`. Line ends of the two arguments do not matter: LF matches CRLF, and what is
 * put in takes the line ends of its surroundings. Everything outside the part that really differs stays byte for byte.
 */
export function replaceText(
  text: string,
  oldText: string,
  newText: string,
  all: boolean,
): Replacement {
  const wanted = plain(oldText);
  const wished = plain(newText);
  if (wanted === '') return { ok: false, why: 'empty' };
  if (wanted === wished) return { ok: false, why: 'same' };
  const source = plainWithOffsets(text);
  const found = findAll(source.plain, wanted);
  const lines = linesAt(source.plain, found);
  if (found.length === 0) return { ok: false, why: 'missing' };
  if (found.length > 1 && !all) return { ok: false, why: 'ambiguous', lines };
  const core = changedCore(wanted, wished);
  const ends = lineEndsOf(text);
  let result = '';
  let from = 0;
  for (const at of found) {
    const start = source.offsetOf(at + core.start);
    const end = source.offsetOf(at + core.start + core.removed);
    result += text.slice(from, start) + ended(core.added, text, start, ends);
    from = end;
  }
  return { ok: true, text: result + text.slice(from), lines };
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

/** The text with LF only, and where each of its characters is in the original. */
function plainWithOffsets(text: string): { plain: string; offsetOf(index: number): number } {
  if (!text.includes('\r\n')) return { plain: text, offsetOf: (index) => index };
  const breaks: number[] = [];
  let removed = 0;
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    breaks.push(at - removed);
    removed += 1;
  }
  return {
    plain: text.replaceAll('\r\n', '\n'),
    // Before the LF at `breaks[i]` exactly `i` carriage returns were taken out.
    offsetOf: (index) => index + lowerBound(breaks, index),
  };
}

/** How many of the sorted numbers are smaller than `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function findAll(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    found.push(at);
  return found;
}

/** The 1-based lines of ascending positions. */
function linesAt(text: string, positions: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return positions.map((position) => {
    for (
      let at = text.indexOf('\n', from);
      at !== -1 && at < position;
      at = text.indexOf('\n', from)
    ) {
      line += 1;
      from = at + 1;
    }
    return line;
  });
}

function changedCore(
  before: string,
  after: string,
): { start: number; removed: number; added: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let tail = 0;
  while (
    tail < shorter - start &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1;
  return {
    start,
    removed: before.length - start - tail,
    added: after.slice(start, after.length - tail),
  };
}

function ended(added: string, text: string, at: number, ends: LineEnds): string {
  if (!added.includes('\n') || ends === '\n' || ends === 'none') return added;
  const next = text.indexOf('\n', at);
  const near = next === -1 ? text.lastIndexOf('\n', at - 1) : next;
  return text[near - 1] === '\r' ? added.replaceAll('\n', '\r\n') : added;
}
