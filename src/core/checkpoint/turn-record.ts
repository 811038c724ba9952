import { messageOf } from '../../base/errors.ts';
import type { Log } from '../session/ports.ts';
import type { TurnId } from '../session/words.ts';
import type { Entry } from './entry.ts';
import { GitError } from './git/run-git.ts';
import type { ShadowStore } from './git/shadow-store.ts';
import type { Snapshot } from './git/snapshot.ts';
import type { PreImage } from './turn-changes.ts';

/** What a turn that had an effect is remembered by until it ends. */
export class TurnRecord {
  readonly turnId: TurnId;
  readonly preImages = new Map<string, PreImage>();
  readonly befores = new Map<ShadowStore, Snapshot | null>();
  /** Why it is not all known. */
  readonly reasons = new Set<string>();
  readonly #log: Log;

  constructor(turnId: TurnId, log: Log) {
    this.turnId = turnId;
    this.#log = log;
  }

  /** Keeps the first pre-image of a path. */
  take(file: string, entry: Entry, folders: readonly string[], first: boolean): void {
    if (!this.preImages.has(file)) this.preImages.set(file, { entry, folders, first });
  }

  /** A snapshot, or null with the reason noted. */
  async snapshot(
    shadow: ShadowStore,
    kind: 'before' | 'after',
    signal: AbortSignal,
  ): Promise<Snapshot | null> {
    try {
      const snapshot = await shadow.snapshot(kind, signal);
      for (const reason of snapshot.reasons) this.reasons.add(reason);
      return snapshot;
    } catch (failure) {
      this.#note(failure, shadow.root, signal);
      return null;
    }
  }

  #note(failure: unknown, root: string, signal: AbortSignal): void {
    if (signal.aborted) this.reasons.add('It was stopped before the folder was read');
    else if (failure instanceof GitError && failure.code !== 'git.failed')
      this.reasons.add(failure.message);
    else this.reasons.add('The folder could not be read');
    const details = failure instanceof GitError ? failure.data : {};
    this.#log.warn('No snapshot of a folder', { root, error: messageOf(failure), ...details });
  }
}
