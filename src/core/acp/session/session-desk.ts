import { isAbsolute } from 'node:path';
import type { Disposable } from '../../../base/disposables.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { RpcError } from '../../../protocol/errors.ts';
import type { IncomingRequest, Reply } from '../../../protocol/transport/rpc-types.ts';
import type { Client, LiveSession, OpenSession, SessionHost } from '../../host/api.ts';
import type { SessionId } from '../../session/words.ts';
import { badField, checkParams, metaOf } from '../params.ts';
import { asRpcError, notAttached } from '../wire-errors.ts';
import { Attachment, type AttachmentDeps } from './attachment.ts';
import { openedResult, sessionItem } from './session-item.ts';

/** What the desk needs around it. */
export type SessionDeskDeps = {
  readonly host: SessionHost;
  readonly client: Client;
  readonly actor: (params: unknown) => Actor;
  readonly attachmentDeps: () => AttachmentDeps;
  readonly detached: (session: LiveSession) => void;
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

  /** A prompt that arrives behind a change of mode or model must not begin before it (see `opened`). */
  #change<T>(sessionId: string, change: () => Promise<T>): Promise<T> {
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
    requireAbsolute('/cwd', params.cwd);
    const live = await guarded(() =>
      this.#deps.host.create(
        {
          cwd: params.cwd,
          additionalDirectories: directories(params.additionalDirectories),
          mcpServers: params.mcpServers ?? [],
        },
        this.#deps.client,
      ),
    );
    const attachment = this.#attach(live);
    const result = await openedResult(live);
    return withHarn(result, {}, () => {
      sendCommands(attachment, this.#deps.attachmentDeps());
      attachment.goLive({ withPartial: true });
    });
  }

  /** Replays everything, then answers. */
  async load(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/load', request.params);
    return await this.#open(params, async (live) => {
      const attachment = this.#attach(live);
      const replayed = await guarded(() =>
        attachment.replay(this.#deps.host, request.signal),
      ).catch((error: unknown) => {
        this.#forget(attachment);
        throw request.signal.aborted
          ? new RpcError('requestCancelled', 'Request cancelled')
          : error;
      });
      const facts = { replayed, replayed_count: replayed.length, ...identifiers(attachment) };
      const result = await openedResult(live);
      return withHarn(result, facts, () => attachment.goLive({ withPartial: false }));
    });
  }

  /** Answers without a replay; what streams at the moment follows. */
  async resume(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/resume', request.params);
    return await this.#open(params, async (live) => {
      const attachment = this.#attach(live);
      const result = await openedResult(live);
      return withHarn(result, identifiers(attachment), () => {
        sendCommands(attachment, this.#deps.attachmentDeps());
        attachment.goLive({ withPartial: true });
      });
    });
  }

  async #open(
    params: { sessionId: string } & OpenParams,
    attach: (live: LiveSession) => Promise<Reply>,
  ): Promise<Reply> {
    const { sessionId } = params;
    const before = this.#opening.get(sessionId);
    const work = (async () => {
      await before;
      const options = openOptions(params);
      const live = await guarded(
        () => this.#deps.host.open(sessionId as SessionId, options, this.#deps.client),
        { sessionId },
      );
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

  #attach(live: LiveSession): Attachment {
    this.#attached.get(live.sessionId)?.dispose();
    const attachment = new Attachment(live, this.#deps.attachmentDeps());
    this.#attached.set(live.sessionId, attachment);
    return attachment;
  }

  #forget(attachment: Attachment): void {
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
    const params = checkParams('session/close', request.params);
    await this.#end(params.sessionId, async (sessionId) => {
      await this.#deps.host.close(sessionId, this.#deps.actor(params));
    });
    return { result: {} };
  }

  async delete(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/delete', request.params);
    await this.#end(params.sessionId, async (sessionId) => {
      await this.#deps.host.delete(sessionId, this.#deps.actor(params));
    });
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
    if (attachment) this.#forget(attachment);
  }

  async setMode(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/set_mode', request.params);
    const { session } = this.#require(params.sessionId);
    const { sessionId, modeId } = params;
    const set = () => session.setOption('mode', modeId, this.#deps.actor(params));
    await this.#change(sessionId, () => guarded(set, { sessionId, path: '/modeId' }));
    return { result: {} };
  }

  async setConfigOption(request: IncomingRequest): Promise<Reply> {
    const params = checkParams('session/set_config_option', request.params);
    const { session } = this.#require(params.sessionId);
    const { value } = params;
    if (typeof value !== 'string') throw badField('/value', 'must be the id of a choice');
    const { sessionId, configId } = params;
    const set = () => session.setOption(configId, value, this.#deps.actor(params));
    const configOptions = await this.#change(sessionId, () => guarded(set, { sessionId }));
    return { result: { configOptions } };
  }

  #require(sessionId: string): Attachment {
    const attachment = this.#attached.get(sessionId);
    if (attachment === undefined) throw notAttached(sessionId);
    return attachment;
  }

  dispose(): void {
    for (const attachment of this.#attached.values()) attachment.dispose();
    this.#attached.clear();
  }
}

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

/** Source: design §6, results carry the identifiers they claim. */
function identifiers(attachment: Attachment): { lastEventId: number; prefix_hash: string } {
  const { lastEventId, prefixHash } = attachment.snapshot;
  return { lastEventId, prefix_hash: prefixHash };
}

/** Harn's fields stand at the root and again under `_meta.harn`. */
function withHarn(
  result: Awaited<ReturnType<typeof openedResult>>,
  facts: object,
  after: () => void,
): Reply {
  const harn = { session: result.session, ...facts };
  return { result: { ...result, ...facts, _meta: { harn } }, after };
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
