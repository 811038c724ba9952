import { isAbsolute } from 'node:path';
import type { Disposable } from '../../../base/disposables.ts';
import type { SessionConfigOption } from '../../../protocol/acp.ts';
import type { Control } from '../../../protocol/controls.ts';
import { RpcError } from '../../../protocol/errors.ts';
import type { IncomingRequest, Reply } from '../../../protocol/transport/rpc-types.ts';
import type {
  AttachOptions,
  Client,
  ClientOrigin,
  LiveSession,
  OpenSession,
  SessionHost,
} from '../../host/api.ts';
import type { EnvironmentPolicy, SessionId } from '../../session/words.ts';
import { type Actors, requireOwner } from '../access/actors.ts';
import type { Role } from '../access/credential.ts';
import { asControlError } from '../control/control-errors.ts';
import { normalised } from '../control/control-params.ts';
import type { Refusals } from '../control/refusals.ts';
import * as checks from '../generated/schema-checks.mjs';
import { badField, checkParams, metaOf, requireValid } from '../params.ts';
import { asRpcError, notAttached } from '../wire-errors.ts';
import { Attachment, type AttachmentDeps } from './attachment.ts';
import { identifiers, shownOpened } from './opened.ts';
import { openedResult, sessionItem } from './session-item.ts';

/** What the desk needs around it. */
export type SessionDeskDeps = {
  readonly host: SessionHost;
  readonly client: Client;
  readonly actors: Actors;
  /** What this client may do at most. */
  readonly ceiling: () => Role;
  readonly refusals: Refusals;
  readonly attachmentDeps: () => AttachmentDeps;
  readonly detached: (session: LiveSession) => void;
  /** What the client's process was started with. */
  readonly origin: ClientOrigin | undefined;
};

/** Creates, opens, lists and ends sessions, and keeps what this client follows. */
export class SessionDesk implements Disposable {
  readonly #deps: SessionDeskDeps;
  readonly #attached = new Map<string, Attachment>();
  readonly #opening = new Map<string, Promise<unknown>>();
  readonly #changing = new Map<string, Promise<unknown>>();

  constructor(deps: SessionDeskDeps) {
    this.#deps = deps;
  }

  attachment(sessionId: string): Attachment | undefined {
    return this.#attached.get(sessionId);
  }

  /** The list of models changed: every attached session tells its options anew. */
  optionsChanged(): void {
    for (const attachment of this.#attached.values()) attachment.optionsChanged();
  }

  /** Resolves when no load, resume or change of an option of the session is under way; never rejects. */
  async opened(sessionId: string): Promise<void> {
    await this.#opening.get(sessionId);
    await this.#changing.get(sessionId);
  }

  /** True while a load, resume or change of the session is under way. */
  isBusy(sessionId: string): boolean {
    return this.#opening.has(sessionId) || this.#changing.has(sessionId);
  }

  /** The session that was attached first. */
  get first(): string | undefined {
    return this.#attached.keys().next().value;
  }

  /** What arrives behind a change of mode, model or history must not begin before it (see `opened`). */
  change<T>(sessionId: string, change: () => Promise<T>): Promise<T> {
    const done = change();
    const all = Promise.allSettled([this.#changing.get(sessionId), done]);
    this.#changing.set(sessionId, all);
    void all.then(() => {
      if (this.#changing.get(sessionId) === all) this.#changing.delete(sessionId);
    });
    return done;
  }

  async create(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/new', request.params);
    requireOwner(this.#deps.actors.of(request.params));
    requireAbsolute('/cwd', params.cwd);
    const environment = environmentOf(request.params);
    const live = await guarded(() =>
      this.#deps.host.create(
        {
          cwd: params.cwd,
          additionalDirectories: directories(params.additionalDirectories),
          mcpServers: params.mcpServers ?? [],
          ...environment,
          ...this.#origin,
        },
        this.#deps.client,
      ),
    );
    const { result, goLive } = await this.join(live);
    return { result, after: goLive };
  }

  get #origin(): { readonly origin?: ClientOrigin } {
    const { origin } = this.#deps;
    return origin === undefined ? {} : { origin };
  }

  /** Makes this client follow a session that was just made; `goLive` after the answer. */
  async join(live: LiveSession): Promise<{ readonly result: object; readonly goLive: () => void }> {
    const attachment = this.follow(live);
    const result = await openedResult(live);
    return {
      result: shownOpened(result, {}, attachment),
      goLive: () => {
        sendCommands(attachment, this.#deps.attachmentDeps());
        attachment.goLive({ withPartial: true });
      },
    };
  }

  /** Replays everything, then answers. */
  async load(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/load', request.params);
    return await this.open(params, this.#attachFor(request.params), async (live) => {
      const attachment = this.follow(live);
      const claimed = identifiers(attachment);
      const replayed = await guarded(() =>
        attachment.replay(this.#deps.host, request.signal),
      ).catch((error: unknown) => {
        this.forget(attachment);
        throw request.signal.aborted
          ? new RpcError('requestCancelled', 'Request cancelled')
          : error;
      });
      const told = claimed.prefix_hash === null ? [] : replayed;
      const facts = { replayed: told, replayed_count: told.length, ...claimed };
      const result = await openedResult(live);
      const after = (): void => attachment.goLive({ withPartial: false });
      return { result: shownOpened(result, facts, attachment), after };
    });
  }

  /** Answers without a replay; what streams at the moment follows. */
  async resume(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/resume', request.params);
    return await this.open(params, this.#attachFor(request.params), async (live) => {
      const attachment = this.follow(live);
      const result = await openedResult(live);
      const after = (): void => {
        sendCommands(attachment, this.#deps.attachmentDeps());
        attachment.goLive({ withPartial: true });
      };
      return { result: shownOpened(result, identifiers(attachment), attachment), after };
    });
  }

  /** What a call says of its actor may narrow the role that it attaches with. */
  #attachFor(params: unknown): AttachOptions {
    return { role: this.#deps.actors.of(params).role };
  }

  /** Brings the session to life and follows it, in order with other openings of it. */
  async open(
    params: { sessionId: string } & OpenParams,
    attachOptions: AttachOptions,
    attach: (live: LiveSession) => Promise<Reply>,
  ): Promise<Reply> {
    const { sessionId } = params;
    const before = this.#opening.get(sessionId);
    const work = (async () => {
      await before;
      const options = { ...openOptions(params), ...this.#origin, attach: attachOptions };
      const id = sessionId as SessionId;
      const live = await this.#deps.host
        .open(id, options, this.#deps.client)
        .catch((error: unknown) => {
          throw asControlError(error, sessionId, 'shape');
        });
      return await attach(live);
    })();
    const over = work.then(ignore, ignore);
    this.#opening.set(sessionId, over);
    try {
      return await work;
    } finally {
      if (this.#opening.get(sessionId) === over) this.#opening.delete(sessionId);
    }
  }

  /** In the role that this client has in the session by now. */
  follow(live: LiveSession): Attachment {
    const { host, client } = this.#deps;
    const role = host.clients.role(live.sessionId, client) ?? this.#deps.ceiling();
    this.#attached.get(live.sessionId)?.dispose();
    // What it was asked as an owner is not for an observer to answer.
    if (role === 'observer') this.#deps.detached(live);
    const attachment = new Attachment(live, role, this.#deps.attachmentDeps());
    this.#attached.set(live.sessionId, attachment);
    return attachment;
  }

  forget(attachment: Attachment): void {
    attachment.dispose();
    const { session } = attachment;
    if (this.#attached.get(session.sessionId) === attachment)
      this.#attached.delete(session.sessionId);
    this.#deps.detached(session);
  }

  async list(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/list', request.params);
    const { limit } = metaOf(params, 'pilothouse');
    const { liveState } = params as { liveState?: unknown };
    const page = await guarded(() =>
      this.#deps.host.list({
        ...(params.cwd ? { cwd: params.cwd } : {}),
        ...(params.cursor ? { cursor: params.cursor } : {}),
        ...(isPageSize(limit) ? { limit } : {}),
      }),
    );
    const isWanted = liveState === 'live' || liveState === 'persisted';
    const sessions = page.sessions
      .filter((session) => !isWanted || session.liveState === liveState)
      .map(sessionItem);
    const next = page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor };
    return { result: { sessions, ...next } };
  }

  async close(request: IncomingRequest): Promise<Reply> {
    const [{ sessionId }, actor] = await this.#deps.refusals.owned(
      'session/close',
      request.params,
      () => checkParams('session/close', request.params),
    );
    await this.#end(sessionId, (id) => this.#deps.host.close(id, actor));
    return { result: {} };
  }

  async delete(request: IncomingRequest): Promise<Reply> {
    const [{ sessionId }, actor] = await this.#deps.refusals.owned(
      'session/delete',
      request.params,
      () => checkParams('session/delete', request.params),
    );
    await this.#end(sessionId, (id) => this.#deps.host.delete(id, actor));
    return { result: {} };
  }

  /** What the ending itself brings about (answers of running prompts, receipts) is still followed to its end. */
  async #end(sessionId: string, end: (sessionId: SessionId) => Promise<void>): Promise<void> {
    await this.opened(sessionId);
    const attachment = this.#attached.get(sessionId);
    try {
      await end(sessionId as SessionId);
    } catch (error) {
      throw asEndError(error, sessionId);
    }
    await attachment?.drained();
    if (attachment) this.forget(attachment);
  }

  async setMode(request: IncomingRequest): Promise<Reply> {
    const read = (): Choice => {
      const { sessionId, modeId } = checkParams('session/set_mode', request.params);
      return { sessionId, configId: 'mode', value: modeId };
    };
    await this.#choose('session/set_mode', request.params, read, { path: '/modeId' });
    return { result: {} };
  }

  async setConfigOption(request: IncomingRequest): Promise<Reply> {
    const method = 'session/set_config_option';
    const read = (): Choice => {
      const { sessionId, configId, value } = checkParams(method, request.params);
      if (typeof value !== 'string') throw badField('/value', 'must be the id of a choice');
      return { sessionId, configId, value };
    };
    const configOptions = await this.#choose(method, request.params, read, {});
    return { result: { configOptions } };
  }

  async #choose(
    method: Extract<Control, 'session/set_mode' | 'session/set_config_option'>,
    given: unknown,
    read: () => Choice,
    facts: { readonly path?: string },
  ): Promise<readonly SessionConfigOption[]> {
    const { refusals, host } = this.#deps;
    const [{ sessionId, configId, value }, actor] = await refusals.owned(method, given, read);
    if (!this.#attached.has(sessionId)) {
      await refusals.refuse(method, given, 'unknown_session');
      throw notAttached(sessionId);
    }
    const set = (): Promise<readonly SessionConfigOption[]> =>
      host.controls.setOption({ sessionId, actor }, { method, configId, value });
    return await this.change(sessionId, () => guarded(set, { sessionId, ...facts }));
  }

  dispose(): void {
    for (const attachment of this.#attached.values()) attachment.dispose();
    this.#attached.clear();
  }
}

type Choice = { readonly sessionId: string; readonly configId: string; readonly value: string };

type OpenParams = {
  cwd?: string | null;
  mcpServers?: OpenSession['mcpServers'] | null;
  additionalDirectories?: readonly string[] | null;
};

function openOptions(params: OpenParams): OpenSession {
  const { cwd, mcpServers, additionalDirectories } = params;
  if (cwd !== undefined && cwd !== null) requireAbsolute('/cwd', cwd);
  return {
    ...(cwd ? { cwd } : {}),
    ...(mcpServers ? { mcpServers } : {}),
    ...(additionalDirectories ? { additionalDirectories: directories(additionalDirectories) } : {}),
  };
}

function directories(given: readonly string[] | null | undefined): readonly string[] {
  for (const [index, directory] of (given ?? []).entries())
    requireAbsolute(`/additionalDirectories/${index}`, directory);
  return given ?? [];
}

function requireAbsolute(path: string, value: string): void {
  if (!isAbsolute(value)) throw badField(path, 'must be an absolute path');
}

/** The policy of a new session's environment; `profile` is its older name. */
function environmentOf(given: unknown): { readonly environmentPolicy?: EnvironmentPolicy } {
  const { environmentPolicy } = normalised(given) as { environmentPolicy?: unknown };
  if (environmentPolicy === undefined) return {};
  try {
    // The schema states the type.
    return {
      environmentPolicy: requireValid(
        checks.environmentPolicy,
        environmentPolicy,
      ) as EnvironmentPolicy,
    };
  } catch (error) {
    const { path } = (error instanceof RpcError ? error.data : {}) as { path?: unknown };
    const where = `/environmentPolicy${typeof path === 'string' ? path : ''}`;
    throw badField(where, 'is no policy: the session was not created', {
      reason: 'environment_rejected',
    });
  }
}

function sendCommands(attachment: Attachment, { sender }: AttachmentDeps): void {
  const { commands } = attachment.snapshot;
  if (commands === undefined || commands.length === 0) return;
  sender.update(
    attachment.session.sessionId,
    { sessionUpdate: 'available_commands_update', availableCommands: [...commands] },
    { replayed: false },
  );
}

/** Closing what is nowhere is answered as Harn does. Source: Harn session control, error codes. */
function asEndError(error: unknown, sessionId: string): unknown {
  const rpcError = asRpcError(error, { sessionId });
  return rpcError instanceof RpcError && rpcError.code === 'resourceNotFound'
    ? new RpcError('noSuchSession', rpcError.message, rpcError.data, error)
    : rpcError;
}

async function guarded<T>(
  work: () => Promise<T>,
  facts: { readonly [key: string]: string } = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asRpcError(error, facts);
  }
}

function isPageSize(limit: unknown): limit is number {
  return typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= 1000;
}

function ignore(): void {
  // The one who asked for the session is told.
}
