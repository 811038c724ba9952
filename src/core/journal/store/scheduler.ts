import type { JournalError } from '../errors.ts';
import type { Change, ChangeResult } from './appender.ts';
import type { GroupResult } from './committer.ts';
import type { Sliced } from './reader.ts';

/** A change that waits for its turn. */
export type WaitingChange = {
  readonly change: Change;
  readonly settle: (result: ChangeResult) => void;
};

/** Work in slices. */
export type Job = {
  /** False while the receiver has not caught up with what it was sent. */
  isReady(): boolean;
  /** Does one slice; true when the work is over. Must not throw. */
  step(): boolean;
};

/**
 * Decides what the writer does next. Changes always go first, all that wait in one commit; between two commits the
 * jobs (reads, lists, checks, deletions) get one slice each in turn; what is left goes to idle work.
 */
export class Scheduler {
  readonly #commit: (group: readonly Change[]) => GroupResult;
  readonly #onFault: (fault: JournalError) => void;
  readonly #jobs: Job[] = [];
  #changes: WaitingChange[] = [];
  #scheduled = false;
  #fault: JournalError | null = null;
  #whenIdle: (() => void)[] = [];

  constructor(
    commit: (group: readonly Change[]) => GroupResult,
    onFault: (fault: JournalError) => void,
  ) {
    this.#commit = commit;
    this.#onFault = onFault;
  }

  get fault(): JournalError | null {
    return this.#fault;
  }

  get isIdle(): boolean {
    return this.#changes.length === 0 && this.#jobs.length === 0;
  }

  change(waiting: WaitingChange): void {
    this.#changes.push(waiting);
    this.#schedule();
  }

  start(job: Job): void {
    this.#jobs.push(job);
    this.#schedule();
  }

  /** Commits what waits, without the wait for the next turn. */
  commitNow(): void {
    if (this.#changes.length > 0) this.#commitWaiting();
  }

  /** A job may have become ready. */
  wake(): void {
    this.#schedule();
  }

  /** Calls back once nothing waits. */
  whenIdle(run: () => void): void {
    this.#whenIdle.push(run);
    this.#schedule();
  }

  /** Lets no further change through. */
  latch(fault: JournalError): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#onFault(fault);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    if (this.#changes.length > 0) this.#commitWaiting();
    const index = this.#jobs.findIndex((job) => job.isReady());
    const [job] = index === -1 ? [] : this.#jobs.splice(index, 1);
    if (job !== undefined && !job.step()) this.#jobs.push(job);
    if (!this.isIdle) {
      if (this.#changes.length > 0 || this.#jobs.some((each) => each.isReady())) this.#schedule();
      return;
    }
    const callbacks = this.#whenIdle;
    this.#whenIdle = [];
    for (const callback of callbacks) callback();
  }

  #commitWaiting(): void {
    const waiting = this.#changes;
    this.#changes = [];
    if (this.#fault !== null) {
      for (const { settle } of waiting) settle({ ok: false, error: this.#fault });
      return;
    }
    const { results, fault } = this.#commit(waiting.map(({ change }) => change));
    if (fault !== null) this.latch(fault);
    for (const [index, { settle }] of waiting.entries()) {
      const result = results[index];
      if (result !== undefined) settle(result);
    }
  }
}

/** A job that runs a generator: every part and the result are handed on, and a failure ends it. */
export function jobOf<Part, Result>(
  work: Sliced<Part, Result>,
  to: {
    readonly isReady?: () => boolean;
    readonly part: (value: Part) => void;
    readonly result: (value: Result) => void;
    readonly failed: (error: unknown) => void;
  },
): Job {
  return {
    isReady: to.isReady ?? (() => true),
    step(): boolean {
      try {
        const step = work.next();
        if (step.done === true) to.result(step.value);
        else to.part(step.value);
        return step.done === true;
      } catch (error) {
        to.failed(error);
        return true;
      }
    },
  };
}
