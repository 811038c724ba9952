import type { Disposable } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { Actor, ControlOutcome } from '../../protocol/controls.ts';
import type { Checkpoints } from './checkpoints.ts';
import { type Cancelled, CommandDesk } from './commands/command-desk.ts';
import { SessionEntries } from './commands/session-entries.ts';
import { SessionError } from './commands/session-error.ts';
import { shutdownRecords } from './commands/shutdown-records.ts';
import { type CommandOrigin, CommandStamp } from './commands/stamp.ts';
import { LoopChanges } from './control/loop-change.ts';
import { ControlRefused } from './control/refusal.ts';
import { type KeptWorkspace, keepWorkspace } from './control/workspace-desk.ts';
import type { ControlEvent } from './control-events.ts';
import type { SessionDeps, SessionResources } from './deps.ts';
import type { EphemeralEvent } from './ephemeral-events.ts';
import type { HistoryEvent, LoopSignal } from './events.ts';
import { CurrentBranch } from './history/current-branch.ts';
import { Exclusive } from './history/exclusive.ts';
import type { MovedCounts, NewMove } from './history/new-move.ts';
import type { Timeline } from './history/timeline.ts';
import { Loop } from './loop.ts';
import type { NewRecord } from './ports.ts';
import { brokenTurn } from './state/broken-turn.ts';
import { Causes } from './state/causes.ts';
import type { Conversation } from './state/conversation.ts';
import { type Folded, foldSignal, type SessionSnapshot } from './state/folded.ts';
import { Gates, type OpenGate } from './state/gates.ts';
import type { Prompt, PromptOutcome } from './state/prompts.ts';
import { Recorder, type Tip } from './state/recorder.ts';
import { restoredFrom } from './state/restored.ts';
import type { KnownCommand } from './state/session-state.ts';
import type { AbortReason } from './turn/aborts.ts';
import { workspaceFault, workspaceFaulted } from './turn/checkpoint-required.ts';
import {
  type CommandId,
  type LoopId,
  rootLoop,
  type SessionConfig,
  type SessionId,
  type TurnId,
} from './words.ts';

/** A live session: the one owner of its history, its gates and its loop (design §4.6). */
export class Session implements Disposable {
  readonly sessionId: SessionId;
  /** The ways into its loop. */
  readonly entries: SessionEntries;
  readonly #resources: SessionResources;
  readonly #recorder: Recorder;
  readonly #gates: Gates;
  readonly #loop: Loop;
  readonly #stamp: CommandStamp;
  readonly #commands: CommandDesk;
  readonly #newId: () => string;
  readonly #digest: SessionDeps['digest'];
  readonly #folded: Folded;
  readonly #exclusive: Exclusive;
  readonly #report: (what: string, failure: unknown) => void;
  readonly #branch: CurrentBranch;
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
    this.#newId = () => deps.ids.unique();
    this.#digest = deps.digest;
    this.#report = (what, failure) => deps.log.warn(what, { sessionId, error: messageOf(failure) });
    const { journal, ids, clock, digest } = deps;
    this.#recorder = new Recorder({
      sessionId,
      journal,
      tip,
      causes: new Causes(folded.state.open.progress),
      onFault: (cause) => this.#fail(cause, deps),
      onListenerError: (error) => this.#report('A session listener failed', error),
    });
    this.#recorder.onSignal((signal) => this.#fold(signal));
    const target = { session_id: this.#rootId(), loop_id: rootLoop(sessionId) };
    const isKnown = (id: CommandId): boolean =>
      this.command(id) !== undefined || this.#loop.nextTurns.reserves(id);
    this.#stamp = new CommandStamp(target, ids, clock, isKnown);
    const onChange = (): void => this.#loop.announce();
    this.#gates = new Gates({ recorder: this.#recorder, ids, clock, onChange });
    const { timeline } = folded.state;
    const parts = { sessionId, journal, recorder: this.#recorder, timeline };
    this.#branch = new CurrentBranch(parts, folded.conversation);
    this.#loop = this.#makeLoop(deps);
    this.#exclusive = new Exclusive(() => this.#loop.hold());
    const changes = new LoopChanges({
      recorder: this.#recorder,
      stamp: this.#stamp,
      config: () => this.config,
      check: deps.checkChange,
      isClosing: () => this.#closing !== null,
    });
    this.#commands = new CommandDesk({
      stamp: this.#stamp,
      recorder: this.#recorder,
      state: folded.state,
      gates: this.#gates,
      inbox: folded.inbox,
      loop: this.#loop,
      digest,
    });
    this.entries = new SessionEntries({ loop: this.#loop, commands: this.#commands, changes });
  }

  #makeLoop(deps: SessionDeps): Loop {
    const current = (): Conversation => this.conversation;
    return new Loop({
      sessionId: this.sessionId,
      deps,
      resources: this.#resources,
      recorder: this.#recorder,
      stamp: this.#stamp,
      gates: this.#gates,
      ...this.#folded,
      get conversation() {
        return current();
      },
    });
  }

  #fail(cause: unknown, { log }: SessionDeps): void {
    const facts = { sessionId: this.sessionId, error: messageOf(cause) };
    log.error('A session stopped: its history could not be written', facts);
    this.#faulted = true;
    this.#loop.stopForFault(cause);
  }

  /** A delegate's commands name the session that it belongs to. */
  #rootId(): SessionId {
    return this.#folded.state.delegate?.rootId ?? this.sessionId;
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

  /** True if its records could not be kept: it does nothing more until it is opened anew. */
  get isFaulted(): boolean {
    return this.#faulted;
  }

  /** True while a turn that a restart found stands at its question and nobody has gone on with it. */
  get isParked(): boolean {
    return this.#loop.isParked;
  }

  /** Where prompts go that name no loop; null before anybody chose one. */
  get activeLoop(): LoopId | null {
    return this.#folded.state.activeLoop;
  }

  /** The turn that runs or is parked; null between turns. */
  get activeTurn(): TurnId | null {
    return this.#loop.activeTurn;
  }

  get openGates(): readonly OpenGate[] {
    return this.#gates.list();
  }

  get workspace(): SessionResources['workspace'] {
    return this.#resources.workspace;
  }

  /** Signals from now on; see `SessionSnapshot`. */
  subscribe(listener: (signal: LoopSignal) => void): {
    readonly snapshot: SessionSnapshot;
    readonly subscription: Disposable;
  } {
    const snapshot = {
      ...this.#recorder.tip,
      activeTurn: this.#loop.activeTurn,
      gates: this.#gates.list(),
      partial: this.#loop.partial(),
      outputs: this.#loop.outputs(),
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
    const fault = this.command(prompt.commandId) === undefined ? this.workspaceFault : null;
    if (fault !== null) return Promise.reject(workspaceFaulted(fault));
    return this.#loop.prompt(prompt);
  }

  /** Stops the running turn and every prompt that arrived before `order`. True if this call ended something. */
  cancelBefore(order: number, reason: AbortReason): boolean {
    const ended = this.#loop.cancelBefore(order, reason);
    // A turn that is stopped takes what was started with it.
    if (reason.kind !== 'cancelled' || this.#loop.activeTurn !== null) return ended;
    const delegates = this.#resources.delegates?.list() ?? [];
    this.#stopLeftOvers();
    return ended || delegates.some(({ state }) => state === 'running' || state === 'waiting');
  }

  /** As `cancelBefore`, as a command: its record goes ahead of what it brings about, which does not wait for the disk. */
  cancel(
    order: number,
    reason: Extract<AbortReason, { kind: 'cancelled' }>,
    origin: CommandOrigin,
  ): Cancelled {
    return this.#commands.cancel(order, reason, origin, (at, why) => this.cancelBefore(at, why));
  }

  /** What is known of a command. */
  command(commandId: CommandId): KnownCommand | undefined {
    return this.#folded.state.command(commandId);
  }

  /** The conversation as it stands; another object after each move. */
  get conversation(): Conversation {
    return this.#branch.conversation;
  }

  /** The files as its turns left them; null where nothing keeps them. */
  get checkpoints(): Checkpoints | null {
    return this.#resources.checkpoints ?? null;
  }

  /** Why no turn begins before a person had the files kept (see `checkpointWorkspace`), or null. */
  get workspaceFault(): string | null {
    return workspaceFault(this.config, this.timeline);
  }

  /**
   * Keeps the files as they are now, without a turn. Throws `prompt_active`, `session_closed` and, where they can't be
   * kept whole, `fs_snapshot_error`.
   */
  checkpointWorkspace(origin: CommandOrigin): Promise<KeptWorkspace> {
    const { checkpoints, timeline } = this;
    const own = { recorder: this.#recorder, newId: this.#newId, stamp: this.#stamp };
    const parts = { ...own, checkpoints, timeline, digest: this.#digest };
    return this.exclusively(() => keepWorkspace(parts, origin));
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
  moveHistory(move: NewMove, seal: readonly HistoryEvent[] = []): Promise<MovedCounts> {
    return this.#branch.move(move, seal);
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

  /**
   * Journals what restoring found; called once, before the session is used. A turn that stood at a question stays open
   * until `goOn`; every other one is sealed, and what waited is held for a person.
   */
  async restored(): Promise<void> {
    const found = restoredFrom(this.sessionId, this.#folded, this.conversation, this.#newId);
    const { parked, waiting } = found;
    const ends = this.#loop.machine.restored(found.ends);
    const broken = parked === null ? await this.#brokenTurn() : [];
    const compactions = this.#folded.compactions.restored();
    const queued = this.#loop.nextTurns.restored(waiting.held);
    for (const { event } of waiting.records) this.#folded.inbox.apply(event, 0);
    if (parked !== null) this.#loop.park(parked);
    const records = [...ends, ...broken, ...compactions, ...waiting.records, ...queued];
    if (records.length > 0) await this.#recorder.append([...records, found.note]);
  }

  #brokenTurn(): Promise<readonly NewRecord[]> {
    const { checkpoints, conversation } = this;
    const own = { state: this.#folded.state, newId: this.#newId, report: this.#report };
    return brokenTurn({ ...own, conversation, checkpoints });
  }

  /** A turn that a restart found at its question goes on there; nothing happens where there is none. */
  goOn(): void {
    if (this.#closing === null && !this.#faulted) this.#loop.goOn();
  }

  /** Stops everything, waits until the history is on disk, and frees the session. Idempotent. */
  close(reason: Extract<AbortReason, { kind: 'closed' }>, actor: Actor): Promise<void> {
    this.#closing ??= this.#close(reason, actor);
    return this.#closing;
  }

  /**
   * Cuts off a session that could not be closed in time: what still runs in it records nothing any more, and what waits
   * fails with `cause`.
   */
  abandon(cause: unknown): void {
    this.#faulted = true;
    this.#recorder.cutOff(cause);
    this.#loop.stopForFault(cause);
    this.#recorder.dispose();
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
      await this.#recorder.append(shutdownRecords(this.#stamp, reason.why, actor, this.#digest));
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

  #fold(signal: LoopSignal): void {
    foldSignal(this.#folded, signal);
    if (signal.stream === 'history') this.#branch.apply(signal.record.event, signal.record.seq);
  }
}
