import { isObject, type JsonObject } from '../../../base/json.ts';
import { RPC_CODES } from '../../../protocol/errors.ts';
import type { ParsedFrame, WireId } from '../../../protocol/transport/message.ts';
import type { Log } from '../../session/ports.ts';
import type { SentFrame } from './frame-buffer.ts';
import { opensSession, sessionIdOf, wantedRole } from './session-ledger.ts';
import type { Worker } from './worker.ts';
import type { Workers } from './workers.ts';
import type { ClientMessage, WsClient } from './ws-client.ts';

/** Another client of this door controls the session. Source: Harn session control, ACP over WebSocket. */
const ALREADY_ATTACHED = -32010;

/** How long the host may take to say how a session is, in milliseconds. */
const LOOK_MS = 10_000;

/** What is needed to bring a client back to where it was. */
export type ReattachDeps = {
  readonly workers: Workers;
  /** A connection that may only read, of which no client knows. */
  readonly look: () => Promise<Worker>;
  readonly log: Log;
};

type Request = Extract<ParsedFrame, { kind: 'request' }>;

/** A load that goes on behind what its client has. */
type Cursor = {
  readonly id: WireId;
  readonly params: JsonObject;
  readonly sessionId: string;
  readonly cursor: number;
  readonly worker: string | null;
};

/**
 * The rules of attaching by WebSocket (design §6; Harn session control, ACP over WebSocket): a load with a cursor goes
 * on where its client was, and a session that a connected client controls is not given to another one unasked.
 */
export class Reattach {
  readonly #deps: ReattachDeps;

  constructor(deps: ReattachDeps) {
    this.#deps = deps;
  }

  /** Undefined for what is the host's to answer. */
  look({ parsed }: ClientMessage, client: WsClient): Promise<void> | undefined {
    const { worker } = client;
    if (worker === null || client.isRelay) return undefined;
    if (parsed.kind !== 'request' || !opensSession(parsed.method)) return undefined;
    const cursor = cursorOf(parsed);
    if (cursor !== null) return this.#goOn(cursor, client, worker);
    const sessionId = sessionIdOf(parsed.params);
    if (client.role === 'observer' || sessionId === null) return undefined;
    if (wantedRole(parsed.method, parsed.params) === 'observer') return undefined;
    if (!this.#deps.workers.isControlled(sessionId, worker)) return undefined;
    worker.answer(parsed.id, { error: alreadyAttached(sessionId) });
    return Promise.resolve();
  }

  async #goOn(asked: Cursor, client: WsClient, current: Worker): Promise<void> {
    const { sessionId, cursor } = asked;
    if (!(await this.#isLetIn(asked, current))) return;
    if (current.sessions.roleIn(sessionId) !== undefined && current.covers(cursor)) {
      // What the client missed of it was sent when it came back for another session.
      const known = await this.#known(asked);
      current.answer(asked.id, 'error' in known ? known : loaded(known.result, [], sessionId));
      return;
    }
    const role = client.role === 'observer' ? 'observer' : wantedRole('session/load', asked.params);
    const meant = this.#deps.workers.meant({ ...asked, ceiling: client.role, role });
    if (meant === null || meant === current) await this.#tooLate(asked, client, current);
    else if (meant.isConnected && (await meant.isAlive()))
      current.answer(asked.id, { error: alreadyAttached(sessionId) });
    else await this.#takeOver(asked, client, { current, meant });
  }

  /** What a client may not see by itself it does not get by another one's worker either. */
  async #isLetIn({ id }: Cursor, current: Worker): Promise<boolean> {
    const answer = await current.ask('session/list', { _meta: { pilothouse: { limit: 1 } } });
    if (answer?.kind === 'error') current.answer(id, { error: answer.error });
    return answer?.kind === 'result';
  }

  async #takeOver(
    asked: Cursor,
    client: WsClient,
    { current, meant }: { readonly current: Worker; readonly meant: Worker },
  ): Promise<void> {
    const { sessionId, cursor, id } = asked;
    const known = meant.covers(cursor) ? await this.#known(asked) : null;
    if (!client.isOpen) return;
    if (known !== null && 'error' in known) {
      current.answer(id, known);
      return;
    }
    if (known === null || meant.isOver || meant.isConnected || !meant.covers(cursor)) {
      // Its client is this one, which begins anew.
      if (!meant.isConnected && meant.mayHaveSent(cursor)) meant.close();
      await this.#tooLate(asked, client, current);
      return;
    }
    this.#deps.workers.wake(meant);
    const again = meant.resume(client, cursor, id);
    meant.answer(id, loaded(known.result, again, sessionId));
    client.speakTo(meant);
    current.close();
    this.#deps.log.info('A WebSocket client is back', { sessionId, frames: again.length });
  }

  /** How the session is now. */
  async #known({ params }: Cursor): Promise<{ result: JsonObject } | { error: object }> {
    let looker: Worker | null = null;
    const limit = setTimeout(() => looker?.close(), LOOK_MS);
    try {
      looker = await this.#deps.look();
      await looker.ask('initialize', LOOKER);
      const answer = await looker.ask('session/resume', { ...params, ...OBSERVER });
      if (answer?.kind === 'error') return { error: answer.error };
      if (isObject(answer?.result)) return { result: answer.result as JsonObject };
    } catch (error) {
      this.#deps.log.warn('A session could not be looked at', { error: String(error) });
    } finally {
      clearTimeout(limit);
      looker?.close();
    }
    const message = 'The session host could not be asked. Try again.';
    return { error: { code: RPC_CODES.internalError, message } };
  }

  /**
   * Where the client was is not kept any more: what is stored of the session is told, and the answer says that the
   * client has to begin anew. It does not follow the session after that.
   */
  async #tooLate(
    { id, params, sessionId }: Cursor,
    client: WsClient,
    current: Worker,
  ): Promise<void> {
    const answer = await current.ask('session/load', { ...params, ...OBSERVER });
    if (answer === null || !client.isOpen) return;
    if (answer.kind === 'error') return current.answer(id, { error: answer.error });
    current.mute(sessionId);
    const { lastEventId, prefix_hash } = isObject(answer.result)
      ? (answer.result as JsonObject)
      : {};
    await current.ask('_pilothouse/detach', { sessionId });
    current.unmute(sessionId);
    const data = {
      reason: 'cursor_expired',
      sessionId,
      ...(lastEventId === undefined ? {} : { lastEventId }),
      ...(prefix_hash === undefined ? {} : { prefix_hash }),
    };
    const message =
      'What was sent behind this cursor is not kept any more. The stored session was told again; load or resume it without a cursor to go on.';
    current.answer(id, { error: { code: RPC_CODES.noSuchSession, message, data } });
  }
}

/** Who looks introduces itself as what it is. */
const LOOKER: JsonObject = {
  protocolVersion: 1,
  clientCapabilities: {},
  clientInfo: { name: 'pilothouse-ws-door', version: '1' },
};

const OBSERVER: JsonObject = { _meta: { harn: { actor: { role: 'observer' } } } };

function cursorOf({ id, method, params }: Request): Cursor | null {
  if (method !== 'session/load' || !isObject(params)) return null;
  const meta = isObject(params['_meta']) ? params['_meta']['harn'] : undefined;
  const said = { ...(isObject(meta) ? meta : {}), ...params } as JsonObject;
  const cursor = said['lastAckedEventId'] ?? said['lastEventId'];
  const sessionId = sessionIdOf(params);
  if (sessionId === null || typeof cursor !== 'number' || !Number.isSafeInteger(cursor))
    return null;
  const worker = typeof said['worker'] === 'string' ? said['worker'] : null;
  return { id, params: params as JsonObject, sessionId, cursor: Math.max(0, cursor), worker };
}

/** The host's answer to a load, with what was sent again: the ids are those of the frames. */
function loaded(
  result: JsonObject,
  again: readonly SentFrame[],
  sessionId: string,
): { readonly result: JsonObject } {
  const replayed = again
    .filter((frame) => frame.sessionId === sessionId)
    .map(({ eventId, type }) => ({ eventId, type }));
  return { result: { ...result, replayed, replayed_count: replayed.length } };
}

function alreadyAttached(sessionId: string): object {
  return {
    code: ALREADY_ATTACHED,
    message:
      'Another client that is connected controls this session. Attach as an observer, and claim it to control it too.',
    data: {
      reason: 'already_attached',
      sessionId,
      ways: [
        { method: '_pilothouse/attach', params: { sessionId, role: 'observer' } },
        { method: '_pilothouse/claim', params: { sessionId } },
      ],
    },
  };
}
