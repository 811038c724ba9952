import { Deferred } from '../../../base/deferred.ts';
import type { Compact } from '../commands/command.ts';
import type { CompactionOutcome } from '../commands/entry-points.ts';
import { SessionError } from '../commands/session-error.ts';
import type { CommandOrigin, CommandStamp } from '../commands/stamp.ts';
import type { ControlEvent } from '../control-events.ts';
import type { SessionDeps } from '../deps.ts';
import type { SideGround } from '../side/side-request.ts';
import type { Conversation } from '../state/conversation.ts';
import type { Recorder } from '../state/recorder.ts';
import { NO_USAGE } from '../turn/budget.ts';
import { type Condensed, type Condensing, condense, keptOf } from '../turn/condense.ts';
import type { TurnContext } from '../turn/turn-context.ts';
import type {
  CommandId,
  CompactionRejection,
  MessageId,
  SessionConfig,
  SessionId,
  TurnId,
  Usage,
} from '../words.ts';
import { type CompactionEnd, type Compactions, endRecords, outcomeOf } from './compactions.ts';

/** What the desk works with. */
export type CompactDeskParts = {
  readonly sessionId: SessionId;
  readonly deps: SessionDeps;
  readonly recorder: Recorder;
  readonly stamp: CommandStamp;
  readonly compactions: Compactions;
  readonly conversation: () => Conversation;
  readonly config: () => SessionConfig;
  /** True if the id belongs to a command of another kind. */
  readonly isTaken: (commandId: CommandId) => boolean;
  /** Begins what waits if nothing runs. */
  readonly wake: () => void;
  /** Keeps turns from beginning until what it returns is called. */
  readonly hold: () => () => void;
};

type StopReason = Extract<CompactionRejection, 'cancelled' | 'shutting_down'>;

const REJECTIONS: Readonly<Record<Exclude<CompactionRejection, 'summary_failed'>, string>> = {
  nothing_to_gain: 'There is nothing to condense: the conversation is as short as a summary of it.',
  cancelled: 'Stopped before the summary was written; the conversation is as it was.',
  shutting_down: 'The session is closed; the conversation is as it was. Open it and try again.',
  restart: 'The process ended first; the conversation is as it was.',
};

/**
 * The one slot for compactions that somebody asks for. It is done at the running turn's next boundary between two
 * replies, or at once while no turn runs, and then none begins meanwhile. Whoever asks while one waits or goes on gets
 * its outcome. An automatic compaction is the turn's own and does not come by here.
 */
export class CompactDesk {
  readonly #parts: CompactDeskParts;
  /** Those without an outcome, in the order of their commands. */
  readonly #open = new Map<CommandId, Deferred<CompactionOutcome>>();
  /** True when one of them is on disk. */
  #isReady = false;
  /** Ends what goes on, in a turn or outside. */
  #work: AbortController | null = null;
  #stop: StopReason | null = null;
  #outside: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: CompactDeskParts) {
    this.#parts = parts;
  }

  /** Resolves when nothing is being condensed outside a turn. */
  get done(): Promise<void> {
    return this.#outside ?? Promise.resolve();
  }

  /** See `LoopEntries.compact`. Throws `session.command_collision`. */
  async compact(origin: CommandOrigin): Promise<CompactionOutcome> {
    const { stamp, recorder, compactions, deps, wake } = this.#parts;
    const known = this.#known(origin.commandId);
    if (known !== null) return known;
    if (this.#isClosed) return { kind: 'rejected', ...why('shutting_down') };
    stamp.claim(origin.commandId);
    const command = stamp.stamp('compact', {}, origin);
    const issued = issuedEvent(command, deps.digest);
    const outcome = new Deferred<CompactionOutcome>();
    this.#open.set(command.command_id, outcome);
    compactions.applyControl(issued);
    recorder.control(issued).then(
      () => {
        this.#isReady = this.#open.size > 0;
        wake();
      },
      (cause: unknown) => this.fail(cause),
    );
    return outcome.promise;
  }

  /** At a boundary of the running turn: does what waits. Resolves with what it cost. */
  async atBoundary(turn: TurnContext, iteration: number): Promise<Usage> {
    if (!this.#isReady) return NO_USAGE;
    return this.#run(turn, turn.turnId, (seam) => turn.passSeam(seam, iteration));
  }

  /** No turn runs: begins what waits. True if it goes on, and no turn may begin. */
  whenIdle(): boolean {
    if (this.#outside !== null) return true;
    if (!this.#isReady) return false;
    const { sessionId, deps, config, hold } = this.#parts;
    const release = hold();
    const ground: SideGround = {
      sessionId,
      // A request is always somebody's; this one is no turn's.
      turnId: deps.ids.unique() as TurnId,
      deps,
      config: config(),
      attention: () => new AbortController().signal,
    };
    this.#outside = this.#run(ground, null, async () => undefined)
      .then(
        () => undefined,
        (cause: unknown) => this.fail(cause),
      )
      .finally(() => {
        this.#outside = null;
        release();
      });
    return true;
  }

  /** Ends what waits or goes on; true if that was something. */
  stop(reason: StopReason): boolean {
    if (reason === 'shutting_down') this.#isClosed = true;
    if (this.#open.size === 0) return false;
    if (this.#work === null) {
      // Whoever asked is told, a failure too.
      this.#end({ type: 'compaction_rejected', turnId: null, ...why(reason) }).catch(
        () => undefined,
      );
      return true;
    }
    this.#stop = reason;
    this.#work.abort();
    return true;
  }

  /** The history can't be written any more. */
  fail(cause: unknown): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#isReady = false;
    for (const outcome of open) outcome.reject(cause);
  }

  #known(commandId: CommandId | undefined): Promise<CompactionOutcome> | null {
    if (commandId === undefined) return null;
    const { compactions, isTaken } = this.#parts;
    const open = this.#open.get(commandId);
    if (open !== undefined) return open.promise;
    const outcome = compactions.outcome(commandId);
    if (outcome !== null) return Promise.resolve(outcome);
    if (!isTaken(commandId)) return null;
    throw new SessionError(
      'session.command_collision',
      `The command id ${commandId} was used before with another body. Use a new id.`,
    );
  }

  async #run(
    ground: SideGround,
    turnId: TurnId | null,
    pass: (seam: 'pre_compact' | 'post_compact') => Promise<unknown>,
  ): Promise<Usage> {
    const { conversation } = this.#parts;
    const work = new AbortController();
    this.#work = work;
    try {
      if (keptOf(conversation(), turnId) !== null) await pass('pre_compact');
      const kept = keptOf(conversation(), turnId);
      const condensed = kept === null ? null : await this.#condense(ground, work, turnId, kept);
      await this.#conclude(condensed, turnId);
      if (condensed === null || condensed.kind === 'dropped') return NO_USAGE;
      if (condensed.kind === 'condensed') await pass('post_compact');
      return condensed.usage;
    } finally {
      this.#work = null;
      this.#stop = null;
    }
  }

  #condense(
    { sessionId, deps, config, ...ground }: SideGround,
    work: AbortController,
    turnId: TurnId | null,
    kept: number,
  ): Promise<Condensed> {
    const messageId = deps.ids.unique() as MessageId;
    const attention = (): AbortSignal => AbortSignal.any([ground.attention(), work.signal]);
    if (attention().aborted) return Promise.resolve({ kind: 'dropped' });
    const what: Condensing = {
      conversation: this.#parts.conversation(),
      turnId,
      trigger: 'manual',
      messageId,
    };
    this.#parts.recorder.emit({
      type: 'compaction_started',
      turnId,
      messageId,
      trigger: 'manual',
    });
    return condense({ sessionId, turnId: ground.turnId, deps, config, attention }, what, kept);
  }

  /** An interrupt only puts it off: it still waits, for the next boundary. */
  async #conclude(condensed: Condensed | null, turnId: TurnId | null): Promise<void> {
    const type = 'compaction_rejected';
    if (this.#stop !== null) await this.#end({ type, turnId, ...why(this.#stop) });
    else if (condensed === null) await this.#end({ type, turnId, ...why('nothing_to_gain') });
    else if (condensed.kind === 'condensed') await this.#end(condensed.event);
    else if (condensed.kind === 'failed') {
      const message = `There is no summary, so the conversation is as it was: ${condensed.message}`;
      await this.#end({ type, turnId, reason: 'summary_failed', message });
    }
  }

  async #end(event: CompactionEnd): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    this.#isReady = false;
    const ids = open.map(([commandId]) => commandId);
    this.#parts.compactions.applyHistory(event, ids);
    try {
      await this.#parts.recorder.append(endRecords(ids, event));
    } catch (cause) {
      for (const [, outcome] of open) outcome.reject(cause);
      throw cause;
    }
    const outcome = outcomeOf(event);
    for (const [, waiting] of open) if (outcome !== null) waiting.resolve(outcome);
  }
}

function issuedEvent(
  command: Compact,
  digest: (text: string) => string,
): Extract<ControlEvent, { type: 'command_issued' }> {
  return { type: 'command_issued', command, bodyHash: digest(command.type) };
}

function why<R extends keyof typeof REJECTIONS>(
  reason: R,
): { readonly reason: R; readonly message: string } {
  return { reason, message: REJECTIONS[reason] };
}
