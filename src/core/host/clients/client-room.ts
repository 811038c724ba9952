import type { OnDetach, SessionClient } from '../../../protocol/session-clients.ts';
import type { GateAnswer } from '../../session/gate-words.ts';
import type { GateId } from '../../session/words.ts';
import type { Client, LiveSession, Role } from '../api.ts';
import type { AttachedClients } from './attached-clients.ts';

/** A live session with its clients. */
export type AttendedSession = {
  readonly clients: AttachedClients;
  /** An owner is there: a turn that a restart found goes on. */
  goOn(): void;
};

/** Who follows which session, and who may control it; all of it ends with the sessions. */
export class ClientRoom {
  readonly #find: (sessionId: string) => AttendedSession | undefined;

  constructor(find: (sessionId: string) => AttendedSession | undefined) {
    this.#find = find;
  }

  /** Undefined if the client follows no live session of this id. */
  role(sessionId: string, client: Client): Role | undefined {
    return this.#find(sessionId)?.clients.role(client);
  }

  onDetach(sessionId: string, client: Client): OnDetach | undefined {
    return this.#find(sessionId)?.clients.onDetach(client);
  }

  /** Those that may control a session, the acting one first; it serves the session. */
  owners(sessionId: string): readonly Client[] {
    return this.#find(sessionId)?.clients.owners() ?? [];
  }

  /** Empty where the session is not live. */
  list(sessionId: string, viewer: Client | null): readonly SessionClient[] {
    return this.#find(sessionId)?.clients.list(viewer) ?? [];
  }

  /**
   * An attached client takes control and acts; with `exclusive` it takes it from all others. Whether its credential
   * allows that is for the door to see to.
   */
  claim(sessionId: string, client: Client, options: { readonly exclusive: boolean }): void {
    const session = this.#find(sessionId);
    if (session?.clients.role(client) === undefined) return;
    session.clients.claim(client, options);
    session.goOn();
  }

  /** `client` gives its control to the client with the key `to`. */
  handOver(
    sessionId: string,
    client: Client,
    to: string,
  ): 'handed_over' | 'unknown_client' | 'may_only_observe' {
    const session = this.#find(sessionId);
    const taker = session?.clients.all.find(({ key }) => key === to);
    if (session === undefined || taker === undefined) return 'unknown_client';
    if (taker.actor.role === 'observer') return 'may_only_observe';
    if (taker === client) return 'handed_over';
    if (!session.clients.handOver(client, taker)) return 'unknown_client';
    session.goOn();
    return 'handed_over';
  }

  /** See `GatePasses`. */
  asked(session: LiveSession, gateId: GateId): void {
    this.#find(session.sessionId)?.clients.passes.asked(session, gateId);
  }

  /** See `GatePasses`. */
  async pass(
    session: LiveSession,
    client: Client,
    gate: { readonly gateId: GateId; readonly answer: GateAnswer },
  ): Promise<void> {
    await this.#find(session.sessionId)?.clients.passes.pass(session, client, gate);
  }
}
