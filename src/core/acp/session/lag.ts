import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { SessionSignal } from '../../session/events.ts';
import type { DelegateOrigin, LoopId } from '../../session/words.ts';

/** How many signals wait for a client before it is served from the store. */
export const MOST_PENDING = 1_024;
/** How much may wait in its connection before that, in characters: 1 Mi. */
export const MOST_QUEUED_CHARS = 1024 * 1024;

type Whole = Extract<EphemeralEvent, { type: 'pending_changed' | 'staged_changed' }>;

/** A loop below the root in which something happened meanwhile. */
export type LaggingLoop = {
  readonly loopId: LoopId;
  readonly origin: DelegateOrigin;
  /** The newest event there is. */
  readonly tip: number;
};

/**
 * What a client that does not read was not told: where the stored streams stand, and the newest of what tells
 * everything anew each time. The rest of what is only told is dropped.
 */
export class Lag {
  readonly #wholes = new Map<Whole['type'], Whole>();
  readonly #loops = new Map<LoopId, LaggingLoop>();
  #tip = 0;
  #firstControl: number | null = null;

  /** The newest event of the session. */
  get tip(): number {
    return this.#tip;
  }

  /** The control record behind which receipts were missed; null if none was. */
  get controlAfter(): number | null {
    return this.#firstControl === null ? null : this.#firstControl - 1;
  }

  get loops(): readonly LaggingLoop[] {
    return [...this.#loops.values()];
  }

  get wholes(): readonly Whole[] {
    return [...this.#wholes.values()];
  }

  note(signal: SessionSignal): void {
    switch (signal.stream) {
      case 'history':
        this.#tip = Math.max(this.#tip, signal.record.seq);
        break;
      case 'control':
        this.#firstControl ??= signal.record.seq;
        break;
      case 'ephemeral':
        if (signal.event.type === 'pending_changed' || signal.event.type === 'staged_changed')
          this.#wholes.set(signal.event.type, signal.event);
        break;
      case 'loop': {
        const { loopId, origin, signal: own } = signal;
        if (own.stream === 'history')
          this.#loops.set(loopId, { loopId, origin, tip: own.record.seq });
        break;
      }
    }
  }

  /** Receipts were told up to this control record. */
  receiptsTold(): void {
    this.#firstControl = null;
  }
}
