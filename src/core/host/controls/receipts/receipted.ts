import type { Ids } from '../../../../base/ids.ts';
import type { Control, ControlOutcome } from '../../../../protocol/controls.ts';
import { ControlRefused } from '../../../session/control/refusal.ts';
import type { ControlTarget } from '../api.ts';
import { type Outcome, receiptOf } from './receipt-of.ts';

/** A control's result with what its receipt says of it. `target` names more than the session, as `messageId`. */
export type Receipted<T> = {
  readonly result: T;
  readonly outcome: Outcome;
  readonly target?: { readonly [name: string]: string };
};

/** Where receipts go: to the session they name if it is here, else to the host's own stream. */
export interface ReceiptSink {
  /** Resolves when it is on disk. */
  keep(receipt: ControlOutcome): Promise<void>;
}

/** Sees to it that a control has exactly one receipt, whatever it comes to. */
export class ReceiptWriter {
  readonly #sink: ReceiptSink;
  readonly #ids: Ids;

  constructor(sink: ReceiptSink, ids: Ids) {
    this.#sink = sink;
    this.#ids = ids;
  }

  /**
   * Does the work and keeps its receipt before it settles. A `ControlRefused` is kept as rejected and thrown on; so
   * is every other failure, as `failed`. `metadata` is what was asked for beyond names; what it came to wins.
   */
  async run<T>(
    method: Control,
    target: ControlTarget,
    work: () => Promise<Receipted<T>>,
    names: { readonly [name: string]: string } = {},
    metadata: ControlOutcome['metadata'] = {},
  ): Promise<T> {
    let done: Receipted<T>;
    try {
      done = await work();
    } catch (error) {
      await this.#keepRefusal(method, target, error, names, metadata);
      throw error;
    }
    const outcome = stating(done.outcome, metadata);
    await this.keep(method, target, outcome, { ...names, ...done.target });
    return done.result;
  }

  /** Keeps a receipt of something that was done already. */
  async keep(
    method: Control,
    target: ControlTarget,
    outcome: Outcome,
    names: { readonly [name: string]: string } = {},
  ): Promise<void> {
    await this.#sink.keep(receiptOf(this.#ids.unique(), method, target, outcome, names));
  }

  async #keepRefusal(
    method: Control,
    target: ControlTarget,
    error: unknown,
    names: { readonly [name: string]: string },
    metadata: ControlOutcome['metadata'],
  ): Promise<void> {
    const reason = error instanceof ControlRefused ? error.refusal : 'failed';
    const outcome: Outcome = { outcome: reason, status: 'rejected', reason };
    await this.keep(method, target, stating(outcome, metadata), names);
  }
}

function stating(outcome: Outcome, metadata: ControlOutcome['metadata']): Outcome {
  const stated = { ...metadata, ...outcome.metadata };
  return Object.keys(stated).length === 0 ? outcome : { ...outcome, metadata: stated };
}
