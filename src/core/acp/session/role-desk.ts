import type { JsonObject } from '../../../base/json.ts';
import type { SessionSnapshot } from '../../../protocol/pilothouse.ts';
import type { OnDetach } from '../../../protocol/session-clients.ts';
import type { IncomingRequest, Reply, RpcPeer } from '../../../protocol/transport/rpc-types.ts';
import type { Client, Role, SessionHost } from '../../host/api.ts';
import { unknownSession } from '../../host/errors.ts';
import type { SessionId } from '../../session/words.ts';
import { observerRefused } from '../access/actors.ts';
import type { ClientFacts } from '../client-facts.ts';
import { normalised } from '../control/control-params.ts';
import { shownPending, shownQueue } from '../control/shown-pending.ts';
import * as checks from '../generated/schema-checks.mjs';
import { badField, requireValid } from '../params.ts';
import { asRpcError, notAttached } from '../wire-errors.ts';
import type { Attachment } from './attachment.ts';
import type { SessionDesk } from './session-desk.ts';
import { sessionItem } from './session-item.ts';

/** What the desk needs around it. */
export type RoleDeskDeps = {
  readonly host: SessionHost;
  readonly client: Client;
  readonly peer: RpcPeer;
  readonly facts: () => ClientFacts;
  readonly sessions: SessionDesk;
  /** What this client may do at most. */
  readonly ceiling: () => Role;
  /** False where the host ends with its client: then nothing can be kept, whatever is asked for. */
  readonly canKeep: boolean;
};

type Handler = (params: unknown) => Promise<Reply>;

/** Who this client is in the sessions it follows: it joins, leaves, takes control and gives it away (design §1). */
export class RoleDesk {
  readonly #deps: RoleDeskDeps;
  readonly #handlers: ReadonlyMap<string, Handler>;
  /** Sessions whose new list of clients is about to be told. */
  readonly #telling = new Set<string>();

  constructor(deps: RoleDeskDeps) {
    this.#deps = deps;
    this.#handlers = new Map<string, Handler>([
      ['_pilothouse/attach', (params) => this.#attach(params)],
      ['_pilothouse/detach', (params) => this.#detach(params)],
      ['_pilothouse/claim', (params) => this.#claim(params)],
      ['_pilothouse/hand_over', (params) => this.#handOver(params)],
      ['_pilothouse/clients/list', (params) => this.#list(params)],
    ]);
  }

  /** What answers the method; undefined if it is none of these. */
  handler(name: string): ((request: IncomingRequest) => Promise<Reply>) | undefined {
    const handler = this.#handlers.get(name);
    return handler && ((request) => handler(request.params));
  }

  /** It takes effect at once: who may not control is asked nothing any more, and who may is asked what is open. */
  roleChanged(sessionId: SessionId, role: Role, by: Client): void {
    const { sessions, facts, peer } = this.#deps;
    const attachment = sessions.attachment(sessionId);
    if (attachment === undefined) return;
    attachment.become(role);
    if (!facts().pilothouse) return;
    const { key, title, actor } = by;
    const giver = { key, clientId: actor.clientId, ...(title === undefined ? {} : { title }) };
    peer.notify('_pilothouse/role_changed', { sessionId, role, by: giver });
  }

  /** Told once for all changes that this client has not read of yet, and not before it knows the session. */
  clientsChanged(sessionId: SessionId): void {
    const attachment = this.#deps.sessions.attachment(sessionId);
    if (attachment === undefined || !this.#deps.facts().pilothouse) return;
    if (this.#telling.has(sessionId)) return;
    this.#telling.add(sessionId);
    void this.#tellClients(attachment);
  }

  async #tellClients(attachment: Attachment): Promise<void> {
    const { sessions, host, client, peer } = this.#deps;
    const { sessionId } = attachment.session;
    await attachment.drained();
    await peer.taken();
    this.#telling.delete(sessionId);
    if (sessions.attachment(sessionId) === undefined) return;
    const clients = host.clients.list(sessionId, client);
    peer.notify('_pilothouse/clients_changed', { sessionId, clients });
  }

  /** A later attach begins anew: with a snapshot of now, and only signals that follow it. */
  async #attach(given: unknown): Promise<Reply> {
    const params = read<{ sessionId: string; role?: Role; onDetach?: OnDetach }>(
      checks.attach,
      given,
    );
    const { sessionId, role = 'host_owner', onDetach } = params;
    const { sessions, canKeep } = this.#deps;
    const wanted = onDetach === undefined || (onDetach === 'keep' && !canKeep) ? {} : { onDetach };
    return await sessions.open({ sessionId }, { role, ...wanted }, async (live) => {
      const attachment = sessions.follow(live);
      attachment.snapshotTold();
      return {
        result: this.#snapshotOf(attachment),
        after: () => attachment.goLive({ withPartial: false }),
      };
    });
  }

  async #detach(given: unknown): Promise<Reply> {
    const { sessionId } = read<{ sessionId: string }>(checks.sessionOnly, given);
    const attachment = await this.#attached(sessionId);
    const { sessions, host, client } = this.#deps;
    try {
      await host.detach(sessionId as SessionId, client);
    } catch (error) {
      throw asRpcError(error, { sessionId });
    }
    await attachment.drained();
    sessions.forget(attachment);
    return { result: {} };
  }

  async #claim(given: unknown): Promise<Reply> {
    const params = read<{ sessionId: string; exclusive?: boolean }>(checks.claim, given);
    const { sessionId, exclusive = false } = params;
    await this.#attached(sessionId);
    const { host, client, ceiling } = this.#deps;
    if (ceiling() === 'observer') throw observerRefused();
    host.clients.claim(sessionId, client, { exclusive });
    return { result: { role: 'host_owner' } };
  }

  async #handOver(given: unknown): Promise<Reply> {
    const { sessionId, to } = read<{ sessionId: string; to: string }>(checks.handOver, given);
    const attachment = await this.#attached(sessionId);
    if (attachment.role === 'observer') throw observerRefused();
    const { host, client } = this.#deps;
    const outcome = host.clients.handOver(sessionId, client, to);
    if (outcome !== 'handed_over') throw badField('/to', REFUSED[outcome], { reason: outcome });
    return { result: { role: host.clients.role(sessionId, client) ?? 'observer' } };
  }

  async #list(given: unknown): Promise<Reply> {
    const { sessionId } = read<{ sessionId: string }>(checks.sessionOnly, given);
    const { host, client } = this.#deps;
    const isKnown = (await host.describe(sessionId as SessionId)) !== null;
    if (!isKnown) throw asRpcError(unknownSession(sessionId), { sessionId });
    return { result: { clients: host.clients.list(sessionId, client) } };
  }

  async #attached(sessionId: string): Promise<Attachment> {
    const { sessions } = this.#deps;
    await sessions.opened(sessionId);
    const attachment = sessions.attachment(sessionId);
    if (attachment === undefined) throw notAttached(sessionId);
    return attachment;
  }

  #snapshotOf({ role, session, snapshot }: Attachment): SessionSnapshot {
    const { host, client } = this.#deps;
    const { lastEventId, prefixHash, gates, pending, nextTurns, partial, outputs } = snapshot;
    return {
      role,
      onDetach: host.clients.onDetach(session.sessionId, client) ?? 'stop',
      session: { ...sessionItem(session.describe()) },
      lastEventId,
      prefixHash,
      // What the journal holds is JSON.
      gates: gates as unknown as readonly JsonObject[],
      pending: pending.map(shownPending),
      queue: shownQueue(nextTurns),
      partial,
      outputs: outputs.map(({ toolCallId, text }) => ({ toolCallId, text })),
      clients: host.clients.list(session.sessionId, client),
    };
  }
}

const REFUSED = {
  unknown_client: 'is the key of no client that is attached to this session',
  may_only_observe: 'is the key of a client whose credential lets it observe only',
} as const;

function read<P>(check: checks.SchemaCheck, given: unknown): P {
  // The params have just passed the check that states their type.
  return requireValid(check, normalised(given)) as P;
}
