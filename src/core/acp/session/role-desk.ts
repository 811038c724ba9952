import type { JsonObject } from '../../../base/json.ts';
import type { SessionSnapshot } from '../../../protocol/pilothouse.ts';
import type { IncomingRequest, Reply } from '../../../protocol/transport/rpc-types.ts';
import type { Client, SessionHost } from '../../host/api.ts';
import type { SessionId } from '../../session/words.ts';
import { observerRefused } from '../access/actors.ts';
import type { Role } from '../access/credential.ts';
import { normalised } from '../control/control-params.ts';
import { shownPending, shownQueue } from '../control/shown-pending.ts';
import * as checks from '../generated/schema-checks.mjs';
import { requireValid } from '../params.ts';
import { asRpcError, notAttached } from '../wire-errors.ts';
import type { Attachment } from './attachment.ts';
import type { SessionDesk } from './session-desk.ts';
import { sessionItem } from './session-item.ts';

/** What the desk needs around it. */
export type RoleDeskDeps = {
  readonly host: SessionHost;
  readonly client: Client;
  readonly sessions: SessionDesk;
  /** What this client may do at most. */
  readonly ceiling: () => Role;
};

/** Who this client is in the sessions it follows: it joins, leaves, and takes control (design §1). */
export class RoleDesk {
  readonly #deps: RoleDeskDeps;

  constructor(deps: RoleDeskDeps) {
    this.#deps = deps;
  }

  /** What answers the method; undefined if it is none of these. */
  handler(name: string): ((request: IncomingRequest) => Promise<Reply>) | undefined {
    switch (name) {
      case '_pilothouse/attach':
        return (request) => this.#attach(request.params);
      case '_pilothouse/detach':
        return (request) => this.#detach(request.params);
      case '_pilothouse/claim':
        return (request) => this.#claim(request.params);
      default:
        return undefined;
    }
  }

  /** A later attach begins anew: with a snapshot of now, and only signals that follow it. */
  async #attach(given: unknown): Promise<Reply> {
    const { sessionId, role = 'host_owner' } = read<{ sessionId: string; role?: Role }>(
      checks.attach,
      given,
    );
    const { sessions, ceiling } = this.#deps;
    const granted = ceiling() === 'observer' ? 'observer' : role;
    return await sessions.open({ sessionId }, async (live) => {
      const attachment = sessions.follow(live, granted);
      return {
        result: snapshotOf(attachment),
        after: () => attachment.goLive({ withPartial: false }),
      };
    });
  }

  async #detach(given: unknown): Promise<Reply> {
    const { sessionId } = read<{ sessionId: string }>(checks.sessionOnly, given);
    const { sessions, host, client } = this.#deps;
    await sessions.opened(sessionId);
    const attachment = sessions.attachment(sessionId);
    if (attachment === undefined) throw notAttached(sessionId);
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
    const { sessionId } = read<{ sessionId: string }>(checks.sessionOnly, given);
    const { sessions, ceiling } = this.#deps;
    await sessions.opened(sessionId);
    const attachment = sessions.attachment(sessionId);
    if (attachment === undefined) throw notAttached(sessionId);
    if (ceiling() === 'observer') throw observerRefused();
    return { result: { role: 'host_owner' }, after: () => attachment.become('host_owner') };
  }
}

function snapshotOf({ role, session, snapshot }: Attachment): SessionSnapshot {
  const { lastEventId, prefixHash, gates, pending, nextTurns, partial } = snapshot;
  return {
    role,
    onDetach: 'stop',
    session: { ...sessionItem(session.describe()) },
    lastEventId,
    prefixHash,
    // What the journal holds is JSON.
    gates: gates as unknown as readonly JsonObject[],
    pending: pending.map(shownPending),
    queue: shownQueue(nextTurns),
    partial,
  };
}

function read<P>(check: checks.SchemaCheck, given: unknown): P {
  // The params have just passed the check that states their type.
  return requireValid(check, normalised(given)) as P;
}
