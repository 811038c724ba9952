// The JSON-RPC library takes its timers from here.
import 'vscode-jsonrpc/node';
import { Deferred } from '../../base/deferred.ts';
import { DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import { RpcError } from '../../protocol/errors.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import { createRpcPeer } from '../../protocol/transport/rpc-peer.ts';
import type {
  ArrivedCall,
  IncomingRequest,
  Reply,
  RpcPeer,
} from '../../protocol/transport/rpc-types.ts';
import type { LiveSession } from '../host/api.ts';
import type { CommandId, SessionId } from '../session/words.ts';
import { Actors } from './access/actors.ts';
import { API_KEY_METHOD, Credential, keyAsked, type Role } from './access/credential.ts';
import { AcpClient } from './client.ts';
import { type ClientFacts, clientFacts, UNKNOWN_CLIENT } from './client-facts.ts';
import { ControlDesk } from './control/control-desk.ts';
import { namedSession } from './control/control-params.ts';
import { ControlReads } from './control/control-reads.ts';
import { ReceiptTeller } from './control/receipt-teller.ts';
import { Refusals } from './control/refusals.ts';
import { EventDesk } from './events/event-desk.ts';
import { LatestNews } from './events/latest-news.ts';
import { ExtensionDesk } from './extension-desk.ts';
import { GateDesk } from './gates/gate-desk.ts';
import { AGENT_NAME, initializeResult } from './handshake.ts';
import { badField, checkParams, metaOf, withSessionId } from './params.ts';
import { Arrivals } from './session/arrivals.ts';
import type { AttachmentDeps } from './session/attachment.ts';
import { PromptDesk } from './session/prompt-desk.ts';
import { RoleDesk } from './session/role-desk.ts';
import { mergeUpdates, UpdateSender } from './session/sender.ts';
import { SessionDesk } from './session/session-desk.ts';
import { sessionItem } from './session/session-item.ts';
import type { AcpConnection, AcpServices } from './types.ts';

/** What may still be answered after the client stopped sending, in milliseconds. */
const LAST_ANSWERS_MS = 500;
/** How long the host may take to stop a gone client's turns before the connection ends anyway. */
const STOP_MS = 1500;

/**
 * Serves one ACP client through a framed port until it goes. Nothing a client sends ends the process: what can't be
 * answered is logged.
 */
export function serveAcp(services: AcpServices): AcpConnection {
  return new Server(services);
}

type Handler = (request: IncomingRequest) => Promise<Reply>;

class Server implements AcpConnection {
  readonly #services: AcpServices;
  readonly #peer: RpcPeer;
  readonly #credential: Credential;
  readonly #client: AcpClient;
  readonly #gates: GateDesk;
  readonly #sessions: SessionDesk;
  readonly #prompts: PromptDesk;
  readonly #controls: ControlDesk;
  readonly #reads: ControlReads;
  readonly #roles: RoleDesk;
  readonly #events: EventDesk;
  readonly #extensionDesk: ExtensionDesk;
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #arrivals = new Arrivals();
  readonly #gone = new AbortController();
  readonly #owned = new DisposableStore();
  readonly #ended = new Deferred<void>();
  readonly #ownCommands = new Set<string>();
  readonly #answering = new Set<Promise<unknown>>();
  #facts: ClientFacts = UNKNOWN_CLIENT;
  #isReady = false;
  #isConnected = false;

  constructor(services: AcpServices) {
    this.#services = services;
    const { host, log, clock, extensions } = services;
    this.#credential = new Credential(services.keys, services.ceiling);
    this.#peer = this.#connect();
    const facts = (): ClientFacts => this.#facts;
    const peer = this.#peer;
    const ceiling = (): Role => this.#credential.ceiling ?? 'observer';
    const client = this.#newClient(facts, ceiling);
    this.#client = client;
    this.#gates = this.#gateDesk(facts);
    const actors = new Actors({
      name: () => this.#facts.name,
      ceiling,
      roleIn: (sessionId) => this.#sessions.attachment(sessionId)?.role,
    });
    const sender = new UpdateSender(peer);
    const refusals = new Refusals(host.controls, actors);
    const receipts = this.#owned.add(new ReceiptTeller(host.controls, facts, sender, actors));
    const attachmentDeps = (): AttachmentDeps => ({
      host,
      facts: this.#facts,
      sender,
      clock,
      log,
      isOwnPrompt: (commandId) => this.#ownCommands.has(commandId),
      gates: this.#gates,
      receipts,
    });
    const detached = (session: LiveSession): void => this.#gates.detached(session);
    this.#sessions = new SessionDesk({
      host,
      client,
      actors,
      ceiling,
      refusals,
      attachmentDeps,
      detached,
      origin: services.origin,
    });
    this.#prompts = this.#promptDesk(actors, refusals);
    this.#controls = this.#controlDesk(actors, sender);
    this.#reads = new ControlReads(host, { name: AGENT_NAME, version: services.agentVersion });
    const sessions = this.#sessions;
    const canKeep = services.onDetach === 'keep';
    this.#roles = new RoleDesk({ host, client, peer, facts, sessions, ceiling, canKeep });
    this.#events = this.#owned.add(
      new EventDesk({ events: host.events, peer, ids: services.ids, log }),
    );
    const gone = this.#gone.signal;
    this.#extensionDesk = new ExtensionDesk({ host, extensions, peer, log, client, gone, ceiling });
    this.#handlers = this.#handlersByMethod();
    const models = extensions.onModelsChanged?.(() => this.#sessions.optionsChanged());
    if (models) this.#owned.add(models);
    peer.start();
  }

  #newClient(facts: () => ClientFacts, ceiling: () => Role): AcpClient {
    const { clock, log, ids, onDetach = 'stop' } = this.#services;
    return new AcpClient({
      key: ids.unique(),
      peer: this.#peer,
      facts,
      ceiling,
      onDetach,
      news: () => this.#roles,
      clock,
      log,
    });
  }

  #gateDesk(facts: () => ClientFacts): GateDesk {
    const { host, clock, log } = this.#services;
    const client = this.#client;
    return new GateDesk({
      peer: this.#peer,
      facts,
      actor: () => client.actor,
      clock,
      log,
      asks: (session, gateId) => host.clients.asked(session, gateId),
      pass: (session, gate) => host.clients.pass(session, client, gate),
    });
  }

  #connect(): RpcPeer {
    const { port, log, clock } = this.#services;
    return createRpcPeer(
      port,
      {
        arrived: (call) => this.#arrived(call),
        request: (request) => this.#answer(request),
        notification: (method, params) => {
          if (this.#isOpen) this.#extensionDesk.notified(method, params);
        },
        ended: () => void this.#end(),
      },
      { now: () => clock.now(), log, answersGarbage: true, merge: mergeUpdates },
    );
  }

  #promptDesk(actors: Actors, refusals: Refusals): PromptDesk {
    const { host, log } = this.#services;
    return new PromptDesk({
      host,
      client: this.#client,
      log,
      attachment: (sessionId) => this.#sessions.attachment(sessionId),
      opened: (sessionId) => this.#sessions.opened(sessionId),
      actors,
      refusals,
      isOpen: () => this.#isOpen,
      ownCommand: (asked) => this.#ownCommand(asked),
    });
  }

  #controlDesk(actors: Actors, sender: UpdateSender): ControlDesk {
    const { host, log } = this.#services;
    return new ControlDesk({
      room: {
        controls: host.controls,
        client: this.#client,
        join: (live) => this.#sessions.join(live),
        tell: (sessionId, update) =>
          sender.update(sessionId as SessionId, update, { replayed: false }),
      },
      actors,
      log,
      isOpen: () => this.#isOpen,
      inOrder: (sessionId, work) => this.#inOrder(sessionId, work),
      beforeLaterPrompts: (sessionId, work) =>
        this.#sessions.change(sessionId, () => this.#inOrder(sessionId, work)),
      drained: async (sessionId) => await this.#sessions.attachment(sessionId)?.drained(),
      fallbackSession: () => this.#sessions.first,
    });
  }

  /** Initialized, and a key was shown where one is asked for. */
  get #isOpen(): boolean {
    return this.#isReady && this.#credential.ceiling !== null;
  }

  #arrived(call: ArrivedCall): boolean {
    if (!this.#isOpen) return false;
    if (call.requestId !== undefined)
      this.#arrivals.arrived(call.requestId, call.method, namedSession(call.params));
    return this.#prompts.arrived(call) || this.#controls.arrived(call);
  }

  /** At once, behind the prompts that arrived before, unless something that arrived before changes the session. */
  async #inOrder<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    if (this.#arrivals.hasAny(sessionId)) await this.#arrivals.settled(sessionId);
    this.#prompts.handOver(sessionId);
    return await work();
  }

  #handlersByMethod(): ReadonlyMap<string, Handler> {
    const close: Handler = (request) => this.#sessions.close(request);
    return new Map<string, Handler>([
      ['session/new', (request) => this.#sessions.create(request)],
      ['session/load', (request) => this.#sessions.load(request)],
      ['session/resume', (request) => this.#sessions.resume(request)],
      ['session/list', (request) => this.#sessions.list(request)],
      ['session/close', close],
      // Its older name. Source: Harn session control, close.
      ['session/stop', close],
      ['session/delete', (request) => this.#sessions.delete(request)],
      ['session/set_mode', (request) => this.#sessions.setMode(request)],
      ['session/set_config_option', (request) => this.#sessions.setConfigOption(request)],
      ['session/prompt', (request) => this.#prompts.prompt(request)],
      ['session/cancel', (request) => this.#prompts.cancelled(request)],
      ['authenticate', (request) => this.#authenticate(request)],
      ['logout', (request) => this.#logout(request)],
    ]);
  }

  get done(): Promise<void> {
    return this.#ended.promise;
  }

  close(): void {
    void this.#end();
  }

  async #answer(request: IncomingRequest): Promise<Reply> {
    const answer = this.#route({ ...request, params: withSessionId(request.params) });
    if (request.method === 'session/prompt') return await answer;
    const over = answer.then(ignore, ignore);
    this.#answering.add(over);
    try {
      return await answer;
    } finally {
      this.#answering.delete(over);
      this.#arrivals.answered(request.requestId);
    }
  }

  async #route(request: IncomingRequest): Promise<Reply> {
    if (request.method === 'initialize') return this.#initialize(request.params);
    const { method } = request;
    const handler =
      this.#handlers.get(method) ??
      this.#controls.handler(method) ??
      this.#reads.handler(method) ??
      this.#roles.handler(method) ??
      this.#events.handler(method) ??
      this.#extensionDesk.handler(method);
    if (method !== 'authenticate' && this.#isReady && !this.#isOpen) throw keyAsked();
    if (handler === undefined)
      throw new RpcError('methodNotFound', `Method not found: ${method}`, { method });
    if (!this.#isReady) throw new RpcError('invalidRequest', `Send initialize before ${method}.`);
    return await handler(request);
  }

  #initialize(params: unknown): Reply {
    const request = checkParams('initialize', params);
    this.#facts = clientFacts(request);
    this.#isReady = true;
    return {
      result: initializeResult(this.#services, this.#credential.isAsked),
      after: () => this.#connectOnce(),
    };
  }

  /** What other rooms send by themselves waits until the client may see it. */
  #connectOnce(): void {
    if (this.#isConnected || !this.#isOpen) return;
    this.#isConnected = true;
    if (this.#facts.pilothouse) this.#connectExtension();
  }

  #connectExtension(): void {
    const { extensions } = this.#services;
    const { client } = this.#extensionDesk;
    const connected = extensions.connected?.(client);
    if (connected) this.#owned.add(connected);
    const news = new LatestNews(this.#peer);
    const changed = extensions.onSessionChanged?.((session) =>
      news.tell(session.sessionId, () =>
        client.notify('_pilothouse/session_changed', { session: { ...sessionItem(session) } }),
      ),
    );
    if (changed) this.#owned.add(changed);
    const deleted = extensions.onSessionDeleted?.((sessionId) =>
      news.tell(sessionId, () => client.notify('_pilothouse/session_deleted', { sessionId })),
    );
    if (deleted) this.#owned.add(deleted);
  }

  async #authenticate(request: IncomingRequest): Promise<Reply> {
    const { methodId } = checkParams('authenticate', request.params);
    if (!this.#credential.isAsked || methodId !== API_KEY_METHOD)
      throw badField('/methodId', `names no sign-in method (${methodId})`);
    const { apiKey } = metaOf(request.params, 'harn');
    if (typeof apiKey !== 'string' || !this.#credential.show(apiKey)) throw keyAsked();
    const harn = { role: this.#credential.ceiling };
    return { result: { _meta: { harn } }, after: () => this.#connectOnce() };
  }

  async #logout(request: IncomingRequest): Promise<Reply> {
    checkParams('logout', request.params);
    const { signOut } = this.#services.extensions;
    if (signOut === undefined) throw new RpcError('methodNotFound', 'Method not found: logout');
    await signOut();
    return { result: {} };
  }

  #ownCommand(asked: string | undefined): CommandId {
    const id = asked ?? this.#services.ids.unique();
    this.#ownCommands.add(id);
    return id as CommandId;
  }

  #onDetach(sessionId: string): OnDetach {
    return this.#services.host.clients.onDetach(sessionId, this.#client) ?? this.#client.onDetach;
  }

  /** The client sends no more: what it asked is answered, its turns stop or go on, and everything is flushed. */
  async #end(): Promise<void> {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort();
    this.#prompts.close((sessionId) => this.#onDetach(sessionId) === 'keep');
    this.#gates.dispose();
    const { clock, host, log, port } = this.#services;
    await within(clock, LAST_ANSWERS_MS, Promise.all(this.#answering));
    const stopped = host
      .clientGone(this.#client)
      .catch((error: unknown) =>
        log.error('The sessions of a gone client could not be told', { message: messageOf(error) }),
      );
    await within(clock, STOP_MS, stopped);
    await within(clock, LAST_ANSWERS_MS, this.#peer.idle());
    this.#owned.dispose();
    this.#sessions.dispose();
    this.#peer.close();
    await within(clock, LAST_ANSWERS_MS, port.done);
    port.destroy();
    this.#ended.resolve();
  }
}

/** Waits for `work`, but not for ever. */
async function within(
  clock: AcpServices['clock'],
  ms: number,
  work: Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  const limit = clock.sleep(ms, over.signal).catch(ignore);
  await Promise.race([work, limit]);
  over.abort();
}

function ignore(): void {
  // The request's own answer tells of a failure.
}
