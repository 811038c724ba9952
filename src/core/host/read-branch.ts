import type { HistoryEvent, Stored } from '../session/events.ts';
import { type Branch, between } from '../session/history/branch.ts';
import type { HistoryRange } from '../session/ports.ts';

/** Which part of a history a door asks for. */
export type HistoryQuery = HistoryRange & {
  /** True for everything that ever happened; else one branch. */
  readonly all?: boolean;
  /** The branch that ends with this event; missing means the current one. */
  readonly tip?: number;
};

type Records = readonly Stored<HistoryEvent>[];

/** The part of a branch that a range names; ids, limit and order mean the same as for a whole history. */
export async function readBranch(
  branch: Branch,
  range: HistoryRange,
  read: (range: HistoryRange) => Promise<Records>,
): Promise<Records> {
  const { after = 0, before = Number.MAX_SAFE_INTEGER, limit, newestFirst } = range;
  const parts = between(branch, after, before);
  const ordered = newestFirst === true ? parts.toReversed() : parts;
  const found: Stored<HistoryEvent>[] = [];
  for (const { first, last } of ordered) {
    const left = limit - found.length;
    if (left <= 0) break;
    const count = Math.min(left, last - first + 1);
    // One that ends the range by itself leaves out `before`, as a plain read forward does.
    const page =
      newestFirst === true
        ? await read({ after: first - 1, before: last + 1, limit: count, newestFirst })
        : await read({ after: first - 1, limit: count });
    found.push(...page);
  }
  return found;
}
