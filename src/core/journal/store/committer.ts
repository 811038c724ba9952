import { HOST_STREAM } from '../../session/ports.ts';
import { JournalError } from '../errors.ts';
import type { Append, Appender, Attempt, Change, ChangeResult } from './appender.ts';
import { faultOf, isDamage, isPassing, mayComeBack } from './sqlite-errors.ts';

/** What came of a group. After a `fault` no change may be tried. */
export type GroupResult = {
  readonly results: readonly ChangeResult[];
  readonly fault: JournalError | null;
};

/** The open database, as far as commits need it. */
export type Committed = {
  readonly appender: Appender;
  /** A new connection in place of one that can't be trusted. Throws if the database can't be opened. */
  reopen(): void;
};

/**
 * Commits groups and finds out what became of those that broke. A commit whose outcome is unknown is read back. What
 * failed for a reason that may pass (a full disk, a folder without write permission) stops only the sessions it hit:
 * what was sent for such a session before its sender knew is refused too, so that no gap is ever left in a stream.
 */
export class Committer {
  readonly #store: Committed;
  readonly #folder: string;
  /** The last failure of each session, and how many a sender has to know of to go on. */
  readonly #stopped = new Map<string, { generation: number; error: JournalError }>();

  constructor(store: Committed, folder: string) {
    this.#store = store;
    this.#folder = folder;
  }

  /** Commits the changes in their order, together if that can be. Nothing of a change that failed is kept. */
  commit(group: readonly Change[]): GroupResult {
    const refusals = group.map((change) => this.#refusal(change));
    const fresh = group.filter((_change, index) => refusals[index] === null);
    const { results, fault } = fresh.length === 0 ? NOTHING : this.#together(fresh);
    const taken = results.values();
    const all = refusals.map((error): ChangeResult => {
      const result = error === null ? taken.next().value : { ok: false as const, error };
      if (result === undefined) throw new TypeError('A group was answered with too few results.');
      return result;
    });
    return { results: all, fault };
  }

  #together(group: readonly Change[]): GroupResult {
    const attempt = this.#store.appender.attempt(group);
    if (attempt.kind === 'committed') return { results: attempt.results, fault: null };
    const found = this.#resolve(group, attempt);
    if (found.kind === 'landed') return { results: found.results, fault: null };
    if (found.kind === 'latched')
      return { results: allFailed(group, found.fault), fault: found.fault };
    if (group.length > 1) return this.#oneByOne(group);
    for (const change of group) this.#stop(change, found.error);
    return { results: allFailed(group, found.error), fault: null };
  }

  /** What one of them could not do, the others may. */
  #oneByOne(group: readonly Change[]): GroupResult {
    const results: ChangeResult[] = [];
    for (const [index, change] of group.entries()) {
      const refusal = this.#refusal(change);
      if (refusal !== null) {
        results.push({ ok: false, error: refusal });
        continue;
      }
      const single = this.#together([change]);
      results.push(...single.results);
      if (single.fault === null) continue;
      results.push(...allFailed(group.slice(index + 1), single.fault));
      return { results, fault: single.fault };
    }
    return { results, fault: null };
  }

  #resolve(group: readonly Change[], attempt: Exclude<Attempt, { kind: 'committed' }>): Resolution {
    const error = faultOf(attempt.error, this.#folder);
    if (isDamage(attempt.error)) return { kind: 'latched', fault: error };
    if (attempt.kind === 'unsure') return this.#readBack(group, attempt, error);
    const isSound = attempt.broken ? this.#reopened() : isPassing(attempt.error);
    return isSound ? { kind: 'failed', error } : { kind: 'latched', fault: error };
  }

  /** Finds out whether a commit reached the disk. */
  #readBack(
    group: readonly Change[],
    { results, error }: Extract<Attempt, { kind: 'unsure' }>,
    fault: JournalError,
  ): Resolution {
    let landed = this.#look(group, results);
    if (landed === null || (!landed && mayComeBack(error))) {
      // A new connection reads the log from the disk: what it does not find can't come back after a crash.
      landed = this.#reopened() ? this.#look(group, results) : null;
    }
    if (landed === null) return { kind: 'latched', fault: unknownOutcome(fault) };
    return landed ? { kind: 'landed', results } : { kind: 'failed', error: fault };
  }

  #look(group: readonly Change[], results: readonly ChangeResult[]): boolean | null {
    try {
      return this.#store.appender.hasLanded(group, results);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return null;
    }
  }

  #reopened(): boolean {
    try {
      this.#store.reopen();
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return false;
    }
  }

  #stop(change: Change, error: JournalError): void {
    // Records of the host's own stream stand each for itself.
    if (change.kind !== 'append' || change.sessionId === HOST_STREAM) return;
    this.#stopped.set(change.sessionId, { generation: change.generation + 1, error });
  }

  #refusal(change: Change): JournalError | null {
    return change.kind === 'append' ? this.#stale(change) : null;
  }

  #stale({ sessionId, generation }: Append): JournalError | null {
    const stopped = this.#stopped.get(sessionId);
    return stopped !== undefined && generation < stopped.generation ? stopped.error : null;
  }
}

type Resolution =
  | { readonly kind: 'landed'; readonly results: readonly ChangeResult[] }
  | { readonly kind: 'failed'; readonly error: JournalError }
  | { readonly kind: 'latched'; readonly fault: JournalError };

const NOTHING: GroupResult = { results: [], fault: null };

function allFailed(group: readonly Change[], error: JournalError): readonly ChangeResult[] {
  return group.map(() => ({ ok: false, error }));
}

function unknownOutcome(fault: JournalError): JournalError {
  return new JournalError(
    'journal.outcome_unknown',
    `${fault.message} Whether the last records were saved is known only after that.`,
    { cause: fault, data: fault.data },
  );
}
