import type { Actor } from '../../../protocol/controls.ts';
import type { GateAnswer } from '../../session/gate-words.ts';
import type { GateId } from '../../session/words.ts';
import type { Client, LiveSession } from '../api.ts';

type Session = Pick<LiveSession, 'answerGate' | 'openGates'>;
type Asked = {
  readonly session: Session;
  /** Owners that can't put it to a person. */
  readonly passed: Set<Client>;
  /** An owner that was asked and had not passed it went: a window that reloads comes back. */
  isMissed: boolean;
  /** What it counts as if nobody answers it; null while nobody passed it. */
  fallback: { readonly answer: GateAnswer; readonly actor: Actor } | null;
};

/**
 * Owners that were asked a question and can't put it to a person. It stays open for the others, and counts as declined
 * once nobody is left who could answer it; without any owner, or once one went that might have answered, it waits.
 */
export class GatePasses {
  readonly #owners: () => readonly Client[];
  readonly #asked = new Map<GateId, Asked>();

  constructor(owners: () => readonly Client[]) {
    this.#owners = owners;
  }

  /** An owner puts it to a person. */
  asked(session: Session, gateId: GateId): void {
    this.settle();
    this.#find(session, gateId);
  }

  /** `answer` is what it counts as if no other owner answers. */
  async pass(
    session: Session,
    client: Client,
    gate: { readonly gateId: GateId; readonly answer: GateAnswer },
  ): Promise<void> {
    const { gateId, answer } = gate;
    const asked = this.#find(session, gateId);
    asked.passed.add(client);
    asked.fallback = { answer, actor: client.actor };
    await this.#settle(gateId, asked);
  }

  /** It went; what it was asked waits for it, or for another owner who can answer. */
  left(client: Client): void {
    for (const asked of this.#asked.values()) if (!asked.passed.has(client)) asked.isMissed = true;
  }

  /** Owners came, went or changed. */
  settle(): void {
    // The session that can't keep the answer has stopped, and says so itself.
    for (const [gateId, asked] of [...this.#asked])
      this.#settle(gateId, asked).catch(() => undefined);
  }

  #find(session: Session, gateId: GateId): Asked {
    const known = this.#asked.get(gateId);
    const asked = known ?? { session, passed: new Set(), isMissed: false, fallback: null };
    this.#asked.set(gateId, asked);
    return asked;
  }

  async #settle(gateId: GateId, asked: Asked): Promise<void> {
    const { session, passed, isMissed, fallback } = asked;
    const isOpen = session.openGates().some((gate) => gate.gateId === gateId);
    const owners = this.#owners();
    const isLost = !isMissed && owners.length > 0 && owners.every((owner) => passed.has(owner));
    if (isOpen && !isLost) return;
    this.#asked.delete(gateId);
    if (isOpen && fallback !== null)
      await session.answerGate(gateId, fallback.answer, fallback.actor);
  }
}
