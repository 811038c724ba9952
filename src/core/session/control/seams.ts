import type { Clock } from '../../../base/clock.ts';
import type { Ids } from '../../../base/ids.ts';
import type { PendingMessage } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { NewRecord } from '../ports.ts';
import { historyRecords } from '../records.ts';
import type { Recorder } from '../state/recorder.ts';
import type { AbortReason } from '../turn/aborts.ts';
import type { MessageId, Seam, SessionId, TurnId } from '../words.ts';
import { deliveryRecords, envelopeRecord } from './delivery.ts';
import { type Directives, directiveOf, type NewDirective } from './directives.ts';
import { giveBack } from './give-back.ts';
import { type Inbox, type InboxEntry, toPending } from './inbox.ts';
import type { MachineDesk } from './machine-desk.ts';

/** One visit of a seam. */
export type SeamPass = {
  /** How many messages the model reads from here on, or the transcript holds. */
  readonly delivered: number;
  /** True if the batch that stood before the seam was dropped. */
  readonly skipped: boolean;
};

/** Where a turn is when it passes a seam. */
export type SeamVisit = {
  readonly turnId: TurnId;
  readonly seam: Seam;
  readonly iteration: number;
  /** True if the turn was stopped: then only what no model reads is delivered. */
  readonly stopped: boolean;
  /** The results of the batch that an interrupt drops here. */
  readonly dropped?: () => readonly HistoryEvent[];
};

/** What seams deliver from. */
export type SeamParts = {
  readonly sessionId: SessionId;
  readonly recorder: Recorder;
  readonly inbox: Inbox;
  /** What the machine has to tell. */
  readonly machine: Pick<MachineDesk, 'awake' | 'messages'>;
  /** Those of the conversation as it is now. */
  readonly directives: () => Directives;
  readonly clock: Clock;
  readonly ids: Ids;
  /** False: delivered messages are user messages only, without an authority. */
  readonly withDirectives: boolean;
};

type Envelope = Extract<HistoryEvent, { type: 'directives_issued' }>;

/** Seams where what the machine and the engine have to say is delivered, next to pending messages. */
const MACHINE_SEAMS: ReadonlySet<Seam> = new Set(['iteration_start', 'post_tool_dispatch']);
const TOLD_SEAMS: ReadonlySet<Seam> = new Set([...MACHINE_SEAMS, 'iteration_end']);

/** The one place where anything gets from outside into a running turn (design §4.7, §4.8). */
export class Seams {
  readonly #parts: SeamParts;
  readonly #told: NewDirective[] = [];
  #attention = new AbortController();
  #isOpen = false;

  constructor(parts: SeamParts) {
    this.#parts = parts;
  }

  /** True while a message for the running turn can still be delivered. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Aborts as soon as an interrupt waits; a seam that delivers it starts a new signal. */
  get attention(): AbortSignal {
    return this.#attention.signal;
  }

  /** A turn begins. */
  open(): void {
    this.#parts.machine.awake();
    this.#isOpen = true;
    this.#attention = new AbortController();
  }

  /** Closes the turn to messages; false, and nothing is closed, if one waits that the agent must read first. */
  close(isForced: boolean): boolean {
    if (!isForced && (this.#parts.inbox.steering().length > 0 || this.#told.length > 0))
      return false;
    this.#isOpen = false;
    return true;
  }

  /** A directive of the engine's own, issued at the next seam between two replies. */
  tellDirective(directive: NewDirective): void {
    this.#told.push(directive);
  }

  /** An interrupt was accepted: what may be dropped for it is dropped now. */
  interrupt(): void {
    if (!this.#parts.inbox.pending().some(({ mode }) => mode === 'interrupt_immediate')) return;
    const reason: AbortReason = { kind: 'interrupted' };
    this.#attention.abort(reason);
  }

  pending(behindGate: boolean): readonly PendingMessage[] {
    return this.#parts.inbox.pending().map((entry) => toPending(entry, behindGate));
  }

  /** Delivers what is due, in one append, and announces the pass. */
  async pass(visit: SeamVisit): Promise<SeamPass> {
    const { inbox, recorder, clock } = this.#parts;
    const { turnId, seam, iteration, stopped } = visit;
    const due = stopped && seam !== 'loop_exit' ? [] : inbox.due(seam);
    const skipped = visit.dropped !== undefined && due.length > 0;
    const envelope = this.#envelope(visit, due);
    const dropped = skipped ? (visit.dropped?.() ?? []) : [];
    const records: readonly NewRecord[] = [
      ...historyRecords(dropped),
      ...this.#machineMessages(visit),
      ...due.flatMap((entry) => deliveryRecords(visit, entry, envelope)),
      ...envelope.map((event) => envelopeRecord(event, due)),
    ];
    for (const { event } of records) inbox.apply(event, clock.now());
    if (this.#attention.signal.aborted && inbox.due('pre_tool_dispatch').length === 0)
      this.#attention = new AbortController();
    if (records.length > 0) await recorder.append(records);
    const messageIds = due.map(({ messageId }) => messageId);
    const count = messageIds.length;
    recorder.emit({
      type: 'seam_passed',
      turnId,
      iteration,
      seam,
      delivered: count,
      messageIds,
      dispatchSkipped: skipped,
    });
    return { delivered: count, skipped };
  }

  /** What a turn that is over could not deliver goes back to its senders. */
  givenBack(): readonly NewRecord[] {
    const { inbox, sessionId, ids, clock } = this.#parts;
    const records = giveBack(sessionId, inbox.pending(), () => ids.unique());
    for (const { event } of records) inbox.apply(event, clock.now());
    return records;
  }

  #machineMessages({ turnId, seam, stopped }: SeamVisit): readonly NewRecord[] {
    if (stopped || !MACHINE_SEAMS.has(seam)) return [];
    return this.#parts.machine.messages(turnId, () => this.#newMessageId());
  }

  #envelope({ turnId, seam, stopped }: SeamVisit, due: readonly InboxEntry[]): readonly Envelope[] {
    const { withDirectives, ids } = this.#parts;
    const directives = this.#parts.directives();
    const told = !stopped && TOLD_SEAMS.has(seam) ? this.#told.splice(0) : [];
    const steered = withDirectives ? due : due.filter(isReminder);
    const wanted = steered.filter(({ mode }) => mode !== 'queue').map(directiveOf);
    const issued = directives.toIssue([...wanted, ...told]);
    if (issued.length === 0) return [];
    const nonce = directives.nonce ?? ids.unique();
    return [
      {
        type: 'directives_issued',
        turnId,
        messageId: this.#newMessageId(),
        seam,
        nonce,
        directives: issued,
      },
    ];
  }

  #newMessageId(): MessageId {
    return this.#parts.ids.unique() as MessageId;
  }
}

function isReminder({ reminder }: InboxEntry): boolean {
  return reminder !== null;
}
