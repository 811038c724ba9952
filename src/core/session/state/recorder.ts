import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';
import type { ControlEvent } from '../control-events.ts';
import type { EphemeralEvent } from '../ephemeral-events.ts';
import type { HistoryEvent, LoopSignal } from '../events.ts';
import type { Journal, NewRecord, StoredRecord } from '../ports.ts';
import { controlRecords, historyRecords } from '../records.ts';
import type { SessionId } from '../words.ts';
import type { Causes } from './causes.ts';

/** Where a session's history stands. */
export type Tip = { readonly lastEventId: number; readonly prefixHash: string };

/** What a recorder works with. */
export type RecorderParts = {
  readonly sessionId: SessionId;
  readonly journal: Journal;
  /** Where the history stands. */
  readonly tip: Tip;
  readonly causes: Causes;
  /** Called once, with the first failure of an append. */
  readonly onFault: (fault: unknown) => void;
  readonly onListenerError: (error: unknown) => void;
};

/**
 * The only way events get out of a session: enduring ones are journaled first and then delivered, in the order of
 * their calls; ephemeral ones are delivered at once. The first failed append latches: `onFault` is called once and
 * every later append rejects, so nothing half-happens (design §4.1).
 */
export class Recorder implements Disposable {
  readonly #sessionId: SessionId;
  readonly #journal: Journal;
  readonly #onFault: (fault: unknown) => void;
  readonly #signals: Emitter<LoopSignal>;
  readonly #causes: Causes;
  #delivery: Promise<unknown> = Promise.resolve();
  #tip: Tip;
  #fault: { readonly cause: unknown } | null = null;
  #disposed = false;

  constructor({ sessionId, journal, tip, causes, onFault, onListenerError }: RecorderParts) {
    this.#sessionId = sessionId;
    this.#journal = journal;
    this.#tip = tip;
    this.#causes = causes;
    this.#onFault = onFault;
    this.#signals = new Emitter<LoopSignal>(onListenerError);
  }

  /** The newest delivered history event. */
  get tip(): Tip {
    return this.#tip;
  }

  get onSignal(): Emitter<LoopSignal>['event'] {
    return this.#signals.event;
  }

  /** Journals history events together; resolves when they are on disk and delivered. */
  history(...events: readonly HistoryEvent[]): Promise<void> {
    return this.append(historyRecords(events));
  }

  /** Journals control events together; resolves when they are on disk and delivered. */
  control(...events: readonly ControlEvent[]): Promise<void> {
    return this.append(controlRecords(events));
  }

  /** Journals records of both streams, all or none. */
  append(records: readonly NewRecord[]): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault.cause);
    const stored = this.#journal.append(
      this.#sessionId,
      records.map((record) => this.#causes.caused(record)),
    );
    const delivered = this.#deliverAfter(this.#delivery, stored);
    this.#delivery = delivered.catch((cause: unknown) => this.#latch(cause));
    return delivered;
  }

  /** Delivers an event that is not kept. */
  emit(event: EphemeralEvent): void {
    this.#signals.fire({ stream: 'ephemeral', event });
  }

  /** Resolves when everything appended so far is delivered or has failed. */
  async settled(): Promise<void> {
    await this.#delivery;
  }

  /** Every later append rejects with `cause`. */
  cutOff(cause: unknown): void {
    this.#fault ??= { cause };
  }

  get isDisposed(): boolean {
    return this.#disposed;
  }

  dispose(): void {
    this.#disposed = true;
    this.#signals.dispose();
  }

  async #deliverAfter(
    before: Promise<unknown>,
    stored: Promise<readonly StoredRecord[]>,
  ): Promise<void> {
    // A failure is told in its turn, too: what was stored before it is delivered before it.
    stored.catch(() => undefined);
    await before;
    for (const record of await stored) {
      if (record.stream === 'history')
        this.#tip = { lastEventId: record.record.seq, prefixHash: record.record.hash };
      this.#signals.fire(record);
    }
  }

  #latch(cause: unknown): void {
    if (this.#fault !== null) return;
    this.#fault = { cause };
    this.#onFault(cause);
  }
}
