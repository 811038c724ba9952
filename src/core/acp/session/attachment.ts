import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { messageOf } from '../../../base/errors.ts';
import type { LiveSession, OpenGate, SessionHost, Snapshot } from '../../host/api.ts';
import type { ControlEvent } from '../../session/control-events.ts';
import type { EphemeralEvent, HistoryEvent, SessionSignal, Stored } from '../../session/events.ts';
import type { Log } from '../../session/ports.ts';
import type { GateId } from '../../session/words.ts';
import type { Role } from '../access/credential.ts';
import type { ClientFacts } from '../client-facts.ts';
import type { ReceiptTeller } from '../control/receipt-teller.ts';
import { Projector } from '../projection/projector.ts';
import { ExtensionNews } from './extension-news.ts';
import { LiveOutput } from './live-output.ts';
import type { EventMark, UpdateSender } from './sender.ts';
import { StoredReceipts } from './stored-receipts.ts';

/** How many events of a replay are read at once. */
const REPLAY_PAGE = 500;

/** What a replay sent: one entry an event that has updates. Source: Harn session control, Resume. */
export type Replayed = { readonly eventId: number; readonly type: string };

/** What an attachment needs around it. */
export type AttachmentDeps = {
  readonly facts: ClientFacts;
  readonly sender: UpdateSender;
  readonly clock: Clock;
  readonly log: Log;
  /** True for the command ids of this client's own prompts. */
  readonly isOwnPrompt: (commandId: string) => boolean;
  readonly gates: {
    opened(session: LiveSession, gate: Pick<OpenGate, 'gateId' | 'request'>): void;
    resolved(gateId: GateId): void;
    /** What this client was asked in the session is not its to answer any more. */
    detached(session: LiveSession): void;
  };
  readonly receipts: ReceiptTeller;
};

/**
 * One client following one session. Signals are held back from the moment of attaching until `goLive`, so that a
 * replay and the answer of the request come first and nothing is lost or repeated between them and the live events.
 */
export class Attachment implements Disposable {
  readonly session: LiveSession;
  readonly snapshot: Snapshot;
  readonly #deps: AttachmentDeps;
  readonly #projector: Projector;
  readonly #output: LiveOutput;
  readonly #news: ExtensionNews;
  readonly #subscription: Disposable;
  readonly #pending: SessionSignal[] = [];
  #waiters: (() => void)[] = [];
  #isLive = false;
  #isBusy = false;
  #isDisposed = false;
  #role: Role;

  constructor(session: LiveSession, role: Role, deps: AttachmentDeps) {
    this.session = session;
    this.#role = role;
    this.#deps = deps;
    const { notices, pilothouse, harn } = deps.facts;
    this.#projector = new Projector({ notices, extras: pilothouse, harn });
    this.#news = new ExtensionNews(session.sessionId, deps.facts, deps.sender);
    this.#output = new LiveOutput(deps.clock, (update) =>
      deps.sender.update(session.sessionId, update, { replayed: false }),
    );
    this.#projector.startIn(session.describe().currentModeId);
    const { snapshot, subscription } = session.subscribe((signal) => this.#take(signal));
    this.snapshot = snapshot;
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

  /** Sends the history up to the snapshot, oldest first, then the text not yet in it. */
  async replay(host: SessionHost, signal: AbortSignal): Promise<readonly Replayed[]> {
    const { sessionId } = this.session;
    const replayed: Replayed[] = [];
    const { harn, pilothouse } = this.#deps.facts;
    const receipts =
      harn || pilothouse
        ? new StoredReceipts(host.controls, sessionId, (receipt) =>
            this.#deps.receipts.replayed(receipt),
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
      this.#send(update, markOf({ eventId: record.seq, replayed: true, offset }));
    const [first] = projected;
    return first ? [{ eventId: record.seq, type: first.update.sessionUpdate }] : [];
  }

  #sendPartial(replayed: boolean): void {
    for (const part of this.snapshot.partial)
      for (const { update, offset } of this.#projector.chunk(part))
        this.#send(update, markOf({ eventId: this.snapshot.lastEventId, replayed, offset }));
  }

  /** Everything that was held back goes out, and events go out as they come; open gates are asked. */
  goLive(options: { readonly withPartial: boolean }): void {
    if (this.#isDisposed || this.#isLive) return;
    if (options.withPartial) this.#sendPartial(false);
    this.#isLive = true;
    this.#askGates();
    this.#pump();
  }

  /** The choices changed though no value did: the list is told anew. */
  optionsChanged(): void {
    if (this.#isLive && !this.#isBusy && !this.#isDisposed) this.#passOptions({ replayed: false });
  }

  /** Resolves when everything that has happened in the session so far was sent. */
  async drained(): Promise<void> {
    if (this.#isDisposed || (this.#isLive && !this.#isBusy && this.#pending.length === 0)) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #take(signal: SessionSignal): void {
    this.#pending.push(signal);
    if (this.#isLive) this.#pump();
  }

  #pump(): void {
    while (!this.#isBusy && !this.#isDisposed) {
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
  }

  #passHistory(record: Stored<HistoryEvent>): void {
    const { event, seq } = record;
    const skipPrompt =
      event.type === 'turn_started' &&
      !this.#deps.facts.echoPrompts &&
      this.#deps.isOwnPrompt(event.commandId);
    if (event.type === 'tool_ended') this.#output.ended(event.toolCallId);
    if (event.type === 'turn_ended') this.#output.clear();
    for (const { update, offset } of this.#projector.history(record, { skipPrompt }))
      this.#send(update, markOf({ eventId: seq, replayed: false, offset }));
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
        if (this.#deps.facts.pilothouse)
          this.#send(this.#projector.output(event), { replayed: false });
        else this.#output.add(event.toolCallId, event.text);
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
}): EventMark {
  const { eventId, replayed, offset } = mark;
  return { eventId, replayed, ...(offset === undefined ? {} : { offset }) };
}
