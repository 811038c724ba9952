import type { OnDetach, SessionClient } from '../../../protocol/session-clients.ts';
import type { SessionId } from '../../session/words.ts';
import type { AttachOptions, Client, Role } from '../api.ts';
import { GatePasses } from './gate-passes.ts';

type Attached = {
  readonly client: Client;
  readonly since: number;
  role: Role;
  onDetach: OnDetach;
  /** Grows with every claim and prompt; 0 before the first. */
  acted: number;
  /** Who took its control by an exclusive claim. */
  displacedBy: Client | null;
};

/** How a client left: `keep` and `stop` say what is wanted now that nobody is left. */
export type Leave = 'not_attached' | 'others_left' | OnDetach;

/**
 * The clients of one session. Any number may own it and any number may read it; one owner is the acting one: whoever
 * claimed it or sent it a prompt last, else the one that came first. Every other client is told of a change.
 */
export class AttachedClients {
  /** Who can't put an open question to a person. */
  readonly passes = new GatePasses(() => this.owners());
  readonly #sessionId: SessionId;
  readonly #now: () => number;
  /** In the order in which they came. */
  readonly #attached: Attached[] = [];
  #acts = 0;
  /** What the owner that left last wanted. */
  #wanted: OnDetach | null = null;

  constructor(sessionId: SessionId, now: () => number) {
    this.#sessionId = sessionId;
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#attached.length === 0;
  }

  /** In the order in which they came. */
  get all(): readonly Client[] {
    return this.#attached.map(({ client }) => client);
  }

  /** The role that it has from now on. One that is attached already keeps its place. */
  attach(client: Client, options: AttachOptions = {}): Role {
    const known = this.#find(client);
    const wanted = options.role ?? known?.role ?? 'host_owner';
    const role = client.actor.role === 'observer' ? 'observer' : wanted;
    const onDetach = options.onDetach ?? known?.onDetach ?? client.onDetach ?? 'stop';
    const isNews = known?.role !== role;
    if (known === undefined)
      this.#attached.push({
        client,
        since: this.#now(),
        role,
        onDetach,
        acted: 0,
        displacedBy: null,
      });
    else {
      // A role that it asks for is its own again.
      if (options.role !== undefined) known.displacedBy = null;
      Object.assign(known, { role, onDetach });
    }
    if (isNews) this.#changed(client);
    return role;
  }

  /** An observer decides nothing when it goes: then what the last owner wanted counts. */
  detach(client: Client): Leave {
    const index = this.#attached.findIndex((entry) => entry.client === client);
    const [left] = index < 0 ? [] : this.#attached.splice(index, 1);
    if (left === undefined) return 'not_attached';
    if (left.role === 'host_owner') {
      this.#wanted = left.onDetach;
      this.passes.left(client);
    }
    this.#giveBack(client);
    this.#changed(client);
    return this.isEmpty ? (this.#wanted ?? left.onDetach) : 'others_left';
  }

  role(client: Client): Role | undefined {
    return this.#find(client)?.role;
  }

  onDetach(client: Client): OnDetach | undefined {
    return this.#find(client)?.onDetach;
  }

  /** Those that may control it, the acting one first. */
  owners(): readonly Client[] {
    return this.#attached
      .filter(({ role }) => role === 'host_owner')
      .sort((a, b) => b.acted - a.acted)
      .map(({ client }) => client);
  }

  /** It claimed the session or sent it a prompt. */
  acted(client: Client): void {
    const before = this.owners()[0];
    this.#act(client);
    if (this.owners()[0] !== before) this.#changed(null);
  }

  /** Makes it an owner, and the acting one; with `exclusive` all others observe from now on. */
  claim(client: Client, { exclusive }: { readonly exclusive: boolean }): void {
    const roles = new Map(this.#attached.map((entry) => [entry, entry.role]));
    for (const entry of this.#attached) {
      if (entry.client === client) Object.assign(entry, { role: 'host_owner', displacedBy: null });
      else if (exclusive && entry.role === 'host_owner')
        Object.assign(entry, { role: 'observer', displacedBy: client });
    }
    this.#act(client);
    this.#tellRoles(roles, client);
  }

  /** `to` owns and acts from now on, and `from` observes. False if one of them is not attached. */
  handOver(from: Client, to: Client): boolean {
    const [giver, taker] = [this.#find(from), this.#find(to)];
    if (giver === undefined || taker === undefined) return false;
    const roles = new Map([
      [giver, giver.role],
      [taker, taker.role],
    ]);
    giver.role = 'observer';
    taker.role = 'host_owner';
    for (const entry of this.#attached) if (entry.displacedBy === from) entry.displacedBy = to;
    taker.displacedBy = null;
    this.#act(to);
    this.#tellRoles(roles, from);
    return true;
  }

  /** As `viewer` sees them. */
  list(viewer: Client | null): readonly SessionClient[] {
    const [acting] = this.owners();
    return this.#attached.map(({ client, since, role }) => ({
      key: client.key,
      clientId: client.actor.clientId,
      ...(client.title === undefined ? {} : { title: client.title }),
      role,
      acting: client === acting,
      since: new Date(since).toISOString(),
      you: client === viewer,
    }));
  }

  #find(client: Client): Attached | undefined {
    return this.#attached.find((entry) => entry.client === client);
  }

  #act(client: Client): void {
    const entry = this.#find(client);
    if (entry === undefined) return;
    this.#acts += 1;
    entry.acted = this.#acts;
  }

  /** Who took the session for itself is gone: its questions must not wait for nobody. */
  #giveBack(client: Client): void {
    for (const entry of this.#attached) {
      if (entry.displacedBy !== client) continue;
      Object.assign(entry, { role: 'host_owner', displacedBy: null });
      entry.client.roleChanged?.(this.#sessionId, 'host_owner', client);
    }
  }

  #tellRoles(before: ReadonlyMap<Attached, Role>, by: Client): void {
    for (const [{ client, role }, was] of before)
      if (role !== was) client.roleChanged?.(this.#sessionId, role, by);
    this.#changed(null);
  }

  /** `self` knows. */
  #changed(self: Client | null): void {
    for (const { client } of [...this.#attached])
      if (client !== self) client.clientsChanged?.(this.#sessionId);
    this.passes.settle();
  }
}
