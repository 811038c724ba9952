import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyLineEdit, linesOf } from '../../../../src/extension/diffs/hunks/lines.ts';
import { KeptChanges } from '../../../../src/extension/diffs/review/kept-changes.ts';
import {
  baselineOf,
  type ReviewFile,
  reviewFile,
} from '../../../../src/extension/diffs/review/review-file.ts';
import { SessionReview } from '../../../../src/extension/diffs/review/session-review.ts';
import { planUndo, type UndoPlan } from '../../../../src/extension/diffs/review/undo-plan.ts';
import type { ChangedFile } from '../../../../src/protocol/listed-shapes.ts';

const NONE = new Set<string>();
const FILE = { path: '/w/a.ts', state: 'modified' } as const;

function look(
  before: string | null,
  after: string | null,
  current = after,
  kept = NONE,
): ReviewFile {
  return reviewFile(FILE, { before, after }, kept, current);
}

function idsOf(file: ReviewFile): string[] {
  return file.pending.map(({ id }) => id);
}

function carryOut(plan: UndoPlan, current: string): string {
  if (plan.kind !== 'edit') throw new Error(plan.kind);
  // Edits are in lines of the text as it was: from the last to the first, none moves another.
  return plan.edits.toReversed().reduce<string[]>(applyLineEdit, linesOf(current)).join('\n');
}

describe('a review of a file', () => {
  it('shrinks by what was kept, and the rest is compared with the text that has it', () => {
    const [before, after] = ['a\nb\nc\nd\ne', 'A\nb\nC\nd\nE'];
    const all = look(before, after);
    expect(baselineOf(all)).toBe(before);
    const kept = new Set([idsOf(all)[1] ?? '']);
    const rest = look(before, after, after, kept);
    expect(rest.pending).toHaveLength(2);
    expect(baselineOf(rest)).toBe('a\nb\nC\nd\ne');
    expect(look(before, after, 'a\nb\nC\nd\nE', kept).pending.map(({ place }) => place)).toEqual([
      { state: 'applied', line: 4 },
    ]);
  });

  it('shows what was kept again once the session has changed it again', () => {
    const kept = new Set(idsOf(look('a\n', 'b\n')));
    expect(look('a\n', 'b\n', 'b\n', kept).pending).toEqual([]);
    expect(look('a\n', 'c\n', 'c\n', kept).pending).toHaveLength(1);
  });

  it('takes a new file back by deleting it and a deleted one by making it, unless somebody changed it', () => {
    const added = look(null, 'new\n');
    expect(planUndo(added, new Set(idsOf(added)), 'new\n')).toEqual({ kind: 'delete' });
    const edited = look(null, 'new\n', 'new and mine\n');
    expect(planUndo(edited, new Set(idsOf(edited)), 'new and mine\n')).toEqual({
      kind: 'refused',
      reason: 'changed',
    });
    const gone = look('old\r\n', null);
    expect(planUndo(gone, new Set(idsOf(gone)), null)).toEqual({ kind: 'create', text: 'old\r\n' });
    expect(look('old\n', null, 'old\n').pending).toEqual([]);
    expect(look(null, 'new\n', null).pending).toEqual([]);
  });

  it('restores line ends where they are all that changed', () => {
    const file = look('a\r\nb\r\n', 'a\nb\n');
    expect(planUndo(file, new Set(idsOf(file)), 'a\nb\n')).toEqual({
      kind: 'edit',
      edits: [],
      lineEnd: '\r\n',
      refused: 0,
    });
  });

  it('restores the original with one plan, whatever the texts', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '', '}'), { maxLength: 10 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const file = look(before, after);
        if (before === after || file.pending.length === 0) return;
        const plan = planUndo(file, new Set(idsOf(file)), after);
        expect(carryOut(plan, after)).toBe(before);
      }),
    );
  });

  it('undoes what it can and says how much it left', () => {
    const current = 'A\nb\nmine\nd\ne';
    const file = look('a\nb\nc\nd\ne', 'A\nb\nC\nd\ne', current);
    const plan = planUndo(file, new Set(idsOf(file)), current);
    expect(plan).toMatchObject({ kind: 'edit', refused: 1 });
    expect(carryOut(plan, current)).toBe('a\nb\nmine\nd\ne');
  });
});

class Bench {
  readonly stored = new Map<string, unknown>();
  files: ChangedFile[] = [{ ...FILE, addedLines: 2, removedLines: 2 }];
  current = 'A\nb\nC';
  lists = 0;
  readonly kept = new KeptChanges({
    get: (key) => this.stored.get(key),
    update: async (key, value) => void this.stored.set(key, structuredClone(value)),
  });

  review(): SessionReview {
    return new SessionReview('s', {
      list: async () => {
        this.lists += 1;
        return this.files;
      },
      text: async (_, __, side) => (side === 'before' ? 'a\nb\nc' : 'A\nb\nC'),
      current: async () => this.current,
      kept: this.kept,
    });
  }
}

describe('a review of a session', () => {
  it('remembers what was kept, and forgets it with the session', async () => {
    const bench = new Bench();
    const review = bench.review();
    await review.refresh();
    const [first] = review.files[0]?.pending ?? [];
    await review.keep(FILE.path, [first?.id ?? '']);
    expect(review.pendingFiles[0]?.pending).toHaveLength(1);
    const later = bench.review();
    await later.refresh();
    await later.keep(FILE.path);
    expect(later.pendingFiles).toEqual([]);
    expect(later.files).toHaveLength(1);
    await bench.kept.forget('s');
    await later.refresh();
    expect(later.pendingFiles).toHaveLength(1);
  });

  it('drops a file whose changes were undone by hand', async () => {
    const bench = new Bench();
    const review = bench.review();
    await review.refresh();
    bench.current = 'a\nb\nc';
    await review.refreshFile(FILE.path);
    expect(review.pendingFiles).toEqual([]);
  });

  it('loads once more for all that was asked while loading', async () => {
    const bench = new Bench();
    const review = bench.review();
    await Promise.all([review.refresh(), review.refresh(), review.refresh()]);
    expect(bench.lists).toBeLessThanOrEqual(2);
  });

  it('takes marks of another shape for none', async () => {
    const bench = new Bench();
    bench.stored.set('keptChanges', { s: 7 });
    expect(bench.kept.of('s', FILE.path).size).toBe(0);
  });
});
