import path from 'node:path';
import { type Entry, same } from './entry.ts';
import { Apart, differences, type Snapshot } from './git/snapshot.ts';
import { foldersAbove, rootOf } from './present.ts';

/** A path as it was before a call, and the folders above it that were not there. */
export type PreImage = {
  readonly entry: Entry;
  readonly folders: readonly string[];
  /** Taken together with the turn's snapshot. */
  readonly first: boolean;
};

/** One root at a turn's first effect and at its end; null where there is no snapshot. */
export type RootStates = { readonly before: Snapshot | null; readonly after: Snapshot | null };

/** What is known of a turn. */
export type TurnFacts = {
  readonly roots: ReadonlyMap<string, RootStates>;
  readonly preImages: ReadonlyMap<string, PreImage>;
  /** What the paths of the pre-images hold at the end. */
  readonly present: ReadonlyMap<string, Entry>;
};

/** The paths that a turn changed, and the folders it made. */
export type TurnChanges = {
  readonly before: ReadonlyMap<string, Entry>;
  readonly after: ReadonlyMap<string, Entry>;
  readonly folders: readonly string[];
};

/** Puts snapshots and pre-images together. A snapshot is the elder: calls came after it. */
export function turnChanges(facts: TurnFacts): TurnChanges {
  const before = new Map<string, Entry>();
  const after = new Map<string, Entry>();
  const folders = new Set<string>();
  for (const [root, states] of covered(facts.roots)) {
    const known = knownFolders(states.before, root);
    for (const each of differences(states.before, states.after, path.sep)) {
      if (before.has(each.path)) continue;
      before.set(each.path, each.before);
      after.set(each.path, each.after);
      if (each.before !== null) continue;
      for (const folder of foldersAbove(each.path, root))
        if (!known.has(folder)) folders.add(folder);
    }
  }
  for (const [file, image] of facts.preImages) {
    const then = image.first ? image.entry : beforeIn(facts.roots, file, image.entry);
    const now = facts.present.get(file) ?? null;
    before.delete(file);
    after.delete(file);
    if (same(then, now)) continue;
    before.set(file, then);
    after.set(file, now);
    if (then === null) for (const folder of image.folders) folders.add(folder);
  }
  return { before, after, folders: [...folders] };
}

type Covered = { readonly before: Snapshot; readonly after: Snapshot };

function covered(roots: TurnFacts['roots']): readonly (readonly [string, Covered])[] {
  return [...roots].flatMap(([root, { before, after }]) =>
    before === null || after === null ? [] : [[root, { before, after }] as const],
  );
}

/** What a path held at the turn's first effect; `image` where no snapshot knows. */
function beforeIn(roots: TurnFacts['roots'], file: string, image: Entry): Entry {
  const root = rootOf(file, [...roots.keys()]);
  const snapshot = root === null ? null : (roots.get(root)?.before ?? null);
  if (snapshot === null) return image;
  const inGit = file.split(path.sep).includes('.git');
  if (inGit || new Apart(snapshot.apart, path.sep).has(file)) return image;
  return snapshot.files.get(file) ?? null;
}

/** Every folder of a root that was there, with all above it. */
export function knownFolders(
  snapshot: Pick<Snapshot, 'emptyFolders' | 'apart'> & {
    readonly files: ReadonlyMap<string, unknown>;
  },
  root: string,
): ReadonlySet<string> {
  const known = new Set<string>(snapshot.emptyFolders);
  const add = (start: string): void => {
    for (let folder = start; folder !== root && !known.has(folder); folder = path.dirname(folder)) {
      if (folder === path.dirname(folder)) break;
      known.add(folder);
    }
  };
  for (const file of snapshot.files.keys()) add(path.dirname(file));
  for (const each of snapshot.emptyFolders) add(path.dirname(each));
  for (const each of snapshot.apart) {
    const plain = each.endsWith(path.sep) ? each.slice(0, -path.sep.length) : each;
    if (plain !== each) known.add(plain);
    add(path.dirname(plain));
  }
  return known;
}
