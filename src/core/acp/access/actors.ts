import { isObject } from '../../../base/json.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { RpcError } from '../../../protocol/errors.ts';
import { metaOf } from '../params.ts';
import type { Role } from './credential.ts';

/** What says how far a client may go. */
export type ActorSources = {
  readonly name: () => string;
  readonly ceiling: () => Role;
  /** The role it took in a session; undefined if it follows none of that id. */
  readonly roleIn: (sessionId: string) => Role | undefined;
};

/**
 * Who acts by a call. The credential is the ceiling, the role in the session comes next, and what a call says of its
 * actor may name and narrow it, never widen it (design §1).
 */
export class Actors {
  readonly #sources: ActorSources;
  readonly #own = new WeakSet<Actor>();

  constructor(sources: ActorSources) {
    this.#sources = sources;
  }

  /** The actor of a call; every call has an object of its own, by which its receipt is known. */
  of(params: unknown, sessionId?: string): Actor {
    const said = saidOf(params);
    const { clientId, role } = said;
    const own = this.#sources.ceiling();
    const inSession = sessionId === undefined ? undefined : this.#sources.roleIn(sessionId);
    const isObserver = own === 'observer' || inSession === 'observer' || role === 'observer';
    const actor: Actor = {
      clientId: (typeof clientId === 'string' && clientId !== ''
        ? clientId
        : this.#sources.name()
      ).slice(0, LONGEST_NAME),
      role: isObserver ? 'observer' : 'host_owner',
      source: 'acp',
    };
    this.#own.add(actor);
    return actor;
  }

  /** True if this connection made it. */
  isOwn(actor: Actor): boolean {
    return this.#own.has(actor);
  }
}

/** A name stands in every receipt. */
const LONGEST_NAME = 512;

/** Refuses what an observer may not do. */
export function requireOwner(actor: Actor): void {
  if (actor.role === 'observer') throw observerRefused();
}

/** Source: Harn session control, actors. */
export function observerRefused(): RpcError {
  return new RpcError(
    'invalidRequest',
    'An observer may read a session, not control it. Take control with _pilothouse/claim, or attach as host_owner, with a key that allows it.',
    { reason: 'observer_may_not_control' },
  );
}

function saidOf(params: unknown): { readonly [key: string]: unknown } {
  const direct = isObject(params) ? params['_harn'] : undefined;
  const meta = isObject(direct) ? direct : metaOf(params, 'harn');
  const { actor } = meta as { actor?: unknown };
  if (isObject(actor)) return actor;
  const { clientId, client_id } = meta as { clientId?: unknown; client_id?: unknown };
  return { clientId: clientId ?? client_id };
}
