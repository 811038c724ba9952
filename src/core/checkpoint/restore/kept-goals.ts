import path from 'node:path';
import type { CheckpointFiles } from '../../session/control-events.ts';
import { type Entry, same } from '../entry.ts';
import { Apart, type Snapshot } from '../git/snapshot.ts';
import { foldersAbove } from '../present.ts';
import type { State } from '../store/state-store.ts';
import { knownFolders } from '../turn-changes.ts';
import { combined, type Goals, type TurnStates } from './goals.ts';

/** What is known of whole folders that are to be as they once were. */
export type KeptFacts = {
  readonly files: CheckpointFiles;
  /** The folders as they were kept. */
  readonly state: State;
  /** The folders as they are now, by root. */
  readonly now: ReadonlyMap<string, Snapshot>;
  /** The turns since, oldest first. */
  readonly turns: readonly TurnStates[];
  /** What the session's own tools and restores left at a path last; undefined if they never wrote there. */
  readonly leftAt: (file: string) => Promise<Entry | undefined>;
};

/**
 * Back to whole folders as a person had them kept. What neither the session's turns nor its restores left as it is now
 * was changed by somebody else.
 */
export async function goalsOfKept(facts: KeptFacts): Promise<Goals> {
  const { files, state, now, turns, leftAt } = facts;
  const left = new Map<string, Entry>();
  const turnsLeft = combined(turns).left;
  const { present, target, folders } = comparedWith(state, now);
  for (const [file, entry] of state.entries)
    if (!same(present.get(file) ?? null, entry)) target.set(file, entry);
  for (const file of target.keys()) {
    const current = present.get(file) ?? null;
    const known = [turnsLeft.get(file), await leftAt(file)];
    if (known.some((entry) => entry !== undefined && same(entry, current))) left.set(file, current);
  }
  const { coverage, reason } = files;
  return {
    target,
    left,
    disputed: new Set(),
    folders: [...folders],
    coverage,
    reason: reason ?? null,
  };
}

/** What is there now, and what of it was not there then: files to go, and the folders that came with them. */
function comparedWith(
  state: KeptFacts['state'],
  now: KeptFacts['now'],
): {
  readonly present: Map<string, Entry>;
  readonly target: Map<string, Entry>;
  readonly folders: ReadonlySet<string>;
} {
  const target = new Map<string, Entry>();
  const folders = new Set<string>();
  const { apart = [], emptyFolders = [] } = state.whole ?? {};
  const leftOut = new Apart(apart, path.sep);
  const present = new Map<string, Entry>();
  for (const [root, snapshot] of now) {
    const known = knownFolders({ files: state.entries, apart, emptyFolders }, root);
    for (const [file, held] of snapshot.files) {
      present.set(file, held);
      if (state.entries.has(file) || leftOut.has(file)) continue;
      target.set(file, null);
      for (const folder of foldersAbove(file, root)) if (!known.has(folder)) folders.add(folder);
    }
  }
  return { present, target, folders };
}
