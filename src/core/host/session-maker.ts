import { SLASH_COMMANDS } from '../harness/native/slash-commands.ts';
import { Compactions } from '../session/control/compactions.ts';
import { Inbox } from '../session/control/inbox.ts';
import { MachineInbox } from '../session/control/machine-inbox.ts';
import { NextTurnQueue } from '../session/control/next-turns.ts';
import { StagedState } from '../session/control/staged.ts';
import type { SessionDeps } from '../session/deps.ts';
import type { HistoryEvent } from '../session/events.ts';
import type { SessionRow } from '../session/ports.ts';
import { Session } from '../session/session.ts';
import { Conversation } from '../session/state/conversation.ts';
import { SessionState } from '../session/state/session-state.ts';
import type { Workspace } from '../session/tool.ts';
import type { CommandId, SessionConfig, SessionId } from '../session/words.ts';
import type { NewSession, OpenSession } from './api.ts';
import { AttachedClients } from './clients/attached-clients.ts';
import { attachedFiles } from './clients/attached-files.ts';
import { DelegateBook } from './delegates/delegate-book.ts';
import { DelegateRuntime } from './delegates/delegate-runtime.ts';
import { INHERITED } from './environment-policy.ts';
import { delegateLoop, unknownSession } from './errors.ts';
import { type FoldedSession, foldSession } from './fold-session.ts';
import { FreshHistory } from './fresh-history.ts';
import { HostedSession } from './hosted-session.ts';
import { DEFAULT_BUDGET } from './options.ts';
import { createResources, type ResourceFactory } from './session-resources.ts';
import { SHUTDOWN_DEADLINES, type ShutdownDeadlines } from './shutdown/phases.ts';
import { StagedFiles } from './staged/staged-files.ts';
import { openWorkspace } from './workspace.ts';

/** What sessions are made of. */
export type MakerParts = {
  readonly deps: SessionDeps;
  readonly factory: ResourceFactory;
  /** The model of a new session. */
  readonly defaultModel: () => string;
  /** How long the phases of an end may take; missing: as in the product. */
  readonly deadlines?: ShutdownDeadlines;
};

type Ingredients = {
  readonly sessionId: SessionId;
  readonly workspace: Workspace;
  readonly servers: NewSession['mcpServers'];
  readonly folded: FoldedSession;
  readonly row: SessionRow;
  readonly origin: NewSession['origin'] | undefined;
};

/** Brings sessions to life: new ones, and stored ones with what a crash left open closed. */
export class SessionMaker {
  /** What the session that was restored last was rebuilt from. */
  readonly fresh = new FreshHistory();
  readonly #parts: MakerParts;

  constructor(parts: MakerParts) {
    this.#parts = parts;
  }

  /** Throws `host.bad_cwd` and `host.bad_environment`. The session is on disk when this resolves. */
  async create(request: NewSession): Promise<HostedSession> {
    const { deps, factory, defaultModel } = this.#parts;
    const environmentPolicy = request.environmentPolicy ?? INHERITED;
    const { origin } = request;
    factory.environments.check(environmentPolicy, origin?.environment);
    const workspace = await openWorkspace(request.cwd, request.additionalDirectories);
    const sessionId = deps.ids.unique() as SessionId;
    const config: SessionConfig = {
      mode: 'ask',
      model: origin?.model ?? defaultModel(),
      thoughtLevel: 'auto',
      budget: DEFAULT_BUDGET,
    };
    const created: HistoryEvent = {
      type: 'session_created',
      cwd: workspace.cwd,
      additionalDirectories: workspace.roots.slice(1),
      config,
      ...(request.environmentPolicy === undefined ? {} : { environmentPolicy }),
    };
    const commands: HistoryEvent = { type: 'commands_changed', commands: SLASH_COMMANDS };
    await deps.journal.append(sessionId, [
      { stream: 'history', event: created },
      { stream: 'history', event: commands },
    ]);
    const folded: FoldedSession = {
      state: new SessionState(),
      conversation: new Conversation(),
      inbox: new Inbox(),
      nextTurns: new NextTurnQueue(),
      machine: new MachineInbox(),
      compactions: new Compactions(),
      staged: new StagedState(),
      delegates: new DelegateBook(),
      environmentPolicy,
    };
    for (const [index, event] of [created, commands].entries()) {
      folded.state.applyHistory(event, deps.clock.now());
      folded.conversation.apply(event, index + 1);
    }
    return this.#build({
      sessionId,
      workspace,
      servers: request.mcpServers,
      folded,
      row: await this.#row(sessionId),
      origin,
    });
  }

  /** Throws `host.unknown_session` and `host.bad_cwd`. */
  async restore(sessionId: SessionId, options: OpenSession): Promise<HostedSession> {
    const row = await this.#row(sessionId);
    if (row.rootId !== undefined) throw delegateLoop(sessionId, row.rootId);
    const workspace = await openWorkspace(
      options.cwd ?? row.cwd,
      options.additionalDirectories ?? row.additionalDirectories,
    );
    const gathering = this.fresh.gather(sessionId);
    const folded = await foldSession(this.#parts.deps.journal, sessionId, gathering.take);
    gathering.done();
    const hosted = this.#build({
      sessionId,
      workspace,
      servers: options.mcpServers ?? [],
      folded,
      row,
      origin: options.origin,
    });
    const { session } = hosted;
    try {
      await session.checkpoints?.recover((undo) => session.timeline.knowsRestore(undo));
      await session.restored();
      await hosted.delegates.recover(folded.delegates);
    } catch (failure) {
      // It can be opened again only if nothing of it is left.
      session.abandon(failure);
      await hosted.close('session_closed');
      throw failure;
    }
    return hosted;
  }

  #build({ sessionId, workspace, servers, folded, row, origin }: Ingredients): HostedSession {
    const { deps, factory } = this.#parts;
    const clients = new AttachedClients(sessionId, () => deps.clock.now());
    const documents = attachedFiles(sessionId, clients);
    const staged = new StagedFiles(folded.staged, { workspace, documents });
    const { environmentPolicy } = folded;
    const delegates = new DelegateRuntime({ deps, factory, rootId: sessionId });
    const owned = createResources(factory, {
      sessionId,
      workspace,
      servers,
      environmentPolicy,
      origin,
      files: { ...documents, staging: staged },
      delegates: delegates.ofRoot,
      onProcessStarted: ({ processId, command }) =>
        session.record({ type: 'process_started', processId, command }),
    });
    const tip = { lastEventId: row.lastEventId, prefixHash: row.prefixHash };
    const session = new Session(sessionId, deps, owned.resources, tip, folded);
    staged.attach(session);
    delegates.attach({ session, resources: owned.resources, environmentPolicy }, folded.delegates);
    const newCommandId = (): CommandId => deps.ids.unique() as CommandId;
    const { models, clock, log } = deps;
    const deadlines = this.#parts.deadlines ?? SHUTDOWN_DEADLINES;
    return new HostedSession({
      session,
      owned,
      delegates,
      staged,
      environmentPolicy,
      clients,
      models,
      shutdown: { clock, log, deadlines },
      newCommandId,
      row,
    });
  }

  async #row(sessionId: SessionId): Promise<SessionRow> {
    const row = await this.#parts.deps.journal.session(sessionId);
    if (row === null) throw unknownSession(sessionId);
    return row;
  }
}
