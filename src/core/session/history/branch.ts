/** One `history_moved`: the event `seq` continues behind event `to` instead of the event before it. */
export type Move = { readonly seq: number; readonly to: number };

/** Events that follow one another, both ends included. */
export type Range = { readonly first: number; readonly last: number };

/** The way from the first event of a history to one of its events; oldest first, neither overlapping nor touching. */
export type Branch = readonly Range[];

/**
 * The branch that ends at event `tip`: each event's parent is the one before it, but a move's parent is its `to`.
 * `moves` are in their order; those after `tip` do not count. Empty for a history without events.
 */
export function branchOf(moves: readonly Move[], tip: number): Branch {
  const ranges: Range[] = [];
  let last = tip;
  for (let index = moves.length - 1; index >= 0 && last > 0; index -= 1) {
    const move = moves[index];
    // A step to the event before is no step aside.
    if (move === undefined || move.seq > last || move.to === move.seq - 1) continue;
    ranges.push({ first: move.seq, last });
    last = move.to;
  }
  if (last > 0) ranges.push({ first: 1, last });
  return ranges.toReversed();
}

/** True if the event is on the branch. */
export function isOn(branch: Branch, seq: number): boolean {
  return branch.some(({ first, last }) => first <= seq && seq <= last);
}

/** The parts of a branch between two events, both exclusive. */
export function between(branch: Branch, after: number, before: number): Branch {
  return branch.flatMap(({ first, last }) => {
    const part = { first: Math.max(first, after + 1), last: Math.min(last, before - 1) };
    return part.first <= part.last ? [part] : [];
  });
}
