import { codeOf, messageOf } from '../../../base/errors.ts';
import type { RestorePlan, RestoreTarget } from '../../session/checkpoints.ts';
import type { RestoredFiles } from '../../session/control-events.ts';
import { changeOf, type Entry } from '../entry.ts';
import { CheckpointError } from '../errors.ts';
import type { Snapshot } from '../git/snapshot.ts';
import { presentAt, rootOf, wayTo } from '../present.ts';
import type { CallLog } from '../store/call-log.ts';
import type { Contents } from '../store/contents.ts';
import type { StateStore } from '../store/state-store.ts';
import { apply, prepare } from './apply.ts';
import { type Examined, examine, select } from './examine.ts';
import { type Goals, goalsOfTurns, goalsOfUndo, statesOf } from './goals.ts';
import type { IntentNote } from './intent.ts';
import { goalsOfKept } from './kept-goals.ts';

/** What a restorer works with. */
export type RestorerParts = {
  readonly roots: readonly string[];
  /** The folders as they are now, by root. Throws `checkpoint.unreadable`. */
  readonly look: () => Promise<ReadonlyMap<string, Snapshot>>;
  readonly states: StateStore;
  readonly calls: CallLog;
  readonly contents: Contents;
  readonly note: IntentNote;
};

/** Says what putting files back would do, and does it. One call at a time. */
export class Restorer {
  readonly #parts: RestorerParts;
  #isNoted = false;

  constructor(parts: RestorerParts) {
    this.#parts = parts;
  }

  /** Throws `checkpoint.unknown`. A file that can't be put back counts as changed since. */
  async plan(target: RestoreTarget): Promise<RestorePlan> {
    const goals = await this.#goals(target);
    const { items, refused } = await examine(goals, this.#parts.roots);
    const files = items.map(({ path: file, now, target: to, changedSince }) => ({
      path: file,
      change: changeOf(now.blocked === null ? now.entry : null, to),
      changedSince,
      binary: now.entry?.binary === true || to?.binary === true,
    }));
    const stuck = refused.map(({ path: file }) => {
      const to = goals.target.get(file) ?? null;
      const change = to === null ? ('deleted' as const) : ('modified' as const);
      return { path: file, change, changedSince: true, binary: to?.binary === true };
    });
    return {
      files: [...files, ...stuck].sort((one, other) => (one.path < other.path ? -1 : 1)),
      coverage: goals.coverage,
      ...(goals.reason === null ? {} : { reason: goals.reason }),
    };
  }

  /** Throws `checkpoint.unknown` and `checkpoint.restore_failed`. */
  async restore(
    target: RestoreTarget,
    overwrite: 'all' | readonly string[],
  ): Promise<RestoredFiles> {
    const { roots, contents, states, note, calls } = this.#parts;
    const goals = await this.#goals(target);
    const { items, refused, left, undo, prepared } = await untouched(async () => {
      const selected = await select(await examine(goals, roots), goals, overwrite);
      const { items } = selected;
      await contents.fetch(items.flatMap(({ target: to }) => (to === null ? [] : [to.content])));
      const left = new Map(items.map(({ path: file, target: to }) => [file, to]));
      const undo = await states.keep({
        entries: await this.#keepPresent(items),
        folders: await this.#missingFolders(items),
        left,
      });
      const prepared = await prepare(items, goals.folders);
      await note.write({ undo, temporaries: [...prepared.temporaries] });
      return { ...selected, left, undo, prepared };
    });
    try {
      await apply(prepared, contents);
    } catch (failure) {
      // What could not be taken back is tried again when the session is opened next.
      if (codeOf(failure) !== 'checkpoint.half_restored') await note.clear();
      throw failure;
    }
    this.#isNoted = true;
    await calls.keepLeft(left);
    return { undo, restored: items.map(({ path: file }) => file).sort(), skipped: refused };
  }

  /** The newest restore stands: a restart does not take it back any more. */
  async settle(): Promise<void> {
    if (!this.#isNoted) return;
    this.#isNoted = false;
    await this.#parts.note.clear();
  }

  /** Null where there is no file. Throws `checkpoint.unknown` for a path that is not part of the target. */
  async read(
    target: RestoreTarget,
    file: string,
    side: 'now' | 'then',
  ): Promise<Uint8Array | null> {
    const { roots, contents } = this.#parts;
    const goals = await this.#goals(target);
    const entry = goals.target.get(file);
    const root = rootOf(file, roots);
    if (entry === undefined || root === null)
      throw new CheckpointError(
        'checkpoint.unknown',
        `${file} is not one of the files that would be put back.`,
      );
    if (side === 'then') return entry === null ? null : contents.bytes(entry.content);
    if ((await wayTo(file, root)).obstacle !== null) return null;
    const now = (await presentAt(file, contents.blobs)).entry;
    return now === null ? null : contents.bytes(now.content);
  }

  async #goals(target: RestoreTarget): Promise<Goals> {
    const { states } = this.#parts;
    switch (target.kind) {
      case 'turns':
        return goalsOfTurns(target.turns, states);
      case 'undo':
        return goalsOfUndo(await states.load(target.undo));
      case 'kept':
        return this.#goalsOfKept(target);
      case 'call':
        return this.#goalsOfCall(target);
    }
  }

  async #goalsOfKept({ files, turns }: TargetOf<'kept'>): Promise<Goals> {
    const { states, calls, contents, look } = this.#parts;
    const goals = await goalsOfKept({
      files,
      state: await states.load(files.after),
      now: await look(),
      turns: await statesOf(turns, states),
      leftAt: (file) => calls.left(file),
    });
    return { ...goals, target: await contents.withKinds(goals.target) };
  }

  async #goalsOfCall(target: TargetOf<'call'>): Promise<Goals> {
    const { calls } = this.#parts;
    const before = await calls.before(target.toolCallId);
    if (before === null)
      throw new CheckpointError(
        'checkpoint.unknown',
        'This tool call wrote no file that is kept, so there is nothing to put back.',
      );
    const { paths } = target;
    const entries = new Map(
      [...before.entries].filter(([file]) => paths === undefined || paths.includes(file)),
    );
    const left = new Map<string, Entry>();
    for (const file of entries.keys()) {
      const entry = await calls.left(file);
      if (entry !== undefined) left.set(file, entry);
    }
    const { folders } = before;
    const disputed = new Set<string>();
    return { target: entries, left, disputed, folders, coverage: 'full', reason: null };
  }

  async #keepPresent(items: Examined['items']): Promise<ReadonlyMap<string, Entry>> {
    const kept = new Map<string, Entry>();
    for (const { path: file, now } of items) {
      if (now.entry === null) {
        kept.set(file, null);
        continue;
      }
      // What is kept for the undo is what was looked at: a difference is noticed before the file is replaced.
      kept.set(file, (await presentAt(file, this.#parts.contents.blobs)).entry);
    }
    return kept;
  }

  async #missingFolders(items: Examined['items']): Promise<readonly string[]> {
    const missing = new Set<string>();
    for (const { path: file, root, target } of items)
      if (target !== null)
        for (const folder of (await wayTo(file, root)).missing) missing.add(folder);
    return [...missing];
  }
}

type TargetOf<K extends RestoreTarget['kind']> = Extract<RestoreTarget, { kind: K }>;

/** Work that only looks, and writes into the data folder: what stops it, as a full disk, has changed no file. */
async function untouched<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    if (failure instanceof CheckpointError) throw failure;
    throw new CheckpointError(
      'checkpoint.restore_failed',
      `What is needed to put files back could not be read or kept: ${messageOf(failure)}. Nothing was changed. Remove the cause and try again.`,
      { cause: failure },
    );
  }
}
