// The JSON-RPC library takes its timers from here.
import 'vscode-jsonrpc/node';
import { Deferred } from '../../base/deferred.ts';
import { DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { Actor } from '../../protocol/controls.ts';
import { RpcError } from '../../protocol/errors.ts';
import { createRpcPeer } from '../../protocol/transport/rpc-peer.ts';
import type { IncomingRequest, Reply, RpcPeer } from '../../protocol/transport/rpc-types.ts';
import type { CommandId } from '../session/words.ts';
import { AcpClient } from './client.ts';
import { type ClientFacts, clientFacts, UNKNOWN_CLIENT } from './client-facts.ts';
import { ExtensionDesk } from './extension-desk.ts';
import { GateDesk } from './gates/gate-desk.ts';
import { initializeResult } from './handshake.ts';
import { badField, checkParams, metaOf } from './params.ts';
import { PromptDesk } from './session/prompt-desk.ts';
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
  readonly #client: AcpClient;
  readonly #gates: GateDesk;
  readonly #sessions: SessionDesk;
  readonly #prompts: PromptDesk;
  readonly #extensionDesk: ExtensionDesk;
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #gone = new AbortController();
  readonly #owned = new DisposableStore();
  readonly #ended = new Deferred<void>();
  readonly #ownCommands = new Set<string>();
  readonly #answering = new Set<Promise<unknown>>();
  #facts: ClientFacts = UNKNOWN_CLIENT;
  #isReady = false;

  constructor(services: AcpServices) {
    this.#services = services;
    const { host, log, clock, extensions } = services;
    this.#peer = createRpcPeer(
      services.port,
      {
        arrived: (call) => this.#prompts.arrived(call),
        request: (request) => this.#answer(request),
        notification: (method, params) => {
          this.#extensionDesk.notified(method, params);
        },
        ended: () => void this.#end(),
      },
      { now: () => clock.now(), log, answersGarbage: true, merge: mergeUpdates },
    );
    const facts = (): ClientFacts => this.#facts;
    const peer = this.#peer;
    this.#client = new AcpClient({ peer, facts, clock, log });
    this.#gates = new GateDesk({ peer, facts, actor: () => this.#client.actor, clock, log });
    const sender = new UpdateSender(peer);
    const actor = (params: unknown): Actor => this.#actor(params);
    this.#sessions = new SessionDesk({
      host,
      client: this.#client,
      actor,
      attachmentDeps: () => ({
        facts: this.#facts,
        sender,
        clock,
        log,
        isOwnPrompt: (commandId) => this.#ownCommands.has(commandId),
        gates: this.#gates,
      }),
      detached: (session) => this.#gates.detached(session),
    });
    this.#prompts = new PromptDesk({
      host,
      log,
      attachment: (sessionId) => this.#sessions.attachment(sessionId),
      opened: (sessionId) => this.#sessions.opened(sessionId),
      actor,
      isReady: () => this.#isReady,
      ownCommand: (asked) => this.#ownCommand(asked),
    });
    this.#extensionDesk = new ExtensionDesk(host, extensions, peer, log, this.#gone.signal);
    this.#handlers = this.#handlersByMethod();
    const models = extensions.onModelsChanged?.(() => this.#sessions.optionsChanged());
    if (models) this.#owned.add(models);
    this.#peer.start();
  }

  #handlersByMethod(): ReadonlyMap<string, Handler> {
    return new Map<string, Handler>([
      ['session/new', (request) => this.#sessions.create(request)],
      ['session/load', (request) => this.#sessions.load(request)],
      ['session/resume', (request) => this.#sessions.resume(request)],
      ['session/list', (request) => this.#sessions.list(request)],
      ['session/close', (request) => this.#sessions.close(request)],
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
    const answer = this.#route(request);
    if (request.method === 'session/prompt') return await answer;
    const over = answer.then(ignore, ignore);
    this.#answering.add(over);
    try {
      return await answer;
    } finally {
      this.#answering.delete(over);
    }
  }

  async #route(request: IncomingRequest): Promise<Reply> {
    if (request.method === 'initialize') return this.#initialize(request.params);
    const { method } = request;
    const handler = this.#handlers.get(method) ?? this.#extensionDesk.handler(method);
    if (handler === undefined)
      throw new RpcError('methodNotFound', `Method not found: ${method}`, { method });
    if (!this.#isReady) throw new RpcError('invalidRequest', `Send initialize before ${method}.`);
    return await handler(request);
  }

  #initialize(params: unknown): Reply {
    const request = checkParams('initialize', params);
    const isFirst = !this.#isReady;
    this.#facts = clientFacts(request);
    this.#isReady = true;
    return {
      result: initializeResult(this.#services),
      after: () => {
        if (isFirst && this.#facts.pilothouse) this.#connectExtension();
      },
    };
  }

  #connectExtension(): void {
    const { extensions } = this.#services;
    const { client } = this.#extensionDesk;
    const connected = extensions.connected?.(client);
    if (connected) this.#owned.add(connected);
    const changed = extensions.onSessionChanged?.((session) =>
      client.notify('_pilothouse/session_changed', { session: { ...sessionItem(session) } }),
    );
    if (changed) this.#owned.add(changed);
    const deleted = extensions.onSessionDeleted?.((sessionId) =>
      client.notify('_pilothouse/session_deleted', { sessionId }),
    );
    if (deleted) this.#owned.add(deleted);
  }

  async #authenticate(request: IncomingRequest): Promise<Reply> {
    const { methodId } = checkParams('authenticate', request.params);
    throw badField('/methodId', `names no sign-in method (${methodId}): this agent needs none`);
  }

  async #logout(request: IncomingRequest): Promise<Reply> {
    checkParams('logout', request.params);
    const { signOut } = this.#services.extensions;
    if (signOut === undefined) throw new RpcError('methodNotFound', 'Method not found: logout');
    await signOut();
    return { result: {} };
  }

  /** The acting client; what a call says of its actor may name and narrow it, never widen it (design §1). */
  #actor(params: unknown): Actor {
    const own = this.#client.actor;
    const direct = isObject(params) ? params['_harn'] : undefined;
    const said = isObject(direct) ? direct['actor'] : metaOf(params, 'harn')['actor'];
    if (!isObject(said)) return own;
    if (said['role'] === 'observer')
      throw new RpcError('invalidRequest', 'An observer may read a session, not control it.');
    const { clientId } = said;
    return typeof clientId === 'string' && clientId !== '' ? { ...own, clientId } : own;
  }

  #ownCommand(asked: string | undefined): CommandId {
    const id = asked ?? this.#services.ids.unique();
    this.#ownCommands.add(id);
    return id as CommandId;
  }

  /** The client sends no more: what it asked is answered, its turns stop, and everything is flushed. */
  async #end(): Promise<void> {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort();
    this.#prompts.close();
    this.#gates.dispose();
    const { clock, host, log, port } = this.#services;
    await within(clock, LAST_ANSWERS_MS, Promise.all(this.#answering));
    const stopped = host
      .clientGone(this.#client)
      .catch((error: unknown) =>
        log.error('The turns of a gone client could not be stopped', { message: messageOf(error) }),
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
