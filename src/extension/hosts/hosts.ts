import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { isObject } from '../../base/json.ts';
import type { Agent, AgentState } from '../core/agent.ts';
import type { AgentConnection } from '../core/connection.ts';
import { type AddedHost, type HostId, OWN_HOST } from './host.ts';
import { offlineError } from './host-words.ts';

/** A host as this window uses it. */
export type Host = {
  readonly id: HostId;
  /** Null for the window's own. */
  readonly added: AddedHost | null;
  readonly agent: Agent;
};

/** A change of one host's process. */
export type HostChange = { readonly host: Host; readonly state: AgentState };

type Entry = { readonly host: Host; readonly watch: Disposable };

/**
 * All hosts of this window, and which of them a session is of. Session ids are unique across hosts: what names a
 * session goes to the host that was first to know it, everything else to the window's own.
 */
export class Hosts implements Disposable {
  readonly own: Host;
  readonly #added = new Map<HostId, Entry>();
  /** Sessions and loops that are known; of others, the window's own host is asked. */
  readonly #owners = new Map<string, HostId>();
  readonly #offlineSince = new Map<HostId, number>();
  readonly #changed = new Emitter<HostChange>();
  readonly #listChanged = new Emitter<void>();
  readonly #removed = new Emitter<readonly string[]>();
  readonly #store = new DisposableStore();
  readonly #now: () => number;

  /** Fires when a host's process changed its state. */
  readonly onDidChange = this.#changed.event;
  /** Fires when hosts came, went or were renamed. */
  readonly onDidChangeList = this.#listChanged.event;
  /** Fires with the sessions of a host that was taken off the list. */
  readonly onDidRemove = this.#removed.event;

  constructor(agent: Agent, now: () => number = () => Date.now()) {
    this.own = { id: OWN_HOST, added: null, agent };
    this.#now = now;
    this.#store.add(agent.onDidChange((state) => this.#changed.fire({ host: this.own, state })));
  }

  /** The hosts a person added, in their order. */
  added(): readonly Host[] {
    return [...this.#added.values()].map(({ host }) => host);
  }

  all(): readonly Host[] {
    return [this.own, ...this.added()];
  }

  get(id: HostId): Host | null {
    return id === OWN_HOST ? this.own : (this.#added.get(id)?.host ?? null);
  }

  /**
   * Takes the list as it is now. `open` makes the agent of a host that is new; the process of one that is gone is ended
   * within `graceMs`.
   */
  async set(
    list: readonly AddedHost[],
    open: (host: AddedHost) => Agent,
    graceMs: number,
  ): Promise<void> {
    const before = new Map(this.#added);
    this.#added.clear();
    for (const added of list) {
      const known = before.get(added.id);
      before.delete(added.id);
      this.#added.set(
        added.id,
        known ? this.#renamed(known, added) : this.#entry(added, open(added)),
      );
    }
    // Its questions go unanswered: an answer that nobody gave must not reach what goes on there.
    for (const { host } of before.values()) host.agent.connection?.dispose();
    for (const id of before.keys()) this.#forgetHost(id);
    this.#listChanged.fire();
    await Promise.all([...before.values()].map(async (entry) => end(entry, graceMs)));
  }

  #entry(added: AddedHost, agent: Agent): Entry {
    const { id } = added;
    const watch = agent.onDidChange((state) => {
      const host = this.get(id);
      if (!host) return;
      if (state.kind === 'ready') this.#offlineSince.delete(id);
      else if (isDown(state) && !this.#offlineSince.has(id))
        this.#offlineSince.set(id, this.#now());
      this.#changed.fire({ host, state });
    });
    return { host: { id, added, agent }, watch };
  }

  #renamed(entry: Entry, added: AddedHost): Entry {
    return { ...entry, host: { ...entry.host, added } };
  }

  #forgetHost(id: HostId): void {
    this.#offlineSince.delete(id);
    const ids = [...this.#owners].filter(([, owner]) => owner === id).map(([session]) => session);
    this.#removed.fire(ids);
    for (const session of ids) this.#owners.delete(session);
  }

  /** When its process was lost or could not be started, in milliseconds since the epoch; null while all is well. */
  offlineSince(id: HostId): number | null {
    return this.#offlineSince.get(id) ?? null;
  }

  /**
   * Notes that `hostId` knows a session (or a loop of one). False if it is another host's: then what came about it from
   * there is not believed.
   */
  learn(sessionId: string, hostId: HostId): boolean {
    const owner = this.#owners.get(sessionId);
    if (owner === undefined) this.#owners.set(sessionId, hostId);
    return (owner ?? hostId) === hostId;
  }

  /** The session is gone. */
  forget(sessionId: string): void {
    this.#owners.delete(sessionId);
  }

  /** The host of a session or a loop; the window's own where nothing else is known. */
  of(sessionId: string | null): Host {
    const owner = sessionId === null ? undefined : this.#owners.get(sessionId);
    return (owner === undefined ? null : this.get(owner)) ?? this.own;
  }

  /** The agent of a session's host. */
  agentOf(sessionId: string | null): Agent {
    return this.of(sessionId).agent;
  }

  /** The connection to a host, started if need be. Rejects with a `CodedError` that says what to do. */
  async connect(host: Host): Promise<AgentConnection> {
    try {
      return await host.agent.ensure();
    } catch (error) {
      throw host.added ? offlineError(host.added, error) : error;
    }
  }

  /** The connection to the host of the session that the params of a request name; else to the window's own. */
  async connectFor(params: unknown): Promise<AgentConnection> {
    const sessionId = isObject(params) ? params['sessionId'] : null;
    return this.connect(this.of(typeof sessionId === 'string' ? sessionId : null));
  }

  /** Does something with every host of this machine that is connected: keys and model settings stay here. */
  async everyLocal(run: (connection: AgentConnection) => Promise<unknown>): Promise<void> {
    const local = this.all().filter((host) => !isElsewhere(host));
    const connections = local.flatMap(({ agent }) => (agent.connection ? [agent.connection] : []));
    await Promise.all(connections.map(run));
  }

  /** Ends every host's process for good. */
  async close(graceMs: number): Promise<void> {
    await Promise.all(this.all().map(async ({ agent }) => agent.close(graceMs)));
  }

  dispose(): void {
    this.#store.dispose();
    for (const { watch } of this.#added.values()) watch.dispose();
    for (const { agent } of this.all()) agent.dispose();
    this.#changed.dispose();
    this.#listChanged.dispose();
    this.#removed.dispose();
  }
}

/** True if there is no process although there should be one. */
function isDown(state: AgentState): boolean {
  return state.kind === 'failed' || state.kind === 'restarting';
}

/** True for a host of another machine: its paths are not this machine's. */
export function isElsewhere(host: Host): boolean {
  return host.added?.kind === 'ws';
}

async function end({ host, watch }: Entry, graceMs: number): Promise<void> {
  watch.dispose();
  await host.agent.close(graceMs);
  host.agent.dispose();
}
