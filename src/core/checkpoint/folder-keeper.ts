import { codeOf, messageOf } from '../../base/errors.ts';
import type { CheckpointFiles } from '../session/control-events.ts';
import type { Entry } from './entry.ts';
import { CheckpointError } from './errors.ts';
import type { ShadowStore } from './git/shadow-store.ts';
import type { Snapshot } from './git/snapshot.ts';
import type { StateStore } from './store/state-store.ts';

/** What whole folders are kept with. */
export type FolderKeeperParts = {
  /** Null where git is nowhere. */
  readonly open: () => Promise<readonly ShadowStore[] | null>;
  readonly states: StateStore;
  readonly signal: AbortSignal;
};

/** Keeps whole folders as they are, without a turn. */
export class FolderKeeper {
  readonly #parts: FolderKeeperParts;

  constructor(parts: FolderKeeperParts) {
    this.#parts = parts;
  }

  /** The folders as they are now, by root; their bytes are on disk. Throws `checkpoint.unreadable`. */
  async look(): Promise<ReadonlyMap<string, Snapshot>> {
    const shadows = await this.#parts.open();
    if (shadows === null)
      throw new CheckpointError(
        'checkpoint.unreadable',
        'git was not found, and without it the folder can not be kept whole. Install git, then try again.',
      );
    const seen = new Map<string, Snapshot>();
    for (const shadow of shadows) seen.set(shadow.root, await this.#lookAt(shadow));
    return seen;
  }

  /** Throws `checkpoint.unreadable`. */
  async keep(): Promise<CheckpointFiles> {
    const seen = [...(await this.look()).values()];
    const entries = new Map<string, Entry>(seen.flatMap(({ files }) => [...files]));
    const whole = {
      apart: seen.flatMap(({ apart }) => apart),
      emptyFolders: seen.flatMap(({ emptyFolders }) => emptyFolders),
    };
    const reasons = [...new Set(seen.flatMap((one) => one.reasons))];
    const state = await this.#parts.states.keep({ entries, folders: [], left: null, whole });
    return {
      before: state,
      after: state,
      coverage: reasons.length === 0 ? 'full' : 'partial',
      ...(reasons.length === 0 ? {} : { reason: reasons.join('. ') }),
      changed: [],
    };
  }

  async #lookAt(shadow: ShadowStore): Promise<Snapshot> {
    try {
      return await shadow.snapshot('kept', this.#parts.signal);
    } catch (failure) {
      const known = codeOf(failure);
      const why = known === null || known === 'git.failed' ? 'git failed' : messageOf(failure);
      throw new CheckpointError(
        'checkpoint.unreadable',
        `The folder ${shadow.root} could not be read whole: ${why}. Nothing was changed. Remove the cause, then try again.`,
        { data: { root: shadow.root }, cause: failure },
      );
    }
  }
}
