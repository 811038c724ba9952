import type { Clock } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { GateAnswer, GateRequest } from '../events.ts';
import { abortReason } from '../turn/aborts.ts';
import type { GateId, TurnId } from '../words.ts';
import type { Recorder } from './recorder.ts';

/** A gate that waits for an answer. */
export type OpenGate = {
  readonly gateId: GateId;
  readonly turnId: TurnId;
  readonly request: GateRequest;
  readonly openedAt: number;
};

type Waiting = OpenGate & { readonly answered: Deferred<{ answer: GateAnswer; actor: Actor }> };

/**
 * The open questions of a session. Several may be open at once; each is answered once, by whoever is first, and
 * both the question and the answer are journaled before they take effect.
 */
export class Gates {
  readonly #recorder: Recorder;
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #open = new Map<GateId, Waiting>();

  constructor(recorder: Recorder, ids: Ids, clock: Clock, onChange: () => void) {
    this.#recorder = recorder;
    this.#ids = ids;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  list(): readonly OpenGate[] {
    return [...this.#open.values()].map(({ gateId, turnId, request, openedAt }) => ({
      gateId,
      turnId,
      request,
      openedAt,
    }));
  }

  /**
   * Opens a gate and waits for its answer; an abort answers it `cancelled`. `elsewhere` answers it in the host's name
   * if it settles first; it must not reject.
   */
  async ask(
    turnId: TurnId,
    request: GateRequest,
    signal: AbortSignal,
    elsewhere?: Promise<GateAnswer>,
  ): Promise<GateAnswer> {
    const gateId = this.#ids.unique() as GateId;
    const gate: Waiting = {
      gateId,
      turnId,
      request,
      openedAt: this.#clock.now(),
      answered: new Deferred(),
    };
    // Known before it is told, so that whoever answers on hearing of it is heard.
    this.#open.set(gateId, gate);
    try {
      await this.#recorder.history({ type: 'gate_opened', turnId, gateId, request });
    } catch (failure) {
      this.#open.delete(gateId);
      throw failure;
    }
    this.#onChange();
    const withdraw = (): void =>
      this.#settle(gate, { kind: 'cancelled', reason: withdrawal(signal) }, HOST);
    if (signal.aborted) withdraw();
    signal.addEventListener('abort', withdraw, { once: true });
    void elsewhere?.then((answer) => this.#settle(gate, answer, HOST));
    try {
      const { answer, actor } = await gate.answered.promise;
      await this.#recorder.history({ type: 'gate_resolved', turnId, gateId, answer, actor });
      return answer;
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  /** False if it is not open any more. */
  answer(gateId: GateId, answer: GateAnswer, actor: Actor): boolean {
    const gate = this.#open.get(gateId);
    if (gate === undefined) return false;
    this.#settle(gate, answer, actor);
    return true;
  }

  #settle(gate: Waiting, answer: GateAnswer, actor: Actor): void {
    if (!this.#open.delete(gate.gateId)) return;
    gate.answered.resolve({ answer, actor });
    this.#onChange();
  }
}

function withdrawal(signal: AbortSignal): 'turn_cancelled' | 'interrupted' | 'call_cancelled' {
  const { kind } = abortReason(signal);
  return kind === 'interrupted' || kind === 'call_cancelled' ? kind : 'turn_cancelled';
}

/** The actor of what the host does by itself. */
export const HOST: Actor = { clientId: 'host', role: 'host_owner', source: 'host' };
