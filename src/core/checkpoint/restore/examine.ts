import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type Entry, same } from '../entry.ts';
import { failedWith } from '../errors.ts';
import { presentAt, rootOf, type Seen, type Way, wayTo } from '../present.ts';
import type { Goals } from './goals.ts';

/** A path that is not as it should become. */
export type Item = {
  readonly path: string;
  readonly root: string;
  readonly now: Seen;
  readonly target: Entry;
  readonly changedSince: boolean;
};

/** What a restore has to do, and what it can't. */
export type Examined = {
  readonly items: readonly Item[];
  /** Paths that no wish can put back, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
};

// Words for programs; whoever shows them says what they mean.
export const CHANGED_SINCE = 'changed_since';
const OUTSIDE = 'outside_workspace';
const BEHIND_LINK = 'behind_link';
const FOLDER_IN_THE_WAY = 'folder_in_the_way';
const FILE_IN_THE_WAY = 'file_in_the_way';
const SPECIAL = 'special_file';
const UNREADABLE = 'unreadable';

/** Compares goals with the disk. Changes nothing. */
export async function examine(goals: Goals, roots: readonly string[]): Promise<Examined> {
  const items: Item[] = [];
  const refused: { path: string; reason: string }[] = [];
  const removable = removablePaths(goals);
  for (const [file, target] of goals.target) {
    const root = rootOf(file, roots);
    if (root === null) {
      refused.push({ path: file, reason: OUTSIDE });
      continue;
    }
    const looked = await lookAt(file, root, target, removable, goals.folders);
    if (typeof looked === 'string') refused.push({ path: file, reason: looked });
    else if (looked !== null) {
      const left = goals.left.get(file);
      const changedSince =
        left === undefined || goals.disputed.has(file) || !same(left, looked.entry);
      items.push({ path: file, root, now: looked, target, changedSince });
    }
  }
  return { items, refused };
}

/** What the path holds; null if nothing is to be done; a reason if nothing can be done. */
async function lookAt(
  file: string,
  root: string,
  target: Entry,
  removable: ReadonlySet<string>,
  folders: readonly string[],
): Promise<Seen | string | null> {
  const { obstacle } = await wayTo(file, root);
  const now = obstacle === null ? await seen(file) : behind(obstacle, removable);
  if (now === BEHIND_LINK || now === UNREADABLE) return now;
  // What can't be there any more needs no removal.
  if (typeof now === 'string' || now.blocked !== null) {
    if (target === null) return null;
    if (typeof now === 'string') return now;
    if (now.blocked === 'special') return SPECIAL;
    return (await holdsOnly(file, removable, folders)) ? now : FOLDER_IN_THE_WAY;
  }
  return same(now.entry, target) ? null : now;
}

/** What is reached through a link or a file that goes away is not the file that the session knew. */
function behind(
  obstacle: NonNullable<Way['obstacle']>,
  removable: ReadonlySet<string>,
): Seen | string {
  if (removable.has(obstacle.path)) return absent();
  return obstacle.kind === 'link' ? BEHIND_LINK : FILE_IN_THE_WAY;
}

function absent(): Seen {
  return { entry: null, blocked: null, stamp: '' };
}

async function seen(file: string): Promise<Seen | string> {
  try {
    return await presentAt(file, null);
  } catch (failure) {
    if (failedWith(failure, 'EACCES', 'EPERM')) return UNREADABLE;
    throw failure;
  }
}

function removablePaths(goals: Goals): ReadonlySet<string> {
  return new Set([...goals.target].flatMap(([file, target]) => (target === null ? [file] : [])));
}

/** True if a folder holds nothing but what a restore removes. */
async function holdsOnly(
  folder: string,
  removable: ReadonlySet<string>,
  folders: readonly string[],
): Promise<boolean> {
  if (!folders.includes(folder)) return false;
  for (const each of await readdir(folder, { withFileTypes: true })) {
    const inside = path.join(folder, each.name);
    const goes = each.isDirectory()
      ? await holdsOnly(inside, removable, folders)
      : removable.has(inside);
    if (!goes) return false;
  }
  return true;
}

/** What of a plan is done, given which changed files may be overwritten. */
export async function select(
  { items, refused }: Examined,
  goals: Goals,
  overwrite: 'all' | readonly string[],
): Promise<Examined> {
  const allowed = new Set(overwrite === 'all' ? [] : overwrite);
  const wanted = items.filter(
    (item) => !item.changedSince || overwrite === 'all' || allowed.has(item.path),
  );
  const removed = new Set(
    wanted.flatMap(({ path: file, target }) => (target === null ? [file] : [])),
  );
  const skipped = new Map(refused.map(({ path: file, reason }) => [file, reason]));
  for (const item of items) if (!wanted.includes(item)) skipped.set(item.path, CHANGED_SINCE);
  for (const { path: file, root, now } of wanted) {
    const { obstacle } = await wayTo(file, root);
    if (obstacle !== null && !removed.has(obstacle.path)) skipped.set(file, FILE_IN_THE_WAY);
    if (now.blocked === 'folder' && !(await holdsOnly(file, removed, goals.folders)))
      skipped.set(file, FOLDER_IN_THE_WAY);
  }
  return {
    items: wanted.filter((item) => !skipped.has(item.path)),
    refused: [...skipped].map(([file, reason]) => ({ path: file, reason })),
  };
}
