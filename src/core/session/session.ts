import { canonicalJson } from '../../base/canonical-json.ts';
import type { Disposable } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { AvailableCommand, ContentBlock } from '../../protocol/acp.ts';
import type { Actor, ControlOutcome } from '../../protocol/controls.ts';
import type { Checkpoints } from './checkpoints.ts';
import { SessionError } from './commands/session-error.ts';
import type { Inbox } from './control/inbox.ts';
import type { NextTurnQueue } from './control/next-turns.ts';
import { ControlRefused } from './control/refusal.ts';
import type {
  NewInject,
  QueueChanged,
  QueueRequest,
  SessionControl,
} from './control/session-control.ts';
import type { ControlEvent, NextTurns, PendingMessage } from './control-events.ts';
import type { SessionDeps, SessionResources } from './deps.ts';
import type { EphemeralEvent, GateAnswer, HistoryEvent, SessionSignal } from './events.ts';
import { Exclusive } from './history/exclusive.ts';
import { foldBranch } from './history/fold-branch.ts';
import { type MovedCounts, movedCounts, type NewMove } from './history/new-move.ts';
import type { Timeline } from './history/timeline.ts';
import { Loop } from './loop.ts';
import type { NewRecord } from './ports.ts';
import type { Conversation } from './state/conversation.ts';
import { Gates, type OpenGate } from './state/gates.ts';
import type { Prompt, PromptOutcome } from './state/prompts.ts';
import { Recorder, type Tip } from './state/recorder.ts';
import type { SessionState } from './state/session-state.ts';
import type { ProcessInfo } from './tool.ts';
import type { AbortReason } from './turn/aborts.ts';
import type { GateId, MessageId, SessionConfig, SessionId, TurnId } from './words.ts';

/** The state at the moment of a subscription; with the signals that follow there is no gap and no repeat. */
export type SessionSnapshot = Tip & {
  readonly commands: readonly AvailableCommand[];
  readonly activeTurn: TurnId | null;
  readonly gates: readonly OpenGate[];
  readonly partial: readonly {
    readonly messageId: string;
    readonly kind: 'text' | 'thought';
    readonly offset: number;
    readonly text: string;
  }[];
  readonly pending: readonly PendingMessage[];
  readonly nextTurns: NextTurns;
};

/** The folds of a stored session. */
export type Folded = {
  readonly state: SessionState;
  readonly conversation: Conversation;
  readonly inbox: Inbox;
  readonly nextTurns: NextTurnQueue;
};

/** A live session: the one owner of its history, its gates and its loop (design §4.6). */
export class Session implements Disposable, SessionControl {
  readonly sessionId: SessionId;
  readonly #resources: SessionResources;
  readonly #recorder: Recorder;
  readonly #gates: Gates;
  readonly #loop: Loop;
  readonly #folded: Folded;
  readonly #journal: SessionDeps['journal'];
  readonly #exclusive: Exclusive;
  readonly #report: (what: string, failure: unknown) => void;
  /** Of the current branch; another one after each move. */
  #conversation: Conversation;
  /** What the conversation is once the move that is being journaled is on disk. */
  #movedTo: Conversation | null = null;
  #closing: Promise<void> | null = null;
  #faulted = false;

  constructor(
    sessionId: SessionId,
    deps: SessionDeps,
    resources: SessionResources,
    tip: Tip,
    folded: Folded,
  ) {
    this.sessionId = sessionId;
    this.#resources = resources;
    this.#folded = folded;
    this.#journal = deps.journal;
    this.#conversation = folded.conversation;
    const onFault = (cause: unknown): void => {
      deps.log.error('A session stopped: its history could not be written', {
        sessionId,
        error: messageOf(cause),
      });
      this.#faulted = true;
      this.#loop.stopForFault(cause);
    };
    const onListenerError = (error: unknown): void =>
      deps.log.error('A session listener failed', { sessionId, error: messageOf(error) });
    this.#recorder = new Recorder(sessionId, deps.journal, tip, onFault, onListenerError);
    this.#report = (what, failure) => deps.log.warn(what, { sessionId, error: messageOf(failure) });
    this.#recorder.onSignal((signal) => this.#fold(signal));
    this.#gates = new Gates(this.#recorder, deps.ids, deps.clock, () => this.#loop.announce());
    const current = (): Conversation => this.#conversation;
    this.#loop = new Loop({
      sessionId,
      deps,
      resources,
      recorder: this.#recorder,
      gates: this.#gates,
      ...folded,
      get conversation() {
        return current();
      },
    });
    this.#exclusive = new Exclusive(() => this.#loop.hold());
  }

  get config(): SessionConfig {
    return this.#folded.state.config;
  }

  get title(): string | null {
    return this.#folded.state.title;
  }

  get tip(): Tip {
    return this.#recorder.tip;
  }

  /** True while a turn runs or a prompt waits for one. */
  get isActive(): boolean {
    return this.#loop.isActive;
  }

  get openGates(): readonly OpenGate[] {
    return this.#gates.list();
  }

  get workspace(): SessionResources['workspace'] {
    return this.#resources.workspace;
  }

  /** Signals from now on; see `SessionSnapshot`. */
  subscribe(listener: (signal: SessionSignal) => void): {
    readonly snapshot: SessionSnapshot;
    readonly subscription: Disposable;
  } {
    const snapshot = {
      ...this.#recorder.tip,
      activeTurn: this.#loop.activeTurn,
      gates: this.#gates.list(),
      partial: this.#loop.partial(),
      pending: this.#loop.pending(),
      nextTurns: this.#loop.nextTurns.view,
      commands: this.#folded.state.commands,
    };
    return { snapshot, subscription: this.#recorder.onSignal(listener) };
  }

  /**
   * Admits a prompt. Resolves when its turn is sealed on disk, or at once when it was stopped before it began. The
   * same command id with the same body gets the same outcome; with another body it is refused.
   */
  prompt(prompt: Prompt): Promise<PromptOutcome> {
    if (this.#closing !== null)
      return Promise.reject(
        new SessionError('session.closed', 'The session is closed. Load or resume it first.'),
      );
    return this.#loop.prompt(prompt);
  }

  /** Stops the running turn and every prompt that arrived before `order`. True if this call ended something. */
  cancelBefore(order: number, reason: AbortReason): boolean {
    const ended = this.#loop.cancelBefore(order, reason);
    if (!ended && reason.kind === 'cancelled' && !this.#loop.isActive) this.#stopLeftOvers();
    return ended;
  }

  /** See `SessionControl`. */
  pending(): readonly PendingMessage[] {
    return this.#loop.pending();
  }

  /** See `SessionControl`. */
  nextTurns(): NextTurns {
    return this.#loop.nextTurns.view;
  }

  /** See `SessionControl`. */
  changeQueue(change: QueueRequest, actor: Actor): Promise<QueueChanged> {
    return this.#loop.nextTurns.change(change, actor);
  }

  /** See `SessionControl`. */
  inject(
    message: NewInject,
  ): Promise<{ readonly messageId: MessageId; readonly isRepeat?: boolean }> {
    return this.#loop.injects.inject(message);
  }

  /** See `SessionControl`. */
  revoke(messageId: MessageId, actor: Actor): Promise<'revoked' | 'already_revoked'> {
    return this.#loop.injects.revoke(messageId, actor);
  }

  /** See `SessionControl`. */
  replace(messageId: MessageId, content: readonly ContentBlock[], actor: Actor): Promise<void> {
    return this.#loop.injects.replace(messageId, content, actor);
  }

  /** The conversation as it stands; another object after each move. */
  get conversation(): Conversation {
    return this.#conversation;
  }

  /** The files as its turns left them; null where nothing keeps them. */
  get checkpoints(): Checkpoints | null {
    return this.#resources.checkpoints ?? null;
  }

  /** Branches, checkpoints and what can be redone. */
  get timeline(): Timeline {
    return this.#folded.state.timeline;
  }

  /**
   * Does work that no turn may overlap, one after another; prompts that arrive meanwhile wait. Throws `prompt_active`
   * while a turn runs (unless `stop` says why to end it first) and `session_closed`.
   */
  async exclusively<T>(work: () => Promise<T>, stop?: () => void): Promise<T> {
    if (this.#closing !== null)
      throw new ControlRefused('session_closed', 'The session is closed. Load or resume it first.');
    if (this.#loop.activeTurn !== null && stop === undefined)
      throw new ControlRefused(
        'prompt_active',
        'A turn is running. Stop it or wait for its end, then try again.',
      );
    return this.#exclusive.run(async () => {
      stop?.();
      await this.#loop.done;
      await this.#recorder.settled();
      return work();
    });
  }

  /**
   * Continues the history behind event `move.to`; the conversation is that of the new branch when this resolves.
   * `seal` ends a turn that the cut goes through. Only within `exclusively`.
   */
  async moveHistory(move: NewMove, seal: readonly HistoryEvent[] = []): Promise<MovedCounts> {
    const branch = this.timeline.branchAt(move.to);
    const next = await foldBranch(this.#journal, this.sessionId, branch);
    const counts = movedCounts(move.reason, this.#conversation.messageCount, next.messageCount);
    this.#movedTo = next;
    try {
      await this.#recorder.history({ type: 'history_moved', ...move, ...counts }, ...seal);
      return counts;
    } finally {
      this.#movedTo = null;
    }
  }

  /** See `SessionControl`. */
  cancelToolCall: SessionControl['cancelToolCall'] = (toolCallId, options) =>
    this.#loop.cancelToolCall(toolCallId, options);

  /** Changes what the next turn begins with; resolves when it is on disk. */
  async setConfig(config: SessionConfig, actor: Actor): Promise<void> {
    if (canonicalJson(config) === canonicalJson(this.config)) return;
    await this.#recorder.history({ type: 'config_changed', config, actor });
  }

  /** False if the gate is not open any more. */
  answerGate(gateId: GateId, answer: GateAnswer, actor: Actor): boolean {
    return this.#gates.answer(gateId, answer, actor);
  }

  /** Journals a receipt. */
  async receipt(receipt: ControlOutcome): Promise<void> {
    await this.#recorder.control({ type: 'control_outcome', receipt });
  }

  /** Journals events that come from outside a turn (commands changed, a process began). */
  async record(...events: readonly HistoryEvent[]): Promise<void> {
    await this.#recorder.history(...events);
  }

  /** Journals bookkeeping of what the host keeps for a session (staged files). */
  async recordControl(...events: readonly ControlEvent[]): Promise<void> {
    await this.#recorder.control(...events);
  }

  /** Tells subscribers something that is not kept. */
  announce(event: EphemeralEvent): void {
    this.#recorder.emit(event);
  }

  /** Journals what restoring found; called once, before the session is used. */
  async restored(events: readonly HistoryEvent[], interruptedTurnId: TurnId | null): Promise<void> {
    const givenBack = this.#loop.giveBack();
    const paused = this.#loop.nextTurns.restored();
    if (events.length === 0 && givenBack.length === 0 && paused.length === 0) return;
    const records: NewRecord[] = events.map((event) => ({ stream: 'history', event }));
    await this.#recorder.append([
      ...records,
      ...givenBack,
      ...paused.map((event): NewRecord => ({ stream: 'control', event })),
      { stream: 'control', event: { type: 'session_restored', interruptedTurnId } },
    ]);
  }

  /** A background process ended: recorded now, told to the model at the next seam. */
  async processEnded(info: ProcessInfo): Promise<void> {
    if (this.#faulted || this.#recorder.isDisposed) return;
    const how =
      info.signal === null ? `exit code ${info.exitCode ?? 'unknown'}` : `signal ${info.signal}`;
    this.#loop.tell(
      `The background process ${info.processId} (${info.command}) ended with ${how}.`,
    );
    const state = info.state === 'stopped' ? 'stopped' : 'exited';
    await this.#recorder.history({
      type: 'process_ended',
      processId: info.processId,
      state,
      exitCode: info.exitCode,
      signal: info.signal,
    });
  }

  /** Stops everything, waits until the history is on disk, and frees the session. Idempotent. */
  close(reason: Extract<AbortReason, { kind: 'closed' }>, actor: Actor): Promise<void> {
    this.#closing ??= this.#close(reason, actor);
    return this.#closing;
  }

  dispose(): void {
    this.#recorder.dispose();
  }

  async #close(reason: Extract<AbortReason, { kind: 'closed' }>, actor: Actor): Promise<void> {
    // Never let go of: nothing begins any more, whatever still waits.
    this.#loop.hold();
    this.cancelBefore(Number.POSITIVE_INFINITY, reason);
    await this.#loop.done;
    await this.#exclusive.settled;
    await this.#resources.processes.stopAll();
    if (!this.#faulted)
      await this.#recorder.control({ type: 'session_closed', actor, reason: reason.why });
    await this.#recorder.settled();
    this.#recorder.dispose();
  }

  /** Stop ends what the session started, also what earlier turns left running. */
  #stopLeftOvers(): void {
    this.#resources.processes
      .stopAll()
      .catch((failure: unknown) =>
        this.#report('Background processes could not be stopped', failure),
      );
  }

  #fold(signal: SessionSignal): void {
    const { state } = this.#folded;
    if (signal.stream === 'history') {
      const { event, seq, at } = signal.record;
      state.applyHistory(event, at);
      if (event.type === 'history_moved') this.#conversation = this.#movedTo ?? this.#conversation;
      this.#conversation.apply(event, seq);
    } else if (signal.stream === 'control')
      state.applyControl(signal.record.event, signal.record.at);
  }
}
