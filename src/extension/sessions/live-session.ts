import type { Disposable } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { CodedError, messageOf } from '../../base/errors.ts';
import type { ContentBlock, SessionConfigOption, SessionUpdate } from '../../protocol/acp.ts';
import type { HistoryPage } from '../../protocol/pilothouse.ts';
import { type ChatChange, Conversation } from '../chat/model/conversation.ts';
import { promptEnd, turnEnd } from '../chat/model/turn-items.ts';
import type { AgentConnection } from '../core/connection.ts';
import type { StopState } from '../status-bar/stop-state.ts';
import type { LiveReceipt } from './control/receipts.ts';
import { Stopping } from './control/stopping.ts';
import { type Ending, endingOf, interruptedEnd, lastEnding } from './ending.ts';
import { type LiveParts, liveParts } from './live-parts.ts';
import type { Attachment, LiveChange, LiveSessionPorts } from './live-types.ts';
import { OptionChanges } from './option-changes.ts';
import { type PromptEntry, PromptLine } from './prompt-line.ts';
import { NO_FACTS, type SessionFacts, withUpdate } from './session-facts.ts';

/** How many history events a page holds. */
export const PAGE_SIZE = 200;

/** One session as this window follows it: its conversation, its prompts on the way, and its Stop. */
export class LiveSession implements Disposable {
  readonly sessionId: string;
  readonly cwd: string;
  readonly #ports: LiveSessionPorts;
  readonly #changed = new Emitter<LiveChange>();
  readonly #line = new PromptLine();
  readonly #lifetime = new AbortController();
  readonly #stopping: Stopping;
  readonly #options: OptionChanges;
  #conversation: Conversation;
  #facts: SessionFacts = NO_FACTS;
  #attachment: Attachment = { kind: 'none' };
  #lastPrompt: PromptEntry | null = null;
  #ending: Ending = null;
  /** The prompt of a turn that lost its process; what became of it, the restored session says. */
  #cutOff: string | null = null;

  readonly onDidChange = this.#changed.event;
  readonly waiting: LiveParts['waiting'];
  readonly feed: LiveParts['feed'];
  readonly controls: LiveParts['controls'];
  readonly durability: LiveParts['durability'];
  readonly delegates: LiveParts['delegates'];
  readonly clients: LiveParts['clients'];

  constructor(sessionId: string, cwd: string, ports: LiveSessionPorts) {
    this.sessionId = sessionId;
    this.cwd = cwd;
    this.#ports = ports;
    this.#conversation = this.#newConversation();
    this.#stopping = new Stopping(ports.clock, this.#lifetime.signal, () => {
      this.#changed.fire({ kind: 'stop_overdue' });
      this.#statusChanged();
    });
    this.#options = new OptionChanges(sessionId, ports.connect);
    ({
      waiting: this.waiting,
      feed: this.feed,
      controls: this.controls,
      durability: this.durability,
      delegates: this.delegates,
      clients: this.clients,
    } = liveParts({
      sessionId,
      ports,
      signal: this.#lifetime.signal,
      isRunning: () => this.isRunning,
      connection: () => this.#connection,
      fire: (change) => this.#changed.fire(change),
    }));
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get stopState(): StopState {
    return this.#stopping.state;
  }

  get isAttached(): boolean {
    return this.#connection !== null;
  }

  get #connection(): AgentConnection | null {
    return this.#attachment.kind === 'attached' ? this.#attachment.connection : null;
  }

  /** True while a turn runs, as far as this window knows. */
  get isRunning(): boolean {
    return this.#line.isBusy || this.#conversation.runningTurn !== null;
  }

  /** How the last turn ended, as far as that is something to know of. */
  get ending(): Ending {
    return this.#ending;
  }

  /** Prompts that have not begun, oldest first. */
  get queued(): readonly PromptEntry[] {
    return this.#line.queued;
  }

  /** A name of the turn that runs, the same from its first moment to its last. */
  get turnId(): string | null {
    return this.#line.running?.commandId ?? this.#conversation.runningTurn?.turnId ?? null;
  }

  #statusChanged(): void {
    this.#changed.fire({ kind: 'status' });
  }

  #newConversation(): Conversation {
    return new Conversation((what) =>
      this.#ports.log(`session ${this.sessionId}: ${what} not shown`),
    );
  }

  /**
   * Binds the session to a connection that already knows it: lays the conversation anew from the newest page of the
   * history, then takes in what came meanwhile. `activeTurn` is the turn that runs, which may have begun before that
   * page. Rejects if the history can't be read.
   */
  async attach(
    connection: AgentConnection,
    options: readonly SessionConfigOption[] | null | undefined,
    activeTurn: string | null = null,
  ): Promise<void> {
    if (options) this.#facts = { ...this.#facts, options };
    const waiting = this.#attachment.kind === 'attaching' ? this.#attachment.waiting : [];
    this.#attachment = { kind: 'attaching', waiting };
    const page = await connection.request('_pilothouse/history/page', {
      sessionId: this.sessionId,
      limit: PAGE_SIZE,
    });
    const conversation = this.#newConversation();
    conversation.start(page, activeTurn);
    this.#conversation = conversation;
    this.#cutOff = null;
    this.#absorbPage(page);
    this.delegates.forgetRows();
    for (const { update, meta } of waiting) this.#take(update, meta);
    if (conversation.runningTurn === null) conversation.settle();
    this.#attachment = { kind: 'attached', connection };
    this.#ending = this.isRunning ? null : lastEnding(conversation.items());
    this.#changed.fire({ kind: 'reset' });
    this.#releaseHeld();
    const { feed, delegates, clients } = this;
    await Promise.all([feed, delegates, clients].map((part) => part.fetch(connection)));
    await this.durability.findLost(connection);
  }

  /** A receipt of one of the session's controls, whoever asked for it. */
  receiptCame(receipt: LiveReceipt): void {
    this.feed.receipt(receipt);
    this.#changed.fire({ kind: 'receipt', receipt });
  }

  /** Updates for the session are kept from now on, until `attach` takes them in. */
  expect(): void {
    if (this.#attachment.kind === 'none') this.#attachment = { kind: 'attaching', waiting: [] };
  }

  /** The connection is gone. What ran counts as interrupted only where no other one can tell (`isFinal`). */
  detach(isFinal = false): void {
    this.#attachment = { kind: 'none' };
    const running = this.#conversation.runningTurn;
    if (running) this.#lostTurn(running.commandId);
    if (isFinal) this.#interrupted();
    this.waiting.lost();
    this.delegates.detach();
    this.clients.forget();
    this.#statusChanged();
  }

  #absorbPage(page: HistoryPage): void {
    this.delegates.absorb(page);
    for (const entry of page.entries)
      for (const update of entry.updates) {
        this.#facts = withUpdate(this.#facts, update);
        this.feed.update(update, undefined);
      }
  }

  /** An update of the agent's. */
  receive(update: SessionUpdate, meta: unknown): void {
    if (this.#attachment.kind === 'attaching') {
      this.#attachment.waiting.push({ update, meta });
      return;
    }
    const turnBefore = this.turnId;
    this.#fireChat(this.#take(update, meta));
    // Of a turn of its own, this window is told by the answer to its prompt.
    if (turnBefore !== null && turnBefore !== this.turnId && !this.#line.isBusy)
      this.#othersEnded();
  }

  /** A turn ended that the queue, another client or a window that is gone began. */
  #othersEnded(): void {
    const end = this.#conversation.items().findLast((item) => item.kind === 'turn_end');
    if (!end) return;
    const failed = end.terminal !== 'natural' && this.#ending !== null;
    this.#changed.fire({ kind: 'turn_ended', stopReason: end.stopReason, failed });
  }

  #take(update: SessionUpdate, meta: unknown): ChatChange[] {
    if (this.delegates.take(update, meta)) return [];
    const facts = withUpdate(this.#facts, update);
    this.feed.update(update, meta);
    const turnBefore = this.turnId;
    const changes = this.#conversation.apply(update, meta, this.#ports.clock.now());
    const started = this.#conversation.runningTurn;
    const entry = started ? this.#line.find(started.commandId) : null;
    const begun = entry && entry.state === 'sent' ? this.#begin(entry) : [];
    if (turnBefore !== null && this.turnId === null)
      this.#ending = lastEnding(this.#conversation.items());
    // A turn that the queue or another client began has no answer to wait for here.
    if (turnBefore !== null && turnBefore !== this.turnId && !this.#line.isBusy) this.#settle();
    if (facts !== this.#facts || turnBefore !== this.turnId) {
      this.#facts = facts;
      this.#statusChanged();
    }
    return [...begun, ...changes];
  }

  #settle(): void {
    this.#stopping.settle();
    if (!this.isRunning) this.waiting.turnEnded();
    this.#releaseHeld();
  }

  /**
   * Sends a prompt. Resolves when the agent has it, or when it is kept here until a stopped turn has ended; rejects
   * with a `CodedError`, and then the prompt is not on its way.
   */
  async send(blocks: readonly ContentBlock[], text: string): Promise<void> {
    const entry: PromptEntry = { commandId: this.#ports.newId(), text, blocks, state: 'held' };
    if (this.#stopping.isUnderWay) {
      this.#line.add(entry);
      this.#statusChanged();
      return;
    }
    // What was chosen before Send counts for this prompt: a turn keeps the mode and model it begins with.
    await this.#options.settled;
    const connection = await this.#ports.connect();
    if (connection.isClosed)
      throw new CodedError('agent.gone', 'The session host ended. Restart it and send again.');
    this.#line.add(entry);
    this.#dispatch(entry, connection);
  }

  /** Sends the last prompt of this window again. False if there is none. */
  async retry(): Promise<boolean> {
    const last = this.#lastPrompt;
    if (!last) return false;
    await this.send(last.blocks, last.text);
    return true;
  }

  #dispatch(entry: PromptEntry, connection: AgentConnection): void {
    entry.state = 'sent';
    this.#ending = null;
    const answer = connection.request(
      'session/prompt',
      {
        sessionId: this.sessionId,
        prompt: [...entry.blocks],
        _meta: { pilothouse: { commandId: entry.commandId } },
      },
      { timeoutMs: null },
    );
    if (this.#line.next === entry) this.#fireChat(this.#begin(entry));
    this.#statusChanged();
    void answer.then(
      (response) => this.#finish(entry, promptEnd(entry.commandId, response)),
      (error: unknown) => this.#broken(entry, error),
    );
  }

  #begin(entry: PromptEntry): ChatChange[] {
    entry.state = 'running';
    this.#lastPrompt = entry;
    return this.#conversation.beginPrompt(entry.commandId, entry.blocks, this.#ports.clock.now());
  }

  #broken(entry: PromptEntry, error: unknown): void {
    this.#ports.log(`session ${this.sessionId}: the prompt ended with ${messageOf(error)}`);
    const begun = this.#conversation.runningTurn?.commandId === entry.commandId;
    const what = this.durability.promptFailed(entry, error, begun);
    if (what !== 'ended') {
      this.#lose(entry, what);
      return;
    }
    const terminal = { kind: 'runtime_error', reason: messageOf(error) };
    this.#finish(entry, turnEnd(entry.commandId, 'error', terminal));
  }

  /** A prompt that goes on elsewhere: `lost` with its process, or `unsent` back to the person. */
  #lose(entry: PromptEntry, what: 'lost' | 'unsent'): void {
    this.#line.remove(entry);
    if (what === 'unsent') this.#fireChat(this.#conversation.withdrawPrompt(entry.commandId));
    else if (entry.state === 'running') this.#lostTurn(entry.commandId);
    if (!this.#line.isBusy) this.#stopping.settle();
    this.#statusChanged();
  }

  #lostTurn(commandId: string): void {
    this.#cutOff = commandId;
    this.#fireChat(this.#conversation.turnLost());
    this.#changed.fire({ kind: 'turn_ended', stopReason: 'cancelled', failed: true });
  }

  #interrupted(): void {
    if (this.#cutOff === null) return;
    const end = interruptedEnd(this.#cutOff);
    this.#cutOff = null;
    this.#ending = endingOf(end);
    this.#fireChat(this.#conversation.promptEnded(end.turnId, end));
  }

  #finish(entry: PromptEntry, end: ReturnType<typeof turnEnd>): void {
    const begun = entry.state === 'running' ? [] : this.#begin(entry);
    this.#line.remove(entry);
    this.#ending = endingOf(end);
    const ended = this.#conversation.promptEnded(entry.commandId, end);
    const next = this.#line.next;
    const following = next ? this.#begin(next) : [];
    if (!this.#line.isBusy) this.#stopping.settle();
    if (!this.isRunning) this.waiting.turnEnded();
    this.#fireChat([...begun, ...ended, ...following]);
    this.#changed.fire({
      kind: 'turn_ended',
      stopReason: end.stopReason,
      failed: end.terminal !== 'natural' && this.#ending !== null,
    });
    this.#statusChanged();
    this.#releaseHeld();
  }

  /** What was sent during a stop goes out once the stopped turn has ended (never before: it could be cancelled too). */
  #releaseHeld(): void {
    if (this.#stopping.isUnderWay || this.#attachment.kind !== 'attached') return;
    for (const entry of this.#line.held) this.#dispatch(entry, this.#attachment.connection);
  }

  #fireChat(changes: readonly ChatChange[]): void {
    if (changes.length > 0) this.#changed.fire({ kind: 'chat', changes });
  }

  /**
   * Stop. The cancel is always sent, whatever this window believes is running; the session counts as stopping until
   * every prompt the agent has was answered.
   */
  async stop(): Promise<void> {
    this.#stopping.press(this.isRunning);
    this.#ports.cancelGates();
    this.#statusChanged();
    if (this.#attachment.kind !== 'attached') {
      this.#stopping.settle();
      return;
    }
    await this.#attachment.connection.notify('session/cancel', { sessionId: this.sessionId });
  }

  /** Fetches an older page into the conversation; resolves when its changes were fired. */
  async loadBefore(): Promise<void> {
    const before = this.#conversation.oldestEvent;
    if (!this.#conversation.hasBefore || before === null) return;
    const connection = await this.#ports.connect();
    const page = await connection.request('_pilothouse/history/page', {
      sessionId: this.sessionId,
      before,
      limit: PAGE_SIZE,
    });
    this.#fireChat(this.#conversation.prepend(page));
  }

  /** Changes an option; takes effect as the agent says, mostly from the next turn. */
  async setOption(configId: string, value: string | boolean): Promise<void> {
    const options = await this.#options.set(configId, value).catch((error: unknown) => {
      this.durability.notice(error);
      throw error;
    });
    if (options) this.#facts = { ...this.#facts, options };
    this.#statusChanged();
  }

  dispose(): void {
    this.#lifetime.abort(new Error('disposed'));
    this.#changed.dispose();
  }
}
