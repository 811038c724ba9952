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
  /** Why the state that it found is not kept as it should be; null if all that can be kept is. */
  lacks: string | null = null;
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

  /** Something that should be kept is not. */
  miss(reason: string): void {
    this.reasons.add(reason);
    this.lacks ??= reason;
  }

  #note(failure: unknown, root: string, signal: AbortSignal): void {
    // Nothing runs any more in a turn that was stopped, so nothing that it found is lost.
    if (signal.aborted) this.reasons.add('It was stopped before the folder was read');
    else if (failure instanceof GitError && failure.code !== 'git.failed')
      this.miss(failure.message);
    else this.miss('The folder could not be read');
    const details = failure instanceof GitError ? failure.data : {};
    this.#log.warn('No snapshot of a folder', { root, error: messageOf(failure), ...details });
  }
}
