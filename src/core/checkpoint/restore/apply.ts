import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { CheckpointError, failedWith } from '../errors.ts';
import { assertInPlace, isStill, presentAt, type Seen, wayTo } from '../present.ts';
import type { Contents } from '../store/contents.ts';
import { syncFolder } from '../store/durable.ts';
import type { Item } from './examine.ts';
import { lastingFolder, stage, temporaryBeside } from './staging.ts';

/** One path with the names that it needs while it is put back. */
type Step = Item & { readonly staged: string; readonly aside: string };

/** A restore whose names are chosen and that has touched nothing. */
export type Prepared = {
  readonly steps: readonly Step[];
  readonly folders: readonly string[];
  readonly temporaries: readonly string[];
};

/** Chooses names. `folders` go when they are empty. */
export async function prepare(
  items: readonly Item[],
  folders: readonly string[],
): Promise<Prepared> {
  const token = randomBytes(8).toString('hex');
  const going = new Set(folders);
  const steps: Step[] = [];
  for (const [index, item] of items.entries()) {
    const place = await lastingFolder(item.path, item.root, (folder) => going.has(folder));
    steps.push({
      ...item,
      staged: temporaryBeside(place, token, index, 'new'),
      aside: temporaryBeside(place, token, index, 'old'),
    });
  }
  const temporaries = steps.flatMap(({ staged, aside }) => [staged, aside]);
  return { steps, folders: deepestFirst(folders), temporaries };
}

/**
 * Puts all of it back, or throws `checkpoint.restore_failed` with every file as it was. Everything is written beside
 * its place first, so that a full disk is met before anything changed.
 */
export async function apply(prepared: Prepared, contents: Contents): Promise<void> {
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const { target, staged } of prepared.steps)
      if (target !== null) await stage(target, staged, contents);
    const removals = prepared.steps.filter(({ target }) => target === null);
    for (const step of deepestFirst(removals, ({ path: file }) => file)) await remove(step, undo);
    for (const folder of prepared.folders) await removeFolder(folder, undo);
    for (const step of prepared.steps) if (step.target !== null) await put(step, undo);
    await makeDurable(prepared.steps);
    await assertRestored(prepared.steps);
  } catch (failure) {
    await takeBack(undo, prepared, failure);
  }
  await forget(prepared.temporaries);
}

/** What was put back is read again: it counts as restored only if it is there. */
async function assertRestored(steps: readonly Step[]): Promise<void> {
  for (const { path: file, root, target } of steps) {
    // What lies behind a link or a file that was put back is not there any more.
    if (target === null && (await wayTo(file, root)).obstacle !== null) continue;
    const { entry, blocked } = await presentAt(file, null);
    const isSame = entry?.kind === target?.kind && entry?.content === target?.content;
    // A folder may have come back where a file goes.
    if (isSame && (blocked === null || target === null)) continue;
    throw new CheckpointError(
      'checkpoint.restore_failed',
      `${file} did not hold what was put back when it was read again, so every file was taken back to what it held before. Check the disk, then try again.`,
      { data: { path: file } },
    );
  }
}

async function remove(step: Step, undo: (() => Promise<void>)[]): Promise<void> {
  if (step.now.entry === null) return;
  await assertInPlace(path.dirname(step.path));
  await assertUntouched(step.path, step.now);
  await rename(step.path, step.aside);
  undo.push(() => rename(step.aside, step.path));
}

async function removeFolder(folder: string, undo: (() => Promise<void>)[]): Promise<void> {
  try {
    const { mode } = await lstat(folder);
    await rmdir(folder);
    undo.push(async () => {
      await mkdir(folder, { mode: mode & 0o7777 });
    });
  } catch (failure) {
    // Somebody keeps something in it, or it is gone or something else by now.
    if (!failedWith(failure, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw failure;
  }
}

async function put(step: Step, undo: (() => Promise<void>)[]): Promise<void> {
  const folder = path.dirname(step.path);
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) undo.push(() => removeMade(folder, made));
  await assertInPlace(folder);
  const { now } = step;
  await assertUntouched(step.path, now.blocked === 'folder' ? { ...now, stamp: '' } : now);
  if (now.entry === null) {
    await rename(step.staged, step.path);
    undo.push(() => rm(step.path, { force: true }));
    return;
  }
  await setAside(step, now.entry.kind);
  undo.push(() => rename(step.aside, step.path));
  await rename(step.staged, step.path);
}

/** A second name for the file keeps the path whole for readers; where that can't be, it is moved. */
async function setAside({ path: file, aside }: Step, kind: 'file' | 'link'): Promise<void> {
  if (kind === 'file')
    try {
      await link(file, aside);
      return;
    } catch (failure) {
      if (!failedWith(failure, 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'))
        throw failure;
    }
  await rename(file, aside);
}

async function removeMade(folder: string, topmost: string): Promise<void> {
  for (let each = folder; each.length >= topmost.length; each = path.dirname(each))
    await rmdir(each);
}

async function assertUntouched(file: string, seen: Seen): Promise<void> {
  if (await isStill(file, seen)) return;
  throw new CheckpointError(
    'checkpoint.restore_failed',
    `${file} changed while files were put back. Nothing was changed; try again.`,
  );
}

async function makeDurable(steps: readonly Step[]): Promise<void> {
  for (const folder of new Set(steps.map(({ path: file }) => path.dirname(file))))
    try {
      await syncFolder(folder);
    } catch (failure) {
      // It was removed, or may be written and not read.
      if (!failedWith(failure, 'ENOENT', 'ENOTDIR', 'EACCES')) throw failure;
    }
}

async function takeBack(
  undo: readonly (() => Promise<void>)[],
  { temporaries }: Prepared,
  failure: unknown,
): Promise<never> {
  const problems: string[] = [];
  for (const step of [...undo].reverse())
    await step().catch((problem: unknown) => problems.push(messageOf(problem)));
  if (problems.length > 0)
    throw new CheckpointError(
      'checkpoint.half_restored',
      `Files could not be put back (${messageOf(failure)}), and some are not as they were before: ${problems.join('; ')}. What they held is kept beside them in files named .pilothouse-*.tmp.`,
      { cause: failure },
    );
  await forget(temporaries);
  if (codeOf(failure) === 'checkpoint.restore_failed') throw failure;
  throw new CheckpointError(
    'checkpoint.restore_failed',
    `Files could not be put back: ${messageOf(failure)}. Nothing was changed. Remove the cause and try again.`,
    { cause: failure },
  );
}

async function forget(temporaries: readonly string[]): Promise<void> {
  await Promise.all(temporaries.map((file) => rm(file, { force: true }).catch(() => undefined)));
}

function deepestFirst(folders: readonly string[]): readonly string[];
function deepestFirst<T>(items: readonly T[], pathOf: (item: T) => string): readonly T[];
function deepestFirst<T>(items: readonly T[], pathOf?: (item: T) => string): readonly T[] {
  const key = (item: T): string => pathOf?.(item) ?? String(item);
  return [...items].sort((one, other) => key(other).length - key(one).length);
}
