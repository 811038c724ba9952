import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Branch,
  between,
  branchOf,
  isOn,
  type Move,
} from '../../../../../src/core/session/history/branch.ts';

/** Event by event, as the definition says. */
function walked(moves: readonly Move[], tip: number): number[] {
  const targets = new Map(moves.map(({ seq, to }) => [seq, to]));
  const events: number[] = [];
  for (let event = tip; event > 0; event = targets.get(event) ?? event - 1) events.push(event);
  return events.reverse();
}

const events = (branch: Branch): number[] =>
  branch.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );

/** Moves of a history of some length, each to an event before it. */
const histories = fc.integer({ min: 1, max: 30 }).chain((length) =>
  fc.record({
    length: fc.constant(length),
    moves: fc
      .subarray(Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 2))
      .chain((seqs) =>
        fc.tuple(
          ...seqs.map((seq) =>
            fc.record({ seq: fc.constant(seq), to: fc.integer({ min: 1, max: seq - 1 }) }),
          ),
        ),
      )
      .map((moves): readonly Move[] => moves),
  }),
);

describe('branches', () => {
  test('are what a walk from parent to parent finds, at every event', () => {
    fc.assert(
      fc.property(histories, ({ length, moves }) => {
        for (let tip = 0; tip <= length; tip += 1) {
          const branch = branchOf(moves, tip);
          const expected = walked(moves, tip);
          expect(events(branch)).toEqual(expected);
          const numbers = Array.from({ length }, (_, index) => index + 1);
          expect(numbers.filter((event) => isOn(branch, event))).toEqual(expected);
        }
      }),
    );
  });

  test('have ranges that neither touch nor overlap', () => {
    fc.assert(
      fc.property(histories, ({ length, moves }) => {
        const branch = branchOf(moves, length);
        for (const [index, { first, last }] of branch.entries()) {
          expect(first).toBeLessThanOrEqual(last);
          const before = branch[index - 1];
          if (before !== undefined) expect(first).toBeGreaterThan(before.last + 1);
        }
      }),
    );
  });

  test('can be cut between two events', () => {
    fc.assert(
      fc.property(histories, fc.nat(62), fc.nat(62), ({ length, moves }, after, before) => {
        expect(events(between(branchOf(moves, length), after, before))).toEqual(
          walked(moves, length).filter((event) => event > after && event < before),
        );
      }),
    );
  });

  test('a rollback, a redo and a new turn read as one would expect', () => {
    expect(branchOf([], 0)).toEqual([]);
    expect(branchOf([], 9)).toEqual([{ first: 1, last: 9 }]);
    const rolledBack: Move[] = [{ seq: 10, to: 4 }];
    expect(branchOf(rolledBack, 10)).toEqual([
      { first: 1, last: 4 },
      { first: 10, last: 10 },
    ]);
    expect(branchOf(rolledBack, 9)).toEqual([{ first: 1, last: 9 }]);
    const redone: Move[] = [...rolledBack, { seq: 11, to: 9 }];
    expect(branchOf(redone, 15)).toEqual([
      { first: 1, last: 9 },
      { first: 11, last: 15 },
    ]);
  });
});
