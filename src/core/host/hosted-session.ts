import { toDisposable } from '../../base/disposables.ts';
import type { McpServer, SessionConfigOption } from '../../protocol/acp.ts';
import type { Actor, ControlOutcome } from '../../protocol/controls.ts';
import { SessionError } from '../session/commands/session-error.ts';
import { agencyOf } from '../session/commands/stamp.ts';
import type { GateAnswer } from '../session/gate-words.ts';
import type { ModelCatalog } from '../session/model.ts';
import type { SessionRow } from '../session/ports.ts';
import type { Session } from '../session/session.ts';
import { HOST } from '../session/state/gates.ts';
import type { Prompt } from '../session/state/prompts.ts';
import type { CommandId, EnvironmentPolicy, GateId, LoopId, SessionId } from '../session/words.ts';
import type {
  AttachOptions,
  Client,
  ListedSession,
  LiveSession,
  OpenGate,
  PromptOutcome,
  PromptRequest,
} from './api.ts';
import type { AttachedClients, Leave } from './clients/attached-clients.ts';
import { unknownLoop } from './controls/sessions-at-hand.ts';
import type { DelegateRuntime } from './delegates/delegate-runtime.ts';
import { ExternalChanges } from './external-changes.ts';
import { sha256 } from './node-ports.ts';
import { configOptions, loopChangeOf } from './options.ts';
import type { OwnedResources } from './session-resources.ts';
import { closeSession, type EndReason } from './shutdown/close-session.ts';
import type { ShutdownParts, ShutdownReport } from './shutdown/phases.ts';
import type { StagedFiles } from './staged/staged-files.ts';

/** What a hosted session is made of. */
export type HostedParts = {
  readonly session: Session;
  readonly owned: OwnedResources;
  readonly delegates: DelegateRuntime;
  readonly staged: StagedFiles;
  readonly environmentPolicy: EnvironmentPolicy;
  readonly clients: AttachedClients;
  readonly models: ModelCatalog;
  /** What its end is timed with. */
  readonly shutdown: ShutdownParts;
  readonly newCommandId: () => CommandId;
  /** What was stored when it was opened; times of later messages are kept up to date in here. */
  readonly row: SessionRow;
};

/** A session in memory, as doors see it. */
export class HostedSession implements LiveSession {
  readonly sessionId: SessionId;
  readonly #parts: HostedParts;
  #lastMessageAt: number;
  #closing: Promise<ShutdownReport> | null = null;

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

  /** Those that follow it. */
  get clients(): AttachedClients {
    return this.#parts.clients;
  }

  /** The loops that work for it, at every depth. */
  get delegates(): DelegateRuntime {
    return this.#parts.delegates;
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
      session.entries
        .notifyProcess(info)
        .catch((failure: unknown) =>
          report('The end of a background process could not be recorded', failure),
        );
    });
    const external = new ExternalChanges({ external: owned.external, session, digest: sha256 });
    owned.external.onDidChange((notice) => {
      external
        .changed()
        .catch((failure: unknown) => report('A change of tools could not be recorded', failure));
      if (notice === null) return;
      session
        .record({ type: 'notice', ...notice })
        .catch((failure: unknown) => report('A notice could not be recorded', failure));
    });
  }

  describe(): ListedSession {
    const { session, row, delegates } = this.#parts;
    return {
      ...row,
      title: session.title,
      lastMessageAt: this.#lastMessageAt,
      lastEventId: session.tip.lastEventId,
      prefixHash: session.tip.prefixHash,
      liveState: 'live',
      activePrompt: session.isActive || delegates.isActive,
      openGates: session.openGates.length + delegates.gates().length,
      currentModeId: session.config.mode,
    };
  }

  async configOptions(): Promise<readonly SessionConfigOption[]> {
    return configOptions(this.#parts.session.config, await this.#parts.models.list());
  }

  /** Where prompts go that name no loop: the root loop, unless somebody chose a delegate that is still there. */
  get activeLoopId(): LoopId {
    const { session, delegates } = this.#parts;
    const chosen = session.activeLoop;
    const isThere = delegates
      .loops()
      .some(({ loopId, state }) => loopId === chosen && state !== 'closed');
    return isThere && chosen !== null ? chosen : (String(this.sessionId) as LoopId);
  }

  /** A loop that lives takes it in this tick. Throws `unknown_loop`. */
  prompt(request: PromptRequest): Promise<PromptOutcome> {
    const prompt: Prompt = {
      order: request.admission.order,
      commandId: request.commandId ?? this.#parts.newCommandId(),
      content: request.content,
      actor: request.actor,
    };
    if (request.client !== undefined) this.#parts.clients.acted(request.client);
    const loopId = request.loopId ?? this.activeLoopId;
    if (String(loopId) === this.sessionId) return this.#parts.session.prompt(prompt);
    return this.#promptDelegate(loopId, prompt);
  }

  async #promptDelegate(loopId: LoopId, prompt: Prompt): Promise<PromptOutcome> {
    const outcome = await this.#parts.delegates.prompt(loopId, prompt);
    if (outcome === null) throw unknownLoop(this.sessionId, loopId);
    return outcome;
  }

  async setOption(
    configId: string,
    value: string,
    actor: Actor,
  ): Promise<readonly SessionConfigOption[]> {
    const { session, models } = this.#parts;
    const origin = { actor, agency: 'user' } as const;
    const changed = await session.entries.changeLoop(loopChangeOf(configId, value), origin);
    if (changed.kind === 'refused')
      throw new SessionError(
        changed.reason === 'session.closed' ? 'session.closed' : 'session.bad_option',
        changed.message,
      );
    return configOptions(session.config, await models.list());
  }

  openGates(): readonly OpenGate[] {
    const { session, delegates } = this.#parts;
    return [...session.openGates, ...delegates.gates()];
  }

  async answerGate(gateId: GateId, answer: GateAnswer, actor: Actor): Promise<boolean> {
    // Only the engine takes a question back.
    if (answer.kind === 'cancelled') return false;
    const { session, delegates } = this.#parts;
    const asking = delegates.askedBy(gateId) ?? session;
    return asking.entries.respondToGate(gateId, answer, { actor, agency: agencyOf(actor) });
  }

  subscribe: LiveSession['subscribe'] = (listener) => {
    const { session, delegates } = this.#parts;
    const { snapshot, subscription } = session.subscribe(listener);
    const below = delegates.onSignal(listener);
    return {
      snapshot: { ...snapshot, gates: [...snapshot.gates, ...delegates.gates()] },
      subscription: toDisposable(() => {
        below.dispose();
        subscription.dispose();
      }),
    };
  };

  /** Only an owner goes on with a turn that a restart found at its question. */
  attach(client: Client, options?: AttachOptions): void {
    if (this.#parts.clients.attach(client, options) === 'host_owner') this.goOn();
  }

  /** A turn that a restart found at its question goes on there. */
  goOn(): void {
    this.#parts.session.goOn();
  }

  /** Replaces the MCP servers, from the next turn on. */
  configureServers(servers: readonly McpServer[]): void {
    this.#parts.owned.external.configure(servers);
  }

  /** Tells of each background process of its root loop that ended. */
  onDidEndProcess(listener: () => void): void {
    this.#parts.owned.processes.onDidEnd(listener);
  }

  /** What is to become of it, if nobody is left. */
  detach(client: Client): Leave {
    return this.#parts.clients.detach(client);
  }

  /** True if no client is attached and nothing runs or waits but a turn that a restart found at its question. */
  get isUnused(): boolean {
    return this.#parts.clients.isEmpty && !this.#isBusy;
  }

  /**
   * True while a turn or a delegate is at work in it: then the host stays. A process in the background keeps the session
   * warm, but no host up: nobody would ever end a server that was forgotten.
   */
  get isAtWork(): boolean {
    const { session, delegates } = this.#parts;
    if (delegates.isActive) return true;
    return session.isActive && !session.isParked && !session.entries.isAtQuestion;
  }

  /** True if its turn stands at questions that outlive the process, and nothing else goes on in it. */
  get isAtQuestion(): boolean {
    return this.#parts.session.entries.isAtQuestion && !this.#hasHelpers;
  }

  get #isBusy(): boolean {
    const { session } = this.#parts;
    return (session.isActive && !session.isParked) || this.#hasHelpers;
  }

  /** Delegates at work, and processes. */
  get #hasHelpers(): boolean {
    const { delegates, owned } = this.#parts;
    return delegates.isBusy || owned.processes.list().some(({ state }) => state === 'running');
  }

  receipt(receipt: ControlOutcome): Promise<void> {
    return this.#parts.session.receipt(receipt);
  }

  /** Stops what runs, flushes, and ends everything the session started. Bounded; never rejects. Idempotent. */
  close(why: EndReason, actor: Actor = HOST): Promise<ShutdownReport> {
    this.#closing ??= closeSession(this.#parts, this.#parts.shutdown, why, actor);
    return this.#closing;
  }
}
