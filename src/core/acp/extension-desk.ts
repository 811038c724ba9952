import { isAbsolute } from 'node:path';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { SessionUpdate } from '../../protocol/acp.ts';
import { CONTROLS, type Control } from '../../protocol/controls.ts';
import { RpcError } from '../../protocol/errors.ts';
import type {
  HistoryPage,
  HistoryPageParams,
  PilothouseAgentMethods,
  PilothouseAgentNotifications,
} from '../../protocol/pilothouse.ts';
import type { IncomingRequest, Reply, RpcPeer } from '../../protocol/transport/rpc-types.ts';
import type { Client, SessionHost } from '../host/api.ts';
import type { HistoryQuery } from '../host/read-branch.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';
import type { Log } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import { observerRefused } from './access/actors.ts';
import type { Role } from './access/credential.ts';
import { textMember } from './control/control-params.ts';
import { READ_METHODS } from './control/control-reads.ts';
import { EVENT_METHODS } from './events/event-desk.ts';
import * as checks from './generated/schema-checks.mjs';
import { badField, requireValid } from './params.ts';
import { causeOf, type Projected } from './projection/projected.ts';
import { Projector } from './projection/projector.ts';
import { isoTime } from './projection/turn-updates.ts';
import { foundSession } from './session/session-item.ts';
import type { BuiltInMethod, ControlRoomMethod, ExtensionClient, Extensions } from './types.ts';
import { asRpcError } from './wire-errors.ts';

type Method = Exclude<keyof PilothouseAgentMethods, ControlRoomMethod>;

const CHECKS: { readonly [M in Method]: checks.SchemaCheck } = {
  '_pilothouse/history/page': checks.historyPage,
  '_pilothouse/history/hash_at': checks.historyHashAt,
  '_pilothouse/history/verify': checks.historyVerify,
  '_pilothouse/sessions/search': checks.sessionsSearch,
  '_pilothouse/secrets/set': checks.secretsSet,
  '_pilothouse/models/configure': checks.modelsConfigure,
  '_pilothouse/models/list': checks.empty,
  '_pilothouse/policy/list': checks.policyList,
  '_pilothouse/policy/reset': checks.policyReset,
  '_pilothouse/changes/list': checks.sessionOnly,
  '_pilothouse/gates/list': checks.sessionOnly,
  '_pilothouse/changes/text': checks.changesText,
  '_pilothouse/sessions/export': checks.sessionsExport,
  '_pilothouse/sessions/import': checks.sessionsImport,
  '_pilothouse/store/status': checks.empty,
  '_pilothouse/lsp': checks.lsp,
};

const BUILT_IN = [
  '_pilothouse/history/page',
  '_pilothouse/history/hash_at',
  '_pilothouse/history/verify',
  '_pilothouse/sessions/search',
  '_pilothouse/gates/list',
] as const satisfies readonly BuiltInMethod[];

/** They read or write files of the host, make sessions, or change what all sessions of the host go by. */
const OWNERS_ONLY: ReadonlySet<Method> = new Set<Method>([
  '_pilothouse/sessions/export',
  '_pilothouse/sessions/import',
  '_pilothouse/secrets/set',
  '_pilothouse/models/configure',
  '_pilothouse/policy/reset',
]);

const DEFAULT_PAGE = 200;

/** The extension methods that a connection answers, as it advertises them. */
export function extensionMethods(extensions: Extensions): readonly string[] {
  return [
    ...answeredHere(extensions),
    ...CONTROLS.filter(isOurs),
    ...READ_METHODS,
    ...ROLE_METHODS,
    ...EVENT_METHODS,
  ];
}

/** Methods that give and take roles in a session. */
export const ROLE_METHODS = [
  '_pilothouse/attach',
  '_pilothouse/detach',
  '_pilothouse/claim',
  '_pilothouse/hand_over',
  '_pilothouse/clients/list',
] as const;

function isOurs(control: Control): boolean {
  return control.startsWith('_pilothouse/');
}

function answeredHere(extensions: Extensions): readonly Method[] {
  const methods = Object.keys(CHECKS) as Method[];
  return methods.filter(
    (method) => isBuiltIn(method) || Object.hasOwn(extensions.handlers, method),
  );
}

function isBuiltIn(method: Method): method is BuiltInMethod {
  return BUILT_IN.some((name) => name === method);
}

/** What the desk needs around it. */
export type ExtensionDeskDeps = {
  readonly host: SessionHost;
  readonly extensions: Extensions;
  readonly peer: RpcPeer;
  readonly log: Log;
  /** The client as the host knows it. */
  readonly client: Client;
  /** Aborts when the client goes. */
  readonly gone: AbortSignal;
  /** What this client may do at most. */
  readonly ceiling: () => Role;
};

/** Answers `_pilothouse/` methods: some from the host, the rest by the rooms they belong to. */
export class ExtensionDesk {
  readonly #host: SessionHost;
  readonly #extensions: Extensions;
  readonly #client: ExtensionClient;
  readonly #log: Log;
  readonly #ceiling: () => Role;
  readonly #notifications: Emitter<{
    readonly method: keyof PilothouseAgentNotifications;
    readonly params: unknown;
  }>;

  constructor({ host, extensions, peer, log, client, gone, ceiling }: ExtensionDeskDeps) {
    this.#host = host;
    this.#extensions = extensions;
    this.#log = log;
    this.#ceiling = ceiling;
    this.#notifications = new Emitter((error) =>
      log.error('A notification of the client could not be handled', { message: messageOf(error) }),
    );
    this.#client = {
      identity: client,
      request: async (method, params, signal) =>
        await peer.request(method, params, AbortSignal.any([signal, gone])),
      notify: (method, params) => peer.notify(method, params),
      onNotification: this.#notifications.event,
      gone,
    };
  }

  get client(): ExtensionClient {
    return this.#client;
  }

  /** What answers the method; undefined if there is no such method here. */
  handler(name: string): ((request: IncomingRequest) => Promise<Reply>) | undefined {
    const method = answeredHere(this.#extensions).find((known) => known === name);
    return method && ((request) => this.#answer(method, request.params ?? {}));
  }

  async #answer(method: Method, params: unknown): Promise<Reply> {
    const valid = requireValid(CHECKS[method], params);
    if (OWNERS_ONLY.has(method)) {
      if (this.#ceiling() === 'observer') throw observerRefused();
      requireAbsolutePaths(valid);
    }
    try {
      return { result: await this.#call(method, valid) };
    } catch (error) {
      throw asRpcError(error);
    }
  }

  async #call(method: Method, params: unknown): Promise<object> {
    if (!isBuiltIn(method)) {
      // One method's handler and its params belong together; the compiler can't see that through a variable.
      const handler = this.#extensions.handlers[method] as
        | ((params: unknown, client: ExtensionClient) => Promise<object>)
        | undefined;
      if (handler === undefined)
        throw new RpcError('methodNotFound', `Method not found: ${method}`);
      return await handler(params, this.#client);
    }
    return await this.#builtIn(method, params);
  }

  async #builtIn(method: BuiltInMethod, params: unknown): Promise<object> {
    switch (method) {
      case '_pilothouse/history/page':
        return await this.#page(params as HistoryPageParams);
      case '_pilothouse/history/hash_at': {
        const { sessionId, eventId } = params as { sessionId: SessionId; eventId: number };
        return { eventId, prefixHash: await this.#host.hashAt(sessionId, eventId) };
      }
      case '_pilothouse/history/verify': {
        const { sessionId, stream = 'history' } = params as {
          sessionId: SessionId;
          stream?: 'history' | 'control';
        };
        return await this.#host.verify(sessionId, stream);
      }
      case '_pilothouse/sessions/search': {
        const page = await this.#host.list(params as Parameters<SessionHost['list']>[0]);
        const next = page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor };
        return { sessions: page.sessions.map(foundSession), ...next };
      }
      case '_pilothouse/gates/list': {
        const { sessionId } = params as { sessionId: SessionId };
        return { gates: this.#host.live(sessionId)?.openGates() ?? [] };
      }
    }
  }

  async #page(params: HistoryPageParams): Promise<HistoryPage> {
    const sessionId = params.sessionId as SessionId;
    const { before, after, limit = DEFAULT_PAGE, all = false } = params;
    const range: HistoryQuery = {
      all,
      limit,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? { newestFirst: true } : { after }),
    };
    const records = [...(await this.#host.history(sessionId, range))].sort((a, b) => a.seq - b.seq);
    const described = await this.#host.describe(sessionId);
    const lastEventId = described?.lastEventId ?? records.at(-1)?.seq ?? 0;
    const projector = new Projector({ notices: true, extras: true, compaction: true, harn: false });
    const entries = records.map((record) => ({
      eventId: record.seq,
      at: isoTime(record.at),
      ...causeOf(record),
      updates: projector
        .history(record, { skipPrompt: false })
        .map((projected) => marked(projected, record)),
    }));
    const first = records[0]?.seq ?? (after ?? 0) + 1;
    const last = records.at(-1)?.seq ?? (before ?? lastEventId + 1) - 1;
    return { entries, hasBefore: first > 1, hasAfter: last < lastEventId, lastEventId };
  }

  /** True if it is a notification of the extension. */
  notified(method: string, params: unknown): boolean {
    switch (method) {
      case '_pilothouse/editor_models/part':
      case '_pilothouse/editor_models/changed':
        this.#notifications.fire({ method, params });
        return true;
      default:
        this.#log.debug('Ignored a notification that is not known', { method });
        return false;
    }
  }
}

function requireAbsolutePaths(params: unknown): void {
  for (const name of ['path', 'cwd']) {
    const path = textMember(params, name);
    if (path !== undefined && !isAbsolute(path))
      throw badField(`/${name}`, 'must be an absolute path');
  }
}

/** An update of a page says itself what frames say of live ones. */
function marked({ update, offset }: Projected, record: Stored<HistoryEvent>): SessionUpdate {
  const harn = {
    ...(update._meta?.['harn'] as object | undefined),
    eventId: record.seq,
    ...causeOf(record),
    ...(offset === undefined ? {} : { offset }),
  };
  // Readers of pages know the updates of the extension too, and take every kind they do not know for one.
  return { ...update, _meta: { ...update._meta, harn } } as SessionUpdate;
}
