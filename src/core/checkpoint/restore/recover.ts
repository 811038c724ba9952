import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../session/ports.ts';
import { type Entry, same } from '../entry.ts';
import { assertInPlace, presentAt, rootOf, wayTo } from '../present.ts';
import type { Contents } from '../store/contents.ts';
import type { StateStore } from '../store/state-store.ts';
import type { IntentNote } from './intent.ts';
import { stage, temporaryBeside } from './staging.ts';

/** What recovery works with. */
export type RecoveryParts = {
  readonly note: IntentNote;
  readonly states: StateStore;
  readonly contents: Contents;
  readonly roots: readonly string[];
  readonly log: Log;
  /** True if an event tells of the restore whose undo this is: then it was done, and stands. */
  readonly isRecorded: (undo: string) => boolean;
};

/**
 * Takes back a restore that a crash cut in two, or that no event tells of: nobody was told that it happened. A file
 * that somebody changed since is left alone. Never rejects.
 */
export async function recover(parts: RecoveryParts): Promise<void> {
  try {
    const intent = await parts.note.read();
    if (intent === null) return;
    if (parts.isRecorded(intent.undo)) {
      await parts.note.clear();
      return;
    }
    const { entries, left } = await parts.states.load(intent.undo);
    const removedFirst = [...entries].sort(([, one], [, other]) => rank(one) - rank(other));
    for (const [index, [file, entry]] of removedFirst.entries())
      await takeBack(parts, file, entry, left?.get(file) ?? null, index);
    for (const file of intent.temporaries) await rm(file, { force: true });
    await parts.note.clear();
    parts.log.warn('A restore of files that a crash cut was taken back', { files: entries.size });
  } catch (failure) {
    parts.log.error('A restore of files that a crash cut could not be taken back', {
      error: messageOf(failure),
    });
  }
}

function rank(entry: Entry): number {
  return entry === null ? 0 : 1;
}

async function takeBack(
  { roots, contents }: RecoveryParts,
  file: string,
  entry: Entry,
  restored: Entry,
  index: number,
): Promise<void> {
  const root = rootOf(file, roots);
  if (root === null || (await wayTo(file, root)).obstacle !== null) return;
  const now = await presentAt(file, null);
  if (now.blocked !== null || same(now.entry, entry)) return;
  // Between two steps the path may be empty.
  if (now.entry !== null && !same(now.entry, restored)) return;
  if (entry === null) {
    await rm(file, { force: true });
    return;
  }
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true });
  await assertInPlace(folder);
  const temporary = temporaryBeside(folder, 'recovery', index, 'new');
  await rm(temporary, { force: true });
  await stage(entry, temporary, contents);
  await rename(temporary, file);
}
