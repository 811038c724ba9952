import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { composed } from '../../../../src/extension/diffs/hunks/compose.ts';
import { hunksOf } from '../../../../src/extension/diffs/hunks/hunks.ts';
import {
  discardHunk,
  hunkAt,
  hunksIn,
  keepHunk,
  stagedFile,
} from '../../../../src/extension/staged/staged-file.ts';
import type { StagedChange } from '../../../../src/protocol/listed-shapes.ts';

const CHANGE: StagedChange = {
  path: '/f',
  state: 'modified',
  addedLines: 0,
  removedLines: 0,
  changedSince: false,
};

const file = (base: string | null, staged: string | null) => stagedFile(CHANGE, { base, staged });

/** Texts with few distinct lines, so that hunks repeat and touch. */
const texts = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '')), fc.constantFrom('\n', '\r\n'))
  .map(([lines, end]) => lines.join(end));

describe('a staged file', () => {
  it('is the staged text with every hunk taken, and the base with none', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const hunks = hunksOf(before, after);
        const all = new Set(hunks.hunks.map(({ id }) => id));
        expect(composed(hunks, before, after, new Set())).toBe(before);
        const lines = (text: string) => text.split(/\r\n|\n/);
        expect(lines(composed(hunks, before, after, all))).toEqual(lines(after));
      }),
    );
  });

  it('keeps one hunk by writing it and nothing else, and leaves the rest staged', () => {
    const base = 'one\r\ntwo\r\nthree\r\nfour\r\n';
    const staged = 'ONE\r\ntwo\r\nthree\r\nFOUR\r\n';
    const one = file(base, staged);
    const [first] = hunksIn(one);
    expect(hunksIn(one)).toHaveLength(2);
    expect(keepHunk(one, first?.id ?? '')).toEqual({
      kind: 'edit',
      disk: 'ONE\r\ntwo\r\nthree\r\nfour\r\n',
      staged,
    });
    expect(discardHunk(one, first?.id ?? '')).toEqual({
      kind: 'edit',
      staged: 'one\r\ntwo\r\nthree\r\nFOUR\r\n',
    });
  });

  it('leads to one end whichever way its hunks are decided', () => {
    fc.assert(
      fc.property(texts, texts, fc.infiniteStream(fc.boolean()), (base, staged, choices) => {
        let disk = base;
        let rest = staged;
        for (let left = 200; left > 0; left -= 1) {
          const one = file(disk, rest);
          const [next] = hunksIn(one);
          if (!next) break;
          const keep = choices.next().value;
          const decision = keep ? keepHunk(one, next.id) : discardHunk(one, next.id);
          const before = hunksIn(one).length;
          if (decision.kind === 'edit') {
            disk = decision.disk ?? disk;
            rest = decision.staged;
          } else {
            expect(decision.kind).toBe('whole');
            if (keep) disk = rest;
            else rest = disk;
          }
          expect(hunksIn(file(disk, rest)).length).toBeLessThanOrEqual(before);
        }
        expect(hunksIn(file(disk, rest))).toEqual([]);
      }),
    );
  });

  it('is decided whole where it is new, gone, or differs in line ends alone', () => {
    expect(hunksIn(file(null, 'text'))).toEqual([]);
    expect(hunksIn(file('text', null))).toEqual([]);
    expect(hunksIn(file('a\nb\n', 'a\r\nb\r\n'))).toEqual([]);
    expect(keepHunk(file(null, 'text'), 'x')).toEqual({ kind: 'unknown' });
  });

  it('finds the change at a line of the staged text, removed lines below them', () => {
    const one = file('a\nb\nc\nd', 'a\nc\nD');
    expect(hunkAt(one, 0)).toBeNull();
    expect(hunkAt(one, 1)).toMatchObject({ before: ['b'], after: [] });
    expect(hunkAt(one, 2)).toMatchObject({ before: ['d'], after: ['D'] });
  });
});
