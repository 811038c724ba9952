import type { Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { CodedError, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { McpServer, ResumeSessionResponse } from '../../protocol/acp.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import type { GateStore } from '../approvals/gate-store.ts';
import { isMove } from '../chat/model/control-items.ts';
import { marksOf } from '../chat/model/marks.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import type { AgentConnection } from '../core/connection.ts';
import { parseNotification } from '../core/shapes.ts';
import { type Host, type HostChange, type Hosts, isElsewhere } from '../hosts/hosts.ts';
import { clientsChangeOf, type RoleChange, roleChangeOf } from './clients/session-clients.ts';
import { pendingListsOf } from './control/pending-lists.ts';
import { receiptOf } from './control/receipts.ts';
import { LiveSession } from './live-session.ts';
import type { LiveChange } from './live-types.ts';
import { type RowStore, SessionLists } from './session-lists.ts';

/** What the hub needs from outside. */
export type HubPorts = {
  readonly hosts: Hosts;
  readonly calls: ClientCalls;
  readonly gates: GateStore;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: (message: string) => void;
  readonly rowStore: RowStore;
  /** What is to become of work that goes on when this window closes. */
  readonly onDetach: () => OnDetach;
  /** The MCP servers that a session in `cwd` of this machine gets. */
  readonly mcpServers: (cwd: string) => readonly McpServer[];
};

/** A change of one session that is open here. */
export type HubChange = { readonly session: LiveSession; readonly change: LiveChange };

/**
 * All sessions as this window sees them: the list, those it follows, and the calls that make, open, stop and delete
 * them. Every surface (tree, chat, status bar, participant) works through it.
 */
export class SessionHub implements Disposable {
  readonly directory: SessionLists;
  readonly gates: GateStore;
  readonly #ports: HubPorts;
  readonly #live = new Map<string, LiveSession>();
  readonly #opening = new Map<string, Promise<LiveSession>>();
  readonly #changed = new Emitter<HubChange>();
  readonly #removed = new Emitter<string>();
  readonly #roleChanged = new Emitter<RoleChange>();
  /** What each connection's host was told last of `onDetach`. */
  readonly #told = new WeakMap<AgentConnection, OnDetach>();
  readonly #store = new DisposableStore();

  readonly onDidChange = this.#changed.event;
  /** Fires with the id of a session that was deleted, here or elsewhere. */
  readonly onDidRemove = this.#removed.event;
  /** Fires when another client gave this window control of a session, or took it. */
  readonly onDidChangeRole = this.#roleChanged.event;

  constructor(ports: HubPorts) {
    this.#ports = ports;
    this.gates = ports.gates;
    this.directory = this.#store.add(
      new SessionLists(
        ports.hosts,
        async (id, cursor) => {
          const connection = await ports.hosts.connect(ports.hosts.get(id) ?? ports.hosts.own);
          const page = await connection.request('session/list', cursor ? { cursor } : {});
          return page.nextCursor
            ? { sessions: page.sessions, nextCursor: page.nextCursor }
            : { sessions: page.sessions };
        },
        ports.rowStore,
      ),
    );
    this.#store.add(ports.hosts.onDidChange((change) => this.#hostChanged(change)));
    this.#store.add(
      ports.hosts.onDidRemove((ids) => {
        for (const id of ids) this.#forget(id);
      }),
    );
    this.#listen(ports.calls);
    this.#listenToClients(ports.calls);
  }

  #listen(calls: ClientCalls): void {
    this.#store.add(calls.onNotification('session/update', (params) => this.#update(params)));
    this.#store.add(
      calls.onNotification('_harn/agentEvent', (params) => {
        const receipt = receiptOf(params);
        if (receipt) this.#live.get(receipt.sessionId)?.receiptCame(receipt);
      }),
    );
    this.#store.add(
      calls.onNotification('_pilothouse/pending_changed', (params) => {
        const lists = pendingListsOf(params);
        if (lists) this.#live.get(lists.sessionId)?.feed.lists(lists.pending, lists.queue);
      }),
    );
    this.#store.add(
      calls.onNotification('_pilothouse/session_changed', (params, host) => {
        if (isObject(params)) this.directory.update(params['session'], host);
      }),
    );
    this.#store.add(
      calls.onNotification('_pilothouse/session_deleted', (params) => {
        if (isObject(params) && typeof params['sessionId'] === 'string')
          this.#forget(params['sessionId']);
      }),
    );
  }

  #listenToClients(calls: ClientCalls): void {
    this.#store.add(
      calls.onNotification('_pilothouse/clients_changed', (params) => {
        const change = clientsChangeOf(params);
        if (change) this.#live.get(change.sessionId)?.clients.take(change.clients);
      }),
    );
    this.#store.add(
      calls.onNotification('_pilothouse/role_changed', (params) => {
        const change = roleChangeOf(params);
        if (change) this.#roleChanged.fire(change);
      }),
    );
  }

  #update(params: unknown): void {
    const parsed = parseNotification(params);
    if (!parsed) {
      this.#ports.log('an update of unknown shape was left out');
      return;
    }
    const { sessionId, update, meta } = parsed;
    const session = this.#live.get(sessionId);
    if (session?.isAttached && isMove(marksOf(update._meta, meta).extra)) this.#layAnew(session);
    else session?.receive(update, meta);
  }

  /** The conversation goes on at another place of its history: it is read again. */
  #layAnew(session: LiveSession): void {
    const { connection } = this.#ports.hosts.agentOf(session.sessionId);
    if (!connection) return;
    session.attach(connection, null).catch((error: unknown) => {
      this.#ports.log(`session ${session.sessionId} could not be laid anew: ${messageOf(error)}`);
    });
  }

  /** Sessions that this window follows. */
  live(): readonly LiveSession[] {
    return [...this.#live.values()];
  }

  get(sessionId: string): LiveSession | null {
    return this.#live.get(sessionId) ?? null;
  }

  /** Starts a session in `cwd`, an absolute path of the host's machine. Rejects with a `CodedError`. */
  async create(
    cwd: string,
    additionalDirectories: readonly string[] = [],
    host: Host = this.#ports.hosts.own,
  ): Promise<LiveSession> {
    const connection = await this.#ports.hosts.connect(host);
    const made = await connection.request('session/new', {
      cwd,
      mcpServers: this.#mcpServers(host, cwd),
      ...(additionalDirectories.length > 0
        ? { additionalDirectories: [...additionalDirectories] }
        : {}),
    });
    this.#ports.hosts.learn(made.sessionId, host.id);
    const session = this.#adopt(made.sessionId, cwd);
    session.expect();
    const now = new Date(this.#ports.clock.now()).toISOString();
    if (!this.directory.get(made.sessionId))
      this.directory.update(
        { sessionId: made.sessionId, cwd, createdAt: now, updatedAt: now },
        host.id,
      );
    await session.attach(connection, made.configOptions);
    await this.#tellOnDetach(session, connection);
    return session;
  }

  /** The programs and keys of this machine's settings are none of another machine's. */
  #mcpServers(host: Host, cwd: string): McpServer[] {
    return isElsewhere(host) ? [] : [...this.#ports.mcpServers(cwd)];
  }

  /** The session, attached to the agent: a live one stays as it is, a stored one is resumed. */
  async open(sessionId: string): Promise<LiveSession> {
    const known = this.#live.get(sessionId);
    if (known?.isAttached) return known;
    const running = this.#opening.get(sessionId);
    if (running) return running;
    const opening = this.#resume(sessionId);
    this.#opening.set(sessionId, opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(sessionId);
    }
  }

  async #resume(sessionId: string): Promise<LiveSession> {
    const host = this.#ports.hosts.of(sessionId);
    const connection = await this.#ports.hosts.connect(host);
    const cwd = this.#live.get(sessionId)?.cwd ?? (await this.#cwdOf(sessionId, host));
    const session = this.#adopt(sessionId, cwd);
    session.expect();
    try {
      const resumed = await connection.request('session/resume', {
        sessionId,
        cwd,
        mcpServers: this.#mcpServers(host, cwd),
      });
      await session.attach(connection, resumed.configOptions, activeTurnOf(resumed));
      await this.#tellOnDetach(session, connection);
      return session;
    } catch (error) {
      session.detach(true);
      session.durability.notice(error);
      throw error;
    }
  }

  async #cwdOf(sessionId: string, { id }: Host): Promise<string> {
    if (!this.directory.get(sessionId)) await this.directory.refresh(id);
    while (!this.directory.get(sessionId) && this.directory.hasMoreOf(id))
      await this.directory.loadMore(id);
    const row = this.directory.get(sessionId);
    if (row) return row.cwd;
    throw new CodedError(
      'session.unknown',
      'This session does not exist any more. Choose another one in the Sessions view.',
    );
  }

  #adopt(sessionId: string, cwd: string): LiveSession {
    const known = this.#live.get(sessionId);
    if (known) return known;
    const { clock, newId, log, gates } = this.#ports;
    const session = new LiveSession(sessionId, cwd, {
      clock,
      newId,
      log,
      connect: async () => {
        await this.open(sessionId);
        return this.#ports.hosts.connectFor({ sessionId });
      },
      cancelGates: () => gates.cancelSession(sessionId),
    });
    this.#live.set(sessionId, session);
    session.onDidChange((change) => this.#sessionChanged(session, change));
    return session;
  }

  #sessionChanged(session: LiveSession, change: LiveChange): void {
    const { sessionId, facts } = session;
    const row = this.directory.get(sessionId);
    if (row && facts.title !== '' && row.title !== facts.title)
      this.directory.patch(sessionId, { title: facts.title });
    if (row && change.kind === 'turn_ended')
      this.directory.patch(sessionId, { updatedAt: this.#ports.clock.now(), activePrompt: false });
    this.#changed.fire({ session, change });
  }

  /** Stop, for any session: one that is not followed here is cancelled all the same. */
  async stop(sessionId: string): Promise<void> {
    const session = this.#live.get(sessionId);
    if (session) {
      await session.stop();
      return;
    }
    this.gates.cancelSession(sessionId);
    const host = this.#ports.hosts.of(sessionId);
    // A process that does not run has nothing to stop; another machine's host may well.
    const connection = isElsewhere(host)
      ? await this.#ports.hosts.connect(host)
      : host.agent.connection;
    await connection?.notify('session/cancel', { sessionId });
  }

  /** Removes a session and every trace of it. */
  async delete(sessionId: string): Promise<void> {
    const connection = await this.#ports.hosts.connectFor({ sessionId });
    this.gates.cancelSession(sessionId);
    await connection.request('session/delete', { sessionId });
    this.#forget(sessionId);
  }

  #forget(sessionId: string): void {
    const session = this.#live.get(sessionId);
    this.#live.delete(sessionId);
    session?.dispose();
    this.gates.cancelSession(sessionId);
    this.directory.remove(sessionId);
    this.#ports.hosts.forget(sessionId);
    this.#removed.fire(sessionId);
  }

  /** What is to become of work that goes on when this window closes was set anew. Never rejects. */
  async onDetachChanged(): Promise<void> {
    await Promise.all(
      this.live().map(async (session) => {
        const { connection } = this.#ports.hosts.agentOf(session.sessionId);
        if (connection && session.isAttached) await this.#tellOnDetach(session, connection, true);
      }),
    );
  }

  /** A host knows it from the beginning of a connection; what was changed since, each session is told. */
  async #tellOnDetach(
    session: LiveSession,
    connection: AgentConnection,
    isChange = false,
  ): Promise<void> {
    const onDetach = this.#ports.onDetach();
    if (!isChange && this.#told.get(connection) === onDetach) return;
    const { sessionId, clients } = session;
    try {
      const params = { sessionId, role: clients.role, onDetach };
      await connection.request('_pilothouse/attach', params);
    } catch (error) {
      this.#ports.log(`session ${sessionId}: the host keeps its way to end: ${messageOf(error)}`);
    }
  }

  #hostChanged({ host, state }: HostChange): void {
    if (state.kind === 'ready') {
      this.#told.set(state.connection, this.#ports.onDetach());
      void this.#reattach(host, state.connection);
      return;
    }
    const isOfHost = (sessionId: string): boolean => this.#ports.hosts.of(sessionId).id === host.id;
    for (const { gateId, sessionId } of this.gates.all())
      if (isOfHost(sessionId)) this.gates.answer(gateId, { kind: 'cancelled' });
    // A session of another machine goes on there: only that machine can tell how its turn ended.
    const isFinal = state.kind === 'failed' && !isElsewhere(host);
    for (const session of this.#live.values())
      if (isOfHost(session.sessionId)) session.detach(isFinal);
  }

  /** After a restart: what was followed is followed again, and the list is fetched. */
  async #reattach({ id }: Host, connection: AgentConnection): Promise<void> {
    const { log, hosts } = this.#ports;
    await this.directory.refresh(id).catch((error: unknown) => {
      log(`sessions could not be listed again: ${messageOf(error)}`);
    });
    for (const { sessionId } of this.live()) {
      if (connection.isClosed) return;
      if (hosts.of(sessionId).id !== id) continue;
      await this.open(sessionId).catch((error: unknown) => {
        log(`session ${sessionId} could not be followed again: ${messageOf(error)}`);
      });
    }
  }

  /** Opens a session again after its store failed. Rejects if that fails; it then still says why it can't be saved. */
  async reopen(sessionId: string): Promise<LiveSession> {
    const connection = await this.#ports.hosts.connectFor({ sessionId });
    this.#live.get(sessionId)?.detach();
    await connection.request('session/close', { sessionId }).catch((error: unknown) => {
      this.#ports.log(`session ${sessionId} could not be closed: ${messageOf(error)}`);
    });
    const session = await this.open(sessionId);
    const { ok, code, message } = await connection.request('_pilothouse/store/status', {});
    const unsure = code === 'journal.outcome_unknown';
    session.durability.setFault(ok ? null : { message: message ?? code ?? '', unsure });
    return session;
  }

  dispose(): void {
    for (const session of this.#live.values()) session.dispose();
    this.#live.clear();
    this.#store.dispose();
    this.#changed.dispose();
    this.#removed.dispose();
    this.#roleChanged.dispose();
  }
}

/** The turn that runs or stands at a question, as the answer to `session/resume` tells it. */
function activeTurnOf({ _meta: meta }: ResumeSessionResponse): string | null {
  const own = meta?.['pilothouse'];
  const turn = isObject(own) ? own['activeTurn'] : null;
  return typeof turn === 'string' ? turn : null;
}
