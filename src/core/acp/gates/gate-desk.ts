import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { PeerGone, type RpcPeer } from '../../../protocol/transport/rpc-types.ts';
import type { LiveSession } from '../../host/api.ts';
import type { GateAnswer } from '../../session/gate-words.ts';
import type { Log } from '../../session/ports.ts';
import type { GateId } from '../../session/words.ts';
import type { ClientFacts } from '../client-facts.ts';
import { formAnswer, linkAnswer, permissionAnswer, signInAnswer } from './gate-answers.ts';
import { type AskedGate, type GateCall, gateCall } from './gate-requests.ts';

/** What a desk needs around it. */
export type GateDeskDeps = {
  readonly peer: RpcPeer;
  readonly facts: () => ClientFacts;
  readonly actor: () => Actor;
  readonly clock: Clock;
  readonly log: Log;
  /** The client is about to put a question to a person. */
  readonly asks: (session: LiveSession, gateId: GateId) => void;
  /** The client can't put a question to a person: it counts as answered so once no other owner can either. */
  readonly pass: (
    session: LiveSession,
    gate: { readonly gateId: GateId; readonly answer: GateAnswer },
  ) => Promise<void>;
};

type Asked = {
  readonly session: LiveSession;
  readonly abort: AbortController;
  readonly call: GateCall;
};

/**
 * Asks a client the open gates of the sessions it follows, all at once, each exactly once. The first answer from
 * anywhere counts: a gate that was resolved elsewhere is taken back, and what still comes for it is ignored.
 */
export class GateDesk implements Disposable {
  readonly #deps: GateDeskDeps;
  readonly #asked = new Map<GateId, Asked>();

  constructor(deps: GateDeskDeps) {
    this.#deps = deps;
  }

  opened(session: LiveSession, gate: AskedGate): void {
    if (this.#asked.has(gate.gateId)) return;
    const call = gateCall(session.sessionId, gate, this.#deps.facts());
    const abort = new AbortController();
    this.#asked.set(gate.gateId, { session, abort, call });
    if (call.method !== 'none') this.#deps.asks(session, gate.gateId);
    void this.#ask(session, gate, call, abort.signal);
  }

  resolved(gateId: GateId): void {
    const asked = this.#asked.get(gateId);
    if (asked === undefined) return;
    this.#asked.delete(gateId);
    asked.abort.abort();
    const isLink = asked.call.method === 'elicitation/create' && asked.call.mode === 'url';
    if (isLink) this.#deps.peer.notify('elicitation/complete', { elicitationId: gateId });
  }

  /** The client follows the session no more: its gates stay open for others. */
  detached(session: LiveSession): void {
    for (const [gateId, asked] of this.#asked) {
      if (asked.session.sessionId !== session.sessionId) continue;
      this.#asked.delete(gateId);
      asked.abort.abort();
    }
  }

  dispose(): void {
    for (const { abort } of this.#asked.values()) abort.abort();
    this.#asked.clear();
  }

  async #ask(
    session: LiveSession,
    gate: AskedGate,
    call: GateCall,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      if (call.method === 'none') {
        await this.#pass(session, gate, call.why, signal);
        return;
      }
      const { gateId } = gate;
      const { answer, isPass } = await this.#answerOf(gate, call, signal);
      if (answer === null || signal.aborted) return;
      if (isPass) await this.#deps.pass(session, { gateId, answer });
      else await session.answerGate(gateId, answer, this.#deps.actor());
    } catch (error) {
      this.#deps.log.error('A gate could not be answered', {
        gateId: gate.gateId,
        message: messageOf(error),
      });
    }
  }

  async #pass(
    session: LiveSession,
    { gateId, request }: AskedGate,
    why: string,
    signal: AbortSignal,
  ): Promise<void> {
    // What somebody else answers by coming is nobody's to decline for want of a way to ask.
    if (request.kind === 'auth' && request.waitsFor !== undefined) return;
    // The gate is announced before it can be answered.
    await this.#deps.clock.sleep(0);
    if (signal.aborted) return;
    await this.#deps.pass(session, { gateId, answer: { kind: 'declined', reason: why } });
  }

  async #answerOf(
    gate: AskedGate,
    call: Exclude<GateCall, { method: 'none' }>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: GateAnswer | null; readonly isPass: boolean }> {
    try {
      const answer = await this.#deps.peer.request(call.method, call.params, signal);
      return { answer: readAnswer(gate, call, answer), isPass: false };
    } catch (error) {
      if (signal.aborted || error instanceof PeerGone) return { answer: null, isPass: true };
      this.#deps.log.warn('A gate was not answered as asked: a no, unless somebody else answers', {
        gateId: gate.gateId,
        message: messageOf(error),
      });
      return { answer: { kind: 'declined' }, isPass: true };
    }
  }
}

function readAnswer(gate: AskedGate, call: GateCall, answer: unknown): GateAnswer | null {
  const { request } = gate;
  switch (request.kind) {
    case 'permission':
      return permissionAnswer(request, answer);
    case 'ask':
      return formAnswer(request.schema, answer);
    case 'auth':
      return call.method === '_pilothouse/auth' ? signInAnswer(answer) : linkAnswer(answer);
  }
}
