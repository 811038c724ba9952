import { Deferred } from '../../../base/deferred.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { Frame, FramePort } from '../../../protocol/transport/frame-port.ts';
import { type ParsedFrame, parseFrame, type WireId } from '../../../protocol/transport/message.ts';
import type { Role } from '../../acp/access/credential.ts';
import { type BufferLimits, FrameBuffer, type SentFrame } from './frame-buffer.ts';
import { stamped, unmarked } from './frame-stamp.ts';
import { keyOf, SessionLedger, sessionIdOf } from './session-ledger.ts';

/** How long the host may take to let go of a client, in milliseconds. */
const LET_GO_MS = 4_000;

/** What a connection to the host is for. */
export type HostConnectionFor = {
  /** What it may do at most. */
  readonly ceiling: Role;
  /** True for one of the door's own, which has no keys to show. */
  readonly isOwn: boolean;
};

/** The connection to the host; what arrived early waits until `resume`. */
export type HostConnection = { readonly port: FramePort; readonly resume: () => void };

/** The socket that a worker's frames go to at the moment. */
export type WorkerClient = {
  /** False asks to wait until the worker is told that there is room. */
  send(text: string): boolean;
  /** False if it gives no sign of life in time; its socket is closed then. */
  probe(): Promise<boolean>;
  /** The host takes frames again. */
  hostReady(): void;
  /** The host is gone, and the worker with it. */
  hostGone(): void;
};

/** What a worker is made of. */
export type WorkerOptions = {
  readonly id: string;
  readonly role: Role;
  /** Its client relays another, to which frames go as the host sends them; it never comes back to where it was. */
  readonly isRelay: boolean;
  /** Makes ids that nobody guesses. */
  readonly secret: () => string;
  readonly limits: BufferLimits;
  /** The host ended the connection, or `close` did. */
  readonly onEnd: () => void;
};

type Answer = Extract<ParsedFrame, { kind: 'result' | 'error' }>;

/**
 * One client's connection to the host and all that went out to it lately. It outlives the client's socket, and goes on
 * with the next one behind the last frame which that has.
 */
export class Worker {
  readonly id: string;
  readonly role: Role;
  readonly sessions: SessionLedger;
  readonly #options: WorkerOptions;
  readonly #buffer: FrameBuffer;
  /** Requests of the host that wait for the client's answer, by id. */
  readonly #open = new Map<string, SentFrame>();
  /** Requests that the client has answered. */
  readonly #done = new WeakSet<SentFrame>();
  /** Requests of this door that wait for the host's answer. */
  readonly #own = new Map<string, Deferred<Answer>>();
  readonly #muted = new Set<string>();
  readonly #ended = new Deferred<null>();
  readonly #port: FramePort;
  #client: WorkerClient | null = null;
  #lastId = 0;
  #isOver = false;

  constructor(connection: HostConnection, options: WorkerOptions) {
    this.id = options.id;
    this.role = options.role;
    this.sessions = new SessionLedger(options.role);
    this.#options = options;
    this.#buffer = new FrameBuffer(options.limits);
    this.#port = connection.port;
    this.#port.start({
      frame: (frame) => this.#fromHost(frame),
      drained: () => this.#client?.hostReady(),
      ended: () => this.#over(),
    });
    connection.resume();
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Asks the client for a sign of life. One that gives none in time has lost this worker. */
  async isAlive(): Promise<boolean> {
    const client = this.#client;
    if (client === null) return false;
    if (await client.probe()) return true;
    this.detach(client);
    return false;
  }

  /** False for a cursor that can't be of this worker. */
  mayHaveSent(cursor: number): boolean {
    return cursor <= this.#lastId;
  }

  /** True if a client that has everything up to this frame misses nothing but what is still kept. */
  covers(cursor: number): boolean {
    return this.mayHaveSent(cursor) && this.#buffer.covers(cursor);
  }

  /** Frames go to this client from now on. */
  attach(client: WorkerClient): void {
    this.#client = client;
    this.#port.ready();
  }

  /** The client takes frames again. */
  clientReady(client: WorkerClient): void {
    if (this.#client === client) this.#port.ready();
  }

  /** The client's socket is gone: what comes is kept. */
  detach(client: WorkerClient): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#port.ready();
  }

  /**
   * Sends a client what it missed: requests that still wait for an answer, however old, and all behind its cursor but
   * requests that it has answered. Then frames go to it as they come. `asked` is the id of what it asks for this with:
   * an earlier answer under the same id would be taken for its answer.
   */
  resume(client: WorkerClient, cursor: number, asked: WireId): readonly SentFrame[] {
    const waiting = [...this.#open.values()].filter(({ eventId }) => eventId <= cursor);
    const missed = this.#buffer
      .after(cursor)
      .filter((frame) => !this.#done.has(frame) && frame.answers !== keyOf(asked));
    const again = [...waiting, ...missed];
    for (const frame of again) client.send(this.#stamp(frame, true));
    this.attach(client);
    return again;
  }

  /** Passes a client's frame on. False asks to wait for `hostReady`. */
  fromClient(text: string, parsed: ParsedFrame): boolean {
    if (parsed.kind === 'request') this.sessions.asked(parsed);
    if (parsed.kind === 'result' || parsed.kind === 'error') this.#answered(keyOf(parsed.id));
    return this.#port.send(text);
  }

  #answered(requestKey: string): void {
    const request = this.#open.get(requestKey);
    if (request === undefined) return;
    this.#open.delete(requestKey);
    this.#done.add(request);
  }

  /** Answers in the host's place. It is not sent again to a later socket, which asks by itself. */
  answer(id: WireId, body: { readonly result: object } | { readonly error: object }): void {
    this.say({ jsonrpc: '2.0', id, ...body });
  }

  /** Says something of this door's own to the client. */
  say(message: object): void {
    const text = JSON.stringify(message);
    this.#lastId += 1;
    const mark = { eventId: this.#lastId, replayed: false, worker: this.id };
    this.#client?.send(this.#options.isRelay ? text : stamped(unmarked(text), mark));
  }

  /** Asks the host something in the client's name; the answer is not the client's. Resolves with null if it is gone. */
  async ask(method: string, params: JsonObject): Promise<Answer | null> {
    if (this.#isOver) return null;
    const id = `ws-door:${this.#options.secret()}`;
    const answer = new Deferred<Answer>();
    this.#own.set(keyOf(id), answer);
    this.#port.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return await Promise.race([answer.promise, this.#ended.promise]);
  }

  /** What is told of a session from now on is not for the client. */
  mute(sessionId: string): void {
    this.#muted.add(sessionId);
  }

  unmute(sessionId: string): void {
    this.#muted.delete(sessionId);
  }

  /** The client goes for good. */
  close(): void {
    this.#client = null;
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended.resolve(null);
    this.#port.end();
    const letGo = setTimeout(() => this.#port.destroy(), LET_GO_MS);
    void this.#port.done.then(() => clearTimeout(letGo));
    this.#client?.hostGone();
    this.#client = null;
    this.#options.onEnd();
  }

  #fromHost(frame: Frame): boolean {
    if (this.#isOver || typeof frame !== 'string') return true;
    const parsed = parseFrame(frame);
    if (parsed.kind === 'result' || parsed.kind === 'error') {
      const own = this.#own.get(keyOf(parsed.id));
      if (own !== undefined) {
        this.#own.delete(keyOf(parsed.id));
        own.resolve(parsed);
        return true;
      }
      this.sessions.answered(parsed);
    }
    if (this.#options.isRelay) {
      if (parsed.kind === 'notification') this.sessions.told(parsed.method, parsed.params);
      return this.#client?.send(frame) ?? true;
    }
    const sent = this.#numbered(frame, parsed);
    if (sent === null) return true;
    this.#buffer.push(sent);
    return this.#client?.send(this.#stamp(sent, false)) ?? true;
  }

  /** Null for what is not for the client. */
  #numbered(text: string, parsed: ParsedFrame): SentFrame | null {
    const next = (): number => (this.#lastId += 1);
    if (parsed.kind !== 'request' && parsed.kind !== 'notification') {
      const answers = 'id' in parsed ? { answers: keyOf(parsed.id) } : {};
      return { eventId: next(), ...unmarked(text), kind: 'answer', type: 'answer', ...answers };
    }
    const { method, params } = parsed;
    const sessionId = sessionIdOf(params);
    if (sessionId !== null && this.#muted.has(sessionId)) return null;
    const sent = {
      eventId: next(),
      ...unmarked(text),
      ...(sessionId === null ? {} : { sessionId }),
      kind: parsed.kind,
      type: typeOf(method, params),
    };
    if (parsed.kind === 'request') {
      this.#open.set(keyOf(parsed.id), sent);
      return sent;
    }
    this.sessions.told(method, params);
    if (method === '$/cancel_request') this.#withdrawn(params);
    return sent;
  }

  /** The host waits no more for an answer. */
  #withdrawn(params: unknown): void {
    const id = isObject(params) ? params['requestId'] : undefined;
    if (typeof id === 'number' || typeof id === 'string') this.#open.delete(keyOf(id));
  }

  #stamp(frame: SentFrame, isAgain: boolean): string {
    const { eventId, sessionId, replayed, kind } = frame;
    return stamped(frame, {
      eventId,
      ...(sessionId === undefined ? {} : { sessionId }),
      replayed: isAgain || replayed,
      ...(kind === 'answer' ? { worker: this.id } : {}),
    });
  }
}

function typeOf(method: string, params: unknown): string {
  const update = isObject(params) ? params['update'] : undefined;
  const kind = isObject(update) ? update['sessionUpdate'] : undefined;
  return typeof kind === 'string' ? kind : method;
}
