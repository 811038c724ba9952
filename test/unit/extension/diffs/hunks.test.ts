import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FileHunks, hunksOf } from '../../../../src/extension/diffs/hunks/hunks.ts';
import { applyLineEdit, lineEndOf, linesOf } from '../../../../src/extension/diffs/hunks/lines.ts';
import { locateHunks, undoHunk } from '../../../../src/extension/diffs/hunks/locate.ts';

/** Few different lines, so that repeats and ambiguous places are common. */
const lines = fc.array(fc.constantFrom('', 'a', 'b', '}', 'c'), { maxLength: 12 });
const eol = fc.constantFrom('\n', '\r\n');
const text = fc
  .tuple(lines, eol, fc.boolean(), fc.boolean())
  .map(([parts, end, final, bom]) => `${bom ? '\uFEFF' : ''}${parts.join(end)}${final ? end : ''}`);

function undo(file: FileHunks, index: number, current: readonly string[]): string[] | null {
  const hunk = file.hunks[index];
  const result = hunk ? undoHunk(file, hunk, current) : null;
  if (result?.kind === 'undone') return [...current];
  return result?.kind === 'edit' ? applyLineEdit(current, result.edit) : null;
}

describe('undoing hunks', () => {
  it('restores the original in whatever order all hunks are undone', () => {
    fc.assert(
      fc.property(text, text, fc.infiniteStream(fc.nat()), (before, after, random) => {
        const file = hunksOf(before, after);
        const left = file.hunks.map((_, index) => index);
        let current: string[] | null = linesOf(after);
        while (left.length > 0 && current) {
          const [index] = left.splice(Number(random.next().value) % left.length, 1);
          current = undo(file, index ?? 0, current);
        }
        expect(current).toEqual(linesOf(before));
      }),
      { numRuns: 3_000 },
    );
  });

  it('takes back its own lines only, whatever somebody wrote elsewhere', () => {
    const unique = fc
      .integer({ min: 6, max: 14 })
      .map((length) => Array.from({ length }, (_, index) => `line ${index}`));
    fc.assert(
      fc.property(unique, fc.nat(), fc.nat(), (original, at, insertAt) => {
        const changed = (at % (original.length - 4)) + 2;
        const after = original.toSpliced(changed, 1, 'written by the session');
        const file = hunksOf(original.join('\n'), after.join('\n'));
        // Two lines away at least: what touches the hunk is the next test's.
        const far = [...original.keys()].filter((line) => line < changed - 1 || line > changed + 2);
        const place = far[insertAt % far.length] ?? 0;
        const current = after.toSpliced(place, 0, 'written by a person');
        expect(undo(file, 0, current)).toEqual(original.toSpliced(place, 0, 'written by a person'));
      }),
    );
  });

  it('refuses where somebody changed the lines since', () => {
    const file = hunksOf('a\nb\nc\n', 'a\nB1\nB2\nc\n');
    expect(undo(file, 0, linesOf('a\nB1 by me\nB2\nc\n'))).toBeNull();
    expect(undo(file, 0, linesOf('a\nB1\nme\nB2\nc\n'))).toBeNull();
    expect(undo(file, 0, linesOf('a\nB1\nc\n'))).toBeNull();
    expect(undo(file, 0, linesOf('something else'))).toBeNull();
    expect(undo(file, 0, linesOf('a\nB1\nB2\nc\n'))).toEqual(linesOf('a\nb\nc\n'));
  });

  it('refuses to bring deleted lines back where somebody wrote in their place', () => {
    const file = hunksOf('a\nb\nc\n', 'a\nc\n');
    expect(undo(file, 0, linesOf('a\nmine\nc\n'))).toBeNull();
    expect(undo(file, 0, linesOf('top\na\nc\n'))).toEqual(linesOf('top\na\nb\nc\n'));
  });

  it('knows what is undone already', () => {
    const file = hunksOf('a\nb\nc\nd\ne', 'A\nb\nc\nd\nE');
    expect(locateHunks(file, linesOf('a\nb\nc\nd\nE'))).toEqual([
      { state: 'undone', line: 0 },
      { state: 'applied', line: 4 },
    ]);
    expect(locateHunks(file, linesOf('A\nb\nmine\nc\nd\nx'))).toEqual([
      { state: 'applied', line: 0 },
      { state: 'changed' },
    ]);
  });

  it('sees a line end at the end of the file as a line', () => {
    const file = hunksOf('a', 'a\n');
    expect(undo(file, 0, linesOf('a\n'))).toEqual(['a']);
    const other = hunksOf('a\n', 'a');
    expect(undo(other, 0, linesOf('a'))).toEqual(['a', '']);
  });

  it('sees no difference in line ends and marks alone', () => {
    expect(hunksOf('\uFEFFa\r\nb\r\n', 'a\nb\n').hunks).toEqual([]);
    expect([lineEndOf('a\r\nb\r\nc\n'), lineEndOf('a\nb'), lineEndOf('a')]).toEqual([
      '\r\n',
      '\n',
      null,
    ]);
  });

  it('undoes a change too large to compare line by line as one', () => {
    const make = (mark: string) => Array.from({ length: 20_000 }, (_, n) => `${mark}${n}`);
    const before = ['head', ...make('a'), 'tail'];
    const after = ['head', ...make('b'), 'tail'];
    const file = hunksOf(before.join('\n'), after.join('\n'));
    expect(file.hunks.map((hunk) => [hunk.beforeStart, hunk.before.length])).toEqual([[1, 20_000]]);
    expect(undo(file, 0, after)).toEqual(before);
  });
});

describe('ids of hunks', () => {
  it('stay when something else in the file changes, and tell equal hunks apart', () => {
    const one = hunksOf('x\na\ny\na\nz', 'x\nb\ny\nb\nz').hunks.map(({ id }) => id);
    expect(new Set(one).size).toBe(2);
    const two = hunksOf('top\nx\na\ny\na\nz', 'TOP\nx\nb\ny\nb\nz').hunks.map(({ id }) => id);
    expect(two.slice(1)).toEqual(one);
  });
});
