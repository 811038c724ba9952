import type { Actor } from '../../../protocol/controls.ts';
import type { GateAnswer } from '../../session/gate-words.ts';
import type { GateId } from '../../session/words.ts';
import type { Client, LiveSession } from '../api.ts';

type Passed = {
  readonly session: Pick<LiveSession, 'answerGate' | 'openGates'>;
  readonly clients: Set<Client>;
  answer: GateAnswer;
  actor: Actor;
};

/**
 * Owners that were asked a question and can't put it to a person. It stays open for the others, and counts as declined
 * once nobody is left who could answer it; without any owner it waits for one.
 */
export class GatePasses {
  readonly #owners: () => readonly Client[];
  readonly #passed = new Map<GateId, Passed>();

  constructor(owners: () => readonly Client[]) {
    this.#owners = owners;
  }

  /** `answer` is what it counts as if no other owner answers. */
  async pass(
    session: Passed['session'],
    client: Client,
    gate: { readonly gateId: GateId; readonly answer: GateAnswer },
  ): Promise<void> {
    const { gateId, answer } = gate;
    const known = this.#passed.get(gateId);
    const passed = known ?? { session, clients: new Set(), answer, actor: client.actor };
    passed.clients.add(client);
    Object.assign(passed, { answer, actor: client.actor });
    this.#passed.set(gateId, passed);
    await this.#settle(gateId, passed);
  }

  /** Owners came, went or changed. */
  settle(): void {
    // The session that can't keep the answer has stopped, and says so itself.
    for (const [gateId, passed] of [...this.#passed])
      this.#settle(gateId, passed).catch(() => undefined);
  }

  async #settle(gateId: GateId, passed: Passed): Promise<void> {
    const { session, clients, answer, actor } = passed;
    const isOpen = session.openGates().some((gate) => gate.gateId === gateId);
    const owners = this.#owners();
    const isLost = owners.length > 0 && owners.every((owner) => clients.has(owner));
    if (isOpen && !isLost) return;
    this.#passed.delete(gateId);
    if (isOpen) await session.answerGate(gateId, answer, actor);
  }
}
