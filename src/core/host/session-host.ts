import { Emitter, type Event } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { Actor, Control, ControlOutcome } from '../../protocol/controls.ts';
import { SLASH_COMMANDS } from '../harness/native/slash-commands.ts';
import { Conversation } from '../session/conversation.ts';
import type { SessionDeps } from '../session/deps.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';
import { HOST } from '../session/gates.ts';
import type { HistoryRange, Journal, SessionRow } from '../session/ports.ts';
import { interruptedEvents } from '../session/restore.ts';
import { type Folded, Session } from '../session/session.ts';
import { SessionState } from '../session/session-state.ts';
import type { Workspace } from '../session/tool.ts';
import type { CommandId, SessionConfig, SessionId } from '../session/words.ts';
import type {
  Admission,
  CancelResult,
  Client,
  ListedSession,
  LiveSession,
  NewSession,
  OpenSession,
  SessionHost,
} from './api.ts';
import { AttachedClients, attachedFiles } from './attached-files.ts';
import { Changes } from './changes.ts';
import { HostError, unknownSession } from './errors.ts';
import { foldSession, pages } from './fold-session.ts';
import { HostedSession } from './hosted-session.ts';
import { DEFAULT_BUDGET } from './options.ts';
import { type Outcome, receiptOf } from './receipts.ts';
import { createResources, type ResourceFactory } from './session-resources.ts';
import { openWorkspace } from './workspace.ts';

/** The store as the host needs it: the engine's journal and what proves it. */
export interface HostJournal extends Journal {
  hashAt(sessionId: SessionId, eventId: number): Promise<string | null>;
  verify(
    sessionId: SessionId,
    stream: 'history' | 'control',
  ): Promise<{ ok: true } | { ok: false; seq: number; reason: string }>;
}

/** What the host is made of. */
export type HostParts = {
  readonly deps: SessionDeps & { readonly journal: HostJournal };
  readonly factory: ResourceFactory;
  /** The model of a new session. */
  readonly defaultModel: () => string;
  /** Removes what the log holds of a deleted session. */
  readonly forgetInLog: (sessionId: SessionId) => void;
};

const DEFAULT_LIST_LIMIT = 50;

/** The one owner of a data folder's live sessions. */
export class LocalSessionHost implements SessionHost {
  readonly #parts: HostParts;
  readonly #live = new Map<SessionId, HostedSession>();
  readonly #opening = new Map<SessionId, Promise<HostedSession>>();
  readonly #changed = new Emitter<SessionId>();
  readonly #deleted = new Emitter<SessionId>();
  readonly #recorded = new Emitter<Stored<HistoryEvent>>();
  #order = 0;
  #closing: Promise<void> | null = null;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  /** Fires when what a list shows of a session may have changed. */
  get onDidChangeSession(): Event<SessionId> {
    return this.#changed.event;
  }

  get onDidDeleteSession(): Event<SessionId> {
    return this.#deleted.event;
  }

  /** Fires for every history event of every live session, once it can be read. */
  get onDidRecord(): Event<Stored<HistoryEvent>> {
    return this.#recorded.event;
  }

  admit(): Admission {
    this.#order += 1;
    return { order: this.#order };
  }

  live(sessionId: SessionId): HostedSession | undefined {
    return this.#live.get(sessionId);
  }

  async create(request: NewSession, client: Client): Promise<LiveSession> {
    this.#refuseWhileClosing();
    const { deps, defaultModel } = this.#parts;
    const workspace = await openWorkspace(request.cwd, request.additionalDirectories);
    const sessionId = deps.ids.unique() as SessionId;
    const config: SessionConfig = {
      mode: 'ask',
      model: defaultModel(),
      thoughtLevel: 'auto',
      budget: DEFAULT_BUDGET,
    };
    const created: HistoryEvent = {
      type: 'session_created',
      cwd: workspace.cwd,
      additionalDirectories: workspace.roots.slice(1),
      config,
    };
    const commands: HistoryEvent = { type: 'commands_changed', commands: SLASH_COMMANDS };
    await deps.journal.append(sessionId, [
      { stream: 'history', event: created },
      { stream: 'history', event: commands },
    ]);
    const folded: Folded = { state: new SessionState(), conversation: new Conversation() };
    folded.state.applyHistory(created);
    const hosted = this.#host(
      sessionId,
      workspace,
      request.mcpServers,
      folded,
      await this.#row(sessionId),
      new Changes(),
    );
    this.#join(hosted, client);
    return hosted;
  }

  async open(sessionId: SessionId, options: OpenSession, client: Client): Promise<LiveSession> {
    this.#refuseWhileClosing();
    const live = this.#live.get(sessionId);
    if (live !== undefined && options.mcpServers !== undefined)
      live.configureServers(options.mcpServers);
    const hosted = live ?? (await this.#openOnce(sessionId, options));
    this.#join(hosted, client);
    return hosted;
  }

  async list(query: {
    cwd?: string;
    cursor?: string;
    limit?: number;
    text?: string;
  }): Promise<{ sessions: readonly ListedSession[]; nextCursor?: string }> {
    const { rows, nextCursor } = await this.#parts.deps.journal.sessions({
      ...query,
      limit: query.limit ?? DEFAULT_LIST_LIMIT,
    });
    const sessions = rows.map((row) => this.#listed(row));
    return nextCursor === undefined ? { sessions } : { sessions, nextCursor };
  }

  async describe(sessionId: SessionId): Promise<ListedSession | null> {
    const live = this.#live.get(sessionId);
    if (live !== undefined) return live.describe();
    const row = await this.#parts.deps.journal.session(sessionId);
    return row === null ? null : this.#listed(row);
  }

  async close(sessionId: SessionId, actor: Actor): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live === undefined) {
      if ((await this.#parts.deps.journal.session(sessionId)) === null) {
        this.#reject('session/close', sessionId, actor);
        throw unknownSession(sessionId);
      }
      return;
    }
    await live.receipt(
      this.#receipt('session/close', sessionId, actor, { outcome: 'closed', status: 'accepted' }),
    );
    await this.#leave(live, 'session_closed', actor);
  }

  async delete(sessionId: SessionId, actor: Actor): Promise<void> {
    const live = this.#live.get(sessionId);
    if (live !== undefined) await this.#leave(live, 'session_closed', actor);
    const existed = await this.#parts.deps.journal.deleteSession(sessionId);
    this.#parts.forgetInLog(sessionId);
    const outcome = existed ? 'deleted' : 'already_deleted';
    const receipt = this.#receipt('session/delete', sessionId, actor, {
      outcome,
      status: 'accepted',
    });
    this.#parts.deps.log.info('Deleted a session', { controlId: receipt.control_id, outcome });
    if (existed) this.#deleted.fire(sessionId);
  }

  cancel(sessionId: SessionId, admission: Admission, actor: Actor): CancelResult {
    const live = this.#live.get(sessionId);
    if (live === undefined) {
      this.#reject('session/cancel', sessionId, actor);
      return { status: 'unknown_session', receipt: Promise.resolve() };
    }
    const ended = live.session.cancelBefore(admission.order, {
      kind: 'cancelled',
      by: actor.clientId,
    });
    const status = ended ? 'cancelled' : 'already_cancelled';
    const receipt = live.receipt(
      this.#receipt('session/cancel', sessionId, actor, { outcome: status, status: 'accepted' }),
    );
    return { status, receipt };
  }

  async history(
    sessionId: SessionId,
    range: HistoryRange,
  ): Promise<readonly Stored<HistoryEvent>[]> {
    const { journal } = this.#parts.deps;
    if (!this.#live.has(sessionId) && (await journal.session(sessionId)) === null)
      throw unknownSession(sessionId);
    return journal.readHistory(sessionId, range);
  }

  async clientGone(client: Client): Promise<void> {
    const orphans = [...this.#live.values()].filter((hosted) => hosted.detach(client));
    await Promise.all(orphans.map((hosted) => this.#leave(hosted, 'client_gone', client.actor)));
  }

  async hashAt(sessionId: SessionId, eventId: number): Promise<string | null> {
    return this.#parts.deps.journal.hashAt(sessionId, eventId);
  }

  async verify(
    sessionId: SessionId,
  ): Promise<{ ok: true } | { ok: false; eventId: number; reason: string }> {
    const result = await this.#parts.deps.journal.verify(sessionId, 'history');
    return result.ok ? { ok: true } : { ok: false, eventId: result.seq, reason: result.reason };
  }

  /** The files a session changed, live or stored. */
  async changes(sessionId: SessionId): Promise<Changes> {
    const live = this.#live.get(sessionId);
    if (live !== undefined) return live.changes;
    if ((await this.#parts.deps.journal.session(sessionId)) === null)
      throw unknownSession(sessionId);
    return this.#foldChanges(sessionId);
  }

  /** Stops every session and waits until all is on disk. Idempotent. */
  shutdown(): Promise<void> {
    this.#closing ??= this.#shutdown();
    return this.#closing;
  }

  async #shutdown(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all(
      [...this.#live.values()].map((hosted) => this.#leave(hosted, 'client_gone', HOST)),
    );
    this.#changed.dispose();
    this.#deleted.dispose();
    this.#recorded.dispose();
  }

  #openOnce(sessionId: SessionId, options: OpenSession): Promise<HostedSession> {
    const opening = this.#opening.get(sessionId) ?? this.#restore(sessionId, options);
    this.#opening.set(sessionId, opening);
    const done = (): boolean => this.#opening.delete(sessionId);
    opening.then(done, done);
    return opening;
  }

  async #restore(sessionId: SessionId, options: OpenSession): Promise<HostedSession> {
    const { deps } = this.#parts;
    const row = await deps.journal.session(sessionId);
    if (row === null) throw unknownSession(sessionId);
    const workspace = await openWorkspace(
      options.cwd ?? row.cwd,
      options.additionalDirectories ?? row.additionalDirectories,
    );
    const folded = await foldSession(deps.journal, sessionId);
    const changes = await this.#foldChanges(sessionId);
    const hosted = this.#host(sessionId, workspace, options.mcpServers ?? [], folded, row, changes);
    await hosted.session.restored(
      interruptedEvents(folded.state, folded.conversation),
      folded.state.openTurn,
    );
    return hosted;
  }

  async #foldChanges(sessionId: SessionId): Promise<Changes> {
    const changes = new Changes();
    for await (const record of pages((after, limit) =>
      this.#parts.deps.journal.readHistory(sessionId, { after, limit }),
    )) {
      changes.apply(record.event);
    }
    return changes;
  }

  #host(
    sessionId: SessionId,
    workspace: Workspace,
    servers: NewSession['mcpServers'],
    folded: Folded,
    row: SessionRow,
    changes: Changes,
  ): HostedSession {
    const { deps, factory } = this.#parts;
    const clients = new AttachedClients();
    const owned = createResources(
      factory,
      sessionId,
      workspace,
      servers,
      attachedFiles(sessionId, clients),
      (info) =>
        session.record({
          type: 'process_started',
          processId: info.processId,
          command: info.command,
        }),
    );
    const session = new Session(
      sessionId,
      deps,
      owned.resources,
      { lastEventId: row.lastEventId, prefixHash: row.prefixHash },
      folded,
    );
    const hosted = new HostedSession({
      session,
      owned,
      clients,
      changes,
      models: deps.models,
      newCommandId: () => deps.ids.unique() as CommandId,
      row,
    });
    this.#live.set(sessionId, hosted);
    this.#watch(hosted, owned.processes, owned.external);
    return hosted;
  }

  #watch(
    hosted: HostedSession,
    processes: { onDidEnd: Event<Parameters<Session['processEnded']>[0]> },
    external: {
      onDidChange: (
        listener: (
          notice: {
            severity: 'info' | 'warning' | 'error';
            title: string;
            description: string;
          } | null,
        ) => void,
      ) => unknown;
    },
  ): void {
    const { sessionId, session } = hosted;
    const report = (what: string) => (failure: unknown) =>
      this.#parts.deps.log.warn(what, { sessionId, error: messageOf(failure) });
    session.subscribe((signal) => {
      if (signal.stream === 'history') this.#recorded.fire(signal.record);
      if (signal.stream !== 'ephemeral' || signal.event.type === 'activity_changed')
        this.#changed.fire(sessionId);
    });
    processes.onDidEnd((info) => {
      session
        .processEnded(info)
        .catch(report('The end of a background process could not be recorded'));
    });
    external.onDidChange((notice) => {
      if (notice !== null)
        session
          .record({ type: 'notice', ...notice })
          .catch(report('A notice could not be recorded'));
    });
  }

  #join(hosted: HostedSession, client: Client): void {
    hosted.attach(client);
    this.#changed.fire(hosted.sessionId);
  }

  async #leave(
    hosted: HostedSession,
    why: 'session_closed' | 'client_gone',
    actor: Actor,
  ): Promise<void> {
    await hosted.close(why, actor);
    if (this.#live.get(hosted.sessionId) === hosted) this.#live.delete(hosted.sessionId);
    this.#changed.fire(hosted.sessionId);
  }

  async #row(sessionId: SessionId): Promise<SessionRow> {
    const row = await this.#parts.deps.journal.session(sessionId);
    if (row === null) throw unknownSession(sessionId);
    return row;
  }

  #listed(row: SessionRow): ListedSession {
    const live = this.#live.get(row.sessionId);
    return (
      live?.describe() ?? {
        ...row,
        liveState: 'persisted',
        activePrompt: false,
        openGates: 0,
        currentModeId: 'ask',
      }
    );
  }

  #receipt(method: Control, sessionId: string, actor: Actor, outcome: Outcome): ControlOutcome {
    return receiptOf(this.#parts.deps.ids.unique(), method, sessionId, actor, outcome);
  }

  #reject(method: Control, sessionId: string, actor: Actor): void {
    const receipt = this.#receipt(method, sessionId, actor, {
      outcome: 'unknown_session',
      status: 'rejected',
      reason: 'unknown_session',
    });
    this.#parts.deps.log.warn('A control named a session that is not here', { receipt });
  }

  #refuseWhileClosing(): void {
    if (this.#closing !== null)
      throw new HostError('host.closing', 'agent-core is shutting down. Start it again and retry.');
  }
}
