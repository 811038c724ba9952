import { Deferred } from '../../base/deferred.ts';
import type { Disposable } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Gate, GateAnswer } from './gate.ts';

/** What happened to the open gates. */
export type GateChange =
  | { readonly kind: 'opened'; readonly gate: Gate }
  | { readonly kind: 'closed'; readonly gate: Gate; readonly answer: GateAnswer };

type Entry = { readonly gate: Gate; readonly answered: Deferred<GateAnswer> };

/**
 * The gates that are open now, for every surface that shows them. The first answer wins and closes the gate
 * everywhere; a later one finds it gone and changes nothing.
 */
export class GateStore implements Disposable {
  readonly #open = new Map<string, Entry>();
  readonly #changed = new Emitter<GateChange>();

  readonly onDidChange = this.#changed.event;

  /** Open gates, oldest first. */
  all(): readonly Gate[] {
    return [...this.#open.values()].map((entry) => entry.gate);
  }

  ofSession(sessionId: string): readonly Gate[] {
    return this.all().filter((gate) => gate.sessionId === sessionId);
  }

  get(gateId: string): Gate | null {
    return this.#open.get(gateId)?.gate ?? null;
  }

  /**
   * Shows a gate until somebody answers or `signal` takes it back, and resolves with the answer. A gate that is
   * asked again while it is open stays one gate; both askers get its answer.
   */
  async ask(gate: Gate, signal: AbortSignal): Promise<GateAnswer> {
    if (signal.aborted) return { kind: 'cancelled' };
    const entry = this.#open.get(gate.gateId) ?? this.#add(gate);
    const withdraw = (): void => {
      this.answer(gate.gateId, { kind: 'cancelled' });
    };
    signal.addEventListener('abort', withdraw, { once: true });
    try {
      return await entry.answered.promise;
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  #add(gate: Gate): Entry {
    const entry: Entry = { gate, answered: new Deferred() };
    this.#open.set(gate.gateId, entry);
    this.#changed.fire({ kind: 'opened', gate });
    return entry;
  }

  /** False if the gate is not open (any more): somebody was faster. */
  answer(gateId: string, answer: GateAnswer): boolean {
    const entry = this.#open.get(gateId);
    if (!entry) return false;
    this.#open.delete(gateId);
    entry.answered.resolve(answer);
    this.#changed.fire({ kind: 'closed', gate: entry.gate, answer });
    return true;
  }

  /** Stop: every open gate of the session is answered `cancelled`. */
  cancelSession(sessionId: string): void {
    for (const gate of this.ofSession(sessionId)) this.answer(gate.gateId, { kind: 'cancelled' });
  }

  /** The agent is gone: no question is open any more. */
  cancelAll(): void {
    for (const gate of this.all()) this.answer(gate.gateId, { kind: 'cancelled' });
  }

  dispose(): void {
    this.cancelAll();
    this.#changed.dispose();
  }
}
