import type { McpServer, SessionConfigOption } from '../../protocol/acp.ts';
import type { Actor, ControlOutcome } from '../../protocol/controls.ts';
import type { GateAnswer } from '../session/events.ts';
import type { ModelCatalog } from '../session/model.ts';
import type { SessionRow } from '../session/ports.ts';
import type { Session } from '../session/session.ts';
import { HOST } from '../session/state/gates.ts';
import type { CommandId, EnvironmentPolicy, GateId, SessionId } from '../session/words.ts';
import type {
  Client,
  ListedSession,
  LiveSession,
  OpenGate,
  PromptOutcome,
  PromptRequest,
} from './api.ts';
import type { AttachedClients } from './attached-files.ts';
import { configOptions, withOption } from './options.ts';
import type { OwnedResources } from './session-resources.ts';
import type { StagedFiles } from './staged/staged-files.ts';

/** What a hosted session is made of. */
export type HostedParts = {
  readonly session: Session;
  readonly owned: OwnedResources;
  readonly staged: StagedFiles;
  readonly environmentPolicy: EnvironmentPolicy;
  readonly clients: AttachedClients;
  readonly models: ModelCatalog;
  readonly newCommandId: () => CommandId;
  /** What was stored when it was opened; times of later messages are kept up to date in here. */
  readonly row: SessionRow;
};

/** A session in memory, as doors see it. */
export class HostedSession implements LiveSession {
  readonly sessionId: SessionId;
  readonly #parts: HostedParts;
  #lastMessageAt: number;

  constructor(parts: HostedParts) {
    this.#parts = parts;
    this.sessionId = parts.session.sessionId;
    this.#lastMessageAt = parts.row.lastMessageAt;
    parts.session.subscribe((signal) => {
      if (signal.stream !== 'history') return;
      const { event, at } = signal.record;
      if (event.type === 'turn_started' || event.type === 'model_replied') this.#lastMessageAt = at;
    });
  }

  get session(): Session {
    return this.#parts.session;
  }

  /** What its tools may see of the host's environment; a fork may only narrow it. */
  get environmentPolicy(): EnvironmentPolicy {
    return this.#parts.environmentPolicy;
  }

  get staged(): StagedFiles {
    return this.#parts.staged;
  }

  /** Tells what ends by itself: background processes, and what a person should know about external tools. */
  watch(report: (what: string, failure: unknown) => void): void {
    const { session, owned } = this.#parts;
    owned.processes.onDidEnd((info) => {
      session
        .processEnded(info)
        .catch((failure: unknown) =>
          report('The end of a background process could not be recorded', failure),
        );
    });
    owned.external.onDidChange((notice) => {
      if (notice === null) return;
      session
        .record({ type: 'notice', ...notice })
        .catch((failure: unknown) => report('A notice could not be recorded', failure));
    });
  }

  describe(): ListedSession {
    const { session, row } = this.#parts;
    return {
      ...row,
      title: session.title,
      lastMessageAt: this.#lastMessageAt,
      lastEventId: session.tip.lastEventId,
      prefixHash: session.tip.prefixHash,
      liveState: 'live',
      activePrompt: session.isActive,
      openGates: session.openGates.length,
      currentModeId: session.config.mode,
    };
  }

  async configOptions(): Promise<readonly SessionConfigOption[]> {
    return configOptions(this.#parts.session.config, await this.#parts.models.list());
  }

  prompt(request: PromptRequest): Promise<PromptOutcome> {
    return this.#parts.session.prompt({
      order: request.admission.order,
      commandId: request.commandId ?? this.#parts.newCommandId(),
      content: request.content,
      actor: request.actor,
    });
  }

  async setOption(
    configId: string,
    value: string,
    actor: Actor,
  ): Promise<readonly SessionConfigOption[]> {
    const { session, models } = this.#parts;
    const listed = await models.list();
    await session.setConfig(withOption(session.config, configId, value, listed), actor);
    return configOptions(session.config, listed);
  }

  openGates(): readonly OpenGate[] {
    return this.#parts.session.openGates;
  }

  async answerGate(gateId: GateId, answer: GateAnswer, actor: Actor): Promise<boolean> {
    return this.#parts.session.answerGate(gateId, answer, actor);
  }

  subscribe: LiveSession['subscribe'] = (listener) => this.#parts.session.subscribe(listener);

  attach(client: Client): void {
    this.#parts.clients.attach(client);
  }

  /** Replaces the MCP servers, from the next turn on. */
  configureServers(servers: readonly McpServer[]): void {
    this.#parts.owned.external.configure(servers);
  }

  /** True if the client was attached and nobody is left. */
  detach(client: Client): boolean {
    return this.#parts.clients.detach(client) && this.#parts.clients.isEmpty;
  }

  /** True if no client is attached and nothing runs or waits. */
  get isUnused(): boolean {
    return this.#parts.clients.isEmpty && !this.#parts.session.isActive;
  }

  receipt(receipt: ControlOutcome): Promise<void> {
    return this.#parts.session.receipt(receipt);
  }

  /** Stops what runs, flushes, and ends everything the session started. */
  async close(why: 'session_closed' | 'client_gone', actor: Actor = HOST): Promise<void> {
    const { session, owned } = this.#parts;
    await session.close({ kind: 'closed', why }, actor);
    await Promise.all([
      owned.processes.dispose(),
      owned.external.dispose(),
      owned.checkpoints.dispose(),
    ]);
    owned.environment.dispose();
  }
}
