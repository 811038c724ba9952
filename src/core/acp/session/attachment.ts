import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { messageOf } from '../../../base/errors.ts';
import type { LiveSession, SessionHost, Snapshot } from '../../host/api.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { Cause, HistoryEvent, SessionSignal, Stored } from '../../session/events.ts';
import type { Log } from '../../session/ports.ts';
import type { GateId, SessionId } from '../../session/words.ts';
import type { Role } from '../access/credential.ts';
import { audienceOf, type ClientFacts } from '../client-facts.ts';
import type { ReceiptTeller } from '../control/receipt-teller.ts';
import type { AskedGate } from '../gates/gate-requests.ts';
import { causeOf } from '../projection/projected.ts';
import { Projector } from '../projection/projector.ts';
import { ExtensionNews } from './extension-news.ts';
import { Lag, MOST_PENDING, MOST_QUEUED_CHARS } from './lag.ts';
import { LiveOutput } from './live-output.ts';
import { LoopViews } from './loop-views.ts';
import type { EventMark, UpdateSender } from './sender.ts';
import { damagedNotice, StoredReceipts } from './stored-receipts.ts';

/** How many events of a replay are read at once. */
const REPLAY_PAGE = 500;
/** How many events that a slow client missed are read at once. */
const MISSED_PAGE = 100;

/** What a replay sent: one entry an event that has updates. Source: Harn session control, Resume. */
export type Replayed = { readonly eventId: number; readonly type: string };

/** What an attachment needs around it. */
export type AttachmentDeps = {
  /** Where what a slow client missed is read again. */
  readonly host: Pick<SessionHost, 'history' | 'controls'>;
  readonly facts: ClientFacts;
  readonly sender: UpdateSender;
  readonly clock: Clock;
  readonly log: Log;
  /** True for the command ids of this client's own prompts. */
  readonly isOwnPrompt: (commandId: string) => boolean;
  readonly gates: {
    opened(session: LiveSession, gate: AskedGate): void;
    resolved(gateId: GateId): void;
    /** What this client was asked in the session is not its to answer any more. */
    detached(session: LiveSession): void;
  };
  readonly receipts: ReceiptTeller;
};

/**
 * One client following one session. Signals are held back from the moment of attaching until `goLive`, so that a
 * replay and the answer of the request come first and nothing is lost or repeated between them and the live events.
 *
 * A client that does not read keeps nobody waiting and fills no memory: what is only told is dropped for it, and what
 * is stored is read again when it reads on.
 */
export class Attachment implements Disposable {
  readonly session: LiveSession;
  readonly snapshot: Snapshot;
  readonly #deps: AttachmentDeps;
  readonly #projector: Projector;
  readonly #output: LiveOutput;
  readonly #news: ExtensionNews;
  readonly #loops: LoopViews;
  readonly #subscription: Disposable;
  readonly #pending: SessionSignal[] = [];
  #waiters: (() => void)[] = [];
  readonly #idleWaiters: (() => void)[] = [];
  /** The last event that was passed on. */
  #passed: number;
  /** What the client missed, while it is served from the store. */
  #lag: Lag | null = null;
  #isLive = false;
  #isBusy = false;
  #isDisposed = false;
  #role: Role;

  constructor(session: LiveSession, role: Role, deps: AttachmentDeps) {
    this.session = session;
    this.#role = role;
    this.#deps = deps;
    this.#projector = new Projector(audienceOf(deps.facts));
    this.#news = new ExtensionNews(session.sessionId, deps.facts, deps.sender);
    this.#output = new LiveOutput(deps.clock, (update) => {
      // The call's result shows it all to a client that reads too slowly for this.
      if (this.#lag === null) deps.sender.update(session.sessionId, update, { replayed: false });
    });
    this.#loops = new LoopViews({ ...deps, session, role: () => this.#role });
    this.#projector.startIn(session.describe().currentModeId);
    const { snapshot, subscription } = session.subscribe((signal) => this.#take(signal));
    this.snapshot = snapshot;
    this.#passed = snapshot.lastEventId;
    this.#subscription = subscription;
  }

  get role(): Role {
    return this.#role;
  }

  /** Takes another role: only who may control is asked the open gates. */
  become(role: Role): void {
    if (role === this.#role) return;
    this.#role = role;
    if (role === 'observer') this.#deps.gates.detached(this.session);
    else if (this.#isLive) this.#askGates();
  }

  #askGates(): void {
    if (this.#role === 'observer') return;
    for (const gate of this.session.openGates()) this.#deps.gates.opened(this.session, gate);
  }

  /** Sends the history up to the snapshot, oldest first, then the text and output not yet in it. */
  async replay(host: SessionHost, signal: AbortSignal): Promise<readonly Replayed[]> {
    const { sessionId } = this.session;
    const replayed: Replayed[] = [];
    const { facts, sender } = this.#deps;
    const receipts =
      facts.harn || facts.pilothouse
        ? new StoredReceipts(
            host.controls,
            sessionId,
            (receipt) => this.#deps.receipts.replayed(receipt),
            (count) => {
              if (facts.notices) this.#send(damagedNotice(count), { replayed: true });
            },
          )
        : null;
    let after = 0;
    while (after < this.snapshot.lastEventId) {
      signal.throwIfAborted();
      const tip = this.snapshot.lastEventId;
      const page = await host.history(sessionId, { after, tip, limit: REPLAY_PAGE });
      for (const record of page) {
        await receipts?.tellBefore(record.at);
        replayed.push(...this.#replayRecord(record));
      }
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.seq;
      if (sender.queuedChars > MOST_QUEUED_CHARS) await sender.taken();
    }
    await receipts?.tellRest();
    this.#sendPartial(true);
    return replayed;
  }

  #replayRecord(record: Stored<HistoryEvent>): readonly Replayed[] {
    const { event } = record;
    this.#news.happened(event, { eventId: record.seq, replayed: true });
    const projected = this.#projector.history(record, { skipPrompt: false });
    for (const { update, offset } of projected)
      this.#send(update, markOf({ eventId: record.seq, replayed: true, offset, record }));
    const [first] = projected;
    return first ? [{ eventId: record.seq, type: first.update.sessionUpdate }] : [];
  }

  #sendPartial(replayed: boolean): void {
    for (const part of this.snapshot.partial)
      for (const { update, offset } of this.#projector.chunk(part))
        this.#send(update, markOf({ eventId: this.snapshot.lastEventId, replayed, offset }));
    for (const { toolCallId, content, text } of this.snapshot.outputs) {
      this.#output.started(toolCallId, content);
      if (text !== '') this.#passOutput(toolCallId, text);
    }
  }

  /** The snapshot itself was told, with its text and output that are not in the history yet: only more is to follow. */
  snapshotTold(): void {
    for (const part of this.snapshot.partial) this.#projector.chunk(part);
    for (const { toolCallId, content, text } of this.snapshot.outputs)
      this.#output.started(toolCallId, content, text);
  }

  #passOutput(toolCallId: string, text: string): void {
    if (!this.#deps.facts.pilothouse) this.#output.add(toolCallId, text);
    else this.#send(this.#projector.output({ toolCallId, text }), { replayed: false });
  }

  /** Everything that was held back goes out, and events go out as they come; open gates are asked. */
  goLive(options: { readonly withPartial: boolean }): void {
    if (this.#isDisposed || this.#isLive) return;
    if (options.withPartial) this.#sendPartial(false);
    this.#isLive = true;
    this.#askGates();
    if (this.#lag === null) this.#pump();
    else void this.#catchUp(this.#lag);
  }

  /** The choices changed though no value did: the list is told anew. */
  optionsChanged(): void {
    if (!this.#isLive || this.#isDisposed) return;
    if (this.#isBusy) this.#idleWaiters.push(() => this.optionsChanged());
    else this.#passOptions({ replayed: false });
  }

  /** Resolves when everything that has happened in the session so far was sent. */
  async drained(): Promise<void> {
    const isDone = this.#isLive && !this.#isBusy && this.#lag === null;
    if (this.#isDisposed || (isDone && this.#pending.length === 0)) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #take(signal: SessionSignal): void {
    if (this.#lag !== null) {
      this.#lag.note(signal);
      return;
    }
    this.#pending.push(signal);
    const isFar = this.#deps.sender.queuedChars > MOST_QUEUED_CHARS;
    if (isFar || this.#pending.length > MOST_PENDING) this.#fallBehind();
    else if (this.#isLive) this.#pump();
  }

  #fallBehind(): void {
    const lag = new Lag();
    for (const signal of this.#pending.splice(0)) lag.note(signal);
    this.#lag = lag;
    if (this.#isLive) void this.#catchUp(lag);
  }

  /** Tells what was missed, as fast as the client reads, and is live again in the tick in which nothing is left. */
  async #catchUp(lag: Lag): Promise<void> {
    try {
      do await this.#deps.sender.taken();
      while (!this.#isDisposed && (await this.#tellMissed(lag)));
    } catch (error) {
      this.#deps.log.error('What a slow client missed of a session could not be read', {
        sessionId: this.session.sessionId,
        message: messageOf(error),
      });
    }
    this.#lag = null;
    for (const event of lag.wholes) this.#passEphemeral(event);
    this.#pump();
  }

  /** A part of it; false if nothing is missing any more. */
  async #tellMissed(lag: Lag): Promise<boolean> {
    const { sessionId } = this.session;
    const { host, receipts } = this.#deps;
    await this.#settled();
    if (lag.tip > this.#passed) {
      for (const record of await this.#missed(sessionId, this.#passed)) {
        this.#passHistory(record);
        await this.#settled();
      }
      return true;
    }
    const behind = lag.loops.find(({ loopId, tip }) => tip > (this.#loops.passed(loopId) ?? 0));
    if (behind !== undefined) {
      const { loopId, origin } = behind;
      const after = this.#loops.passed(loopId) ?? 0;
      for (const record of await this.#missed(loopId as string as SessionId, after))
        this.#loops.history(loopId, origin, record);
      return true;
    }
    const after = lag.controlAfter;
    if (after === null) return false;
    lag.receiptsTold();
    const page = await host.controls.receipts({ sessionId, after, limit: REPLAY_PAGE });
    for (const { receipt } of page.receipts) receipts.live(receipt);
    return true;
  }

  async #missed(loop: SessionId, after: number): Promise<readonly Stored<HistoryEvent>[]> {
    const page = await this.#deps.host.history(loop, { all: true, after, limit: MISSED_PAGE });
    if (page.length > 0) return page;
    throw new Error(`The history of ${loop} ends at event ${after}, though more was told of it`);
  }

  /** Resolves when nothing that was begun to be told is under way. */
  async #settled(): Promise<void> {
    while (this.#isBusy) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  #pump(): void {
    while (!this.#isBusy && !this.#isDisposed && this.#lag === null) {
      const next = this.#pending.shift();
      if (next === undefined) {
        for (const wake of this.#waiters.splice(0)) wake();
        return;
      }
      this.#pass(next);
    }
  }

  #pass(signal: SessionSignal): void {
    if (signal.stream === 'history') this.#passHistory(signal.record);
    else if (signal.stream === 'control') this.#passControl(signal.record);
    else if (signal.stream === 'ephemeral') this.#passEphemeral(signal.event);
    else this.#loops.pass(signal);
  }

  #passHistory(record: Stored<HistoryEvent>): void {
    const { event, seq } = record;
    if (seq <= this.#passed) return;
    this.#passed = seq;
    const skipPrompt =
      event.type === 'turn_started' &&
      !this.#deps.facts.echoPrompts &&
      this.#deps.isOwnPrompt(event.commandId);
    if (event.type === 'tool_ended') this.#output.ended(event.toolCallId);
    if (event.type === 'turn_ended') this.#output.clear();
    for (const { update, offset } of this.#projector.history(record, { skipPrompt }))
      this.#send(update, markOf({ eventId: seq, replayed: false, offset, record }));
    if (event.type === 'tool_proposed') this.#output.started(event.toolCallId, event.content);
    this.#news.happened(event, { eventId: seq, replayed: false });
    if (event.type === 'gate_opened' && this.#role === 'host_owner')
      this.#deps.gates.opened(this.session, event);
    if (event.type === 'gate_resolved') this.#deps.gates.resolved(event.gateId);
    if (event.type === 'config_changed') this.#passOptions({ eventId: seq, replayed: false });
  }

  /** The list comes from the host and may take a moment; what happens meanwhile waits behind it. */
  #passOptions(mark: { readonly eventId?: number; readonly replayed: boolean }): void {
    this.#isBusy = true;
    this.session
      .configOptions()
      .then(
        (configOptions) =>
          this.#send(
            { sessionUpdate: 'config_option_update', configOptions: [...configOptions] },
            mark,
          ),
        (error: unknown) =>
          this.#deps.log.error('The options of a session could not be read', {
            sessionId: this.session.sessionId,
            message: messageOf(error),
          }),
      )
      .finally(() => {
        this.#isBusy = false;
        for (const wake of this.#idleWaiters.splice(0)) wake();
        this.#pump();
      });
  }

  #passControl(record: Stored<ControlEvent>): void {
    const { event } = record;
    if (event.type === 'control_outcome') this.#deps.receipts.live(event.receipt);
  }

  #passEphemeral(event: EphemeralEvent): void {
    switch (event.type) {
      case 'message_chunk':
        for (const { update, offset } of this.#projector.chunk(event))
          this.#send(update, markOf({ eventId: event.afterEventId, replayed: false, offset }));
        break;
      case 'tool_output':
        this.#passOutput(event.toolCallId, event.text);
        break;
      case 'seam_passed':
        this.#news.seamPassed(event);
        break;
      case 'pending_changed':
        this.#news.pendingChanged(event);
        break;
      case 'staged_changed':
        this.#news.stagedChanged(event);
        break;
      case 'compaction_started':
        for (const update of this.#projector.compacting(event))
          this.#send(update, { replayed: false });
        break;
      case 'activity_changed':
        break;
    }
  }

  #send(update: Parameters<UpdateSender['update']>[1], mark: EventMark): void {
    if (!this.#isDisposed) this.#deps.sender.update(this.session.sessionId, update, mark);
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#subscription.dispose();
    this.#output.clear();
    this.#news.dispose();
    this.#pending.length = 0;
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

function markOf(mark: {
  eventId: number;
  replayed: boolean;
  offset: number | undefined;
  /** The event that it tells; missing on what is not stored yet. */
  record?: { readonly cause: Cause };
}): EventMark {
  const { eventId, replayed, offset, record } = mark;
  return {
    eventId,
    replayed,
    ...(offset === undefined ? {} : { offset }),
    ...(record === undefined ? {} : causeOf(record)),
  };
}
