import { WebSocket } from 'ws';
import { Deferred } from '../../../src/base/deferred.ts';
import { isObject } from '../../../src/base/json.ts';
import { textOf } from '../../../src/core/door/ws/socket-port.ts';
import { markOf } from './socket-client.ts';

type Message = Readonly<Record<string, unknown>>;

/** What such a client is given. */
export type CursorClientOptions = {
  readonly url: string;
  readonly token: string;
  readonly cwd: string;
  /** A socket that brings nothing for so long, in milliseconds, is given up. */
  readonly silenceMs: number;
};

/**
 * A client that is never away for long: whenever its socket breaks it opens another one and goes on behind the last
 * frame that it has. It keeps every frame by its event id, and says which came twice.
 */
export class CursorClient {
  readonly frames = new Map<number, Message>();
  /** Ids of frames that came again though it had them; requests that are asked again are none. */
  readonly twice: number[] = [];
  /** How often it came back to where it was. */
  returns = 0;
  /** How often it had to begin anew. */
  lost = 0;
  readonly #options: CursorClientOptions;
  readonly #answers = new Map<unknown, Deferred<Message>>();
  #socket: WebSocket | null = null;
  #sessionId: string | null = null;
  #worker: string | undefined;
  #cursor = 0;
  #nextId = 0;
  #isOver = false;
  /** Answers to these are not part of what it follows. */
  readonly #entry = new Set<unknown>();

  constructor(options: CursorClientOptions) {
    this.#options = options;
  }

  /** Comes in and makes a session. */
  async start(): Promise<string> {
    await this.#open();
    await this.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await this.call('session/new', {
      cwd: this.#options.cwd,
      mcpServers: [],
    });
    this.#sessionId = String(sessionId);
    return this.#sessionId;
  }

  /** Resolves with the result, on whichever socket it comes. */
  async call(method: string, params: object): Promise<Record<string, unknown>> {
    const { result, error } = await this.#send(method, params);
    if (!isObject(result)) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  close(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  async #send(method: string, params: object, isEntry = false): Promise<Message> {
    this.#nextId += 1;
    const id = `c${this.#nextId}`;
    const answer = new Deferred<Message>();
    this.#answers.set(id, answer);
    if (isEntry) this.#entry.add(id);
    this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return await answer.promise;
  }

  async #open(): Promise<void> {
    const { url, token, silenceMs } = this.#options;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    const opened = new Deferred<void>();
    let timer = setTimeout(() => socket.terminate(), silenceMs);
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => socket.terminate(), silenceMs);
    };
    socket.on('error', () => undefined);
    socket.once('open', () => {
      this.#socket = socket;
      opened.resolve();
    });
    socket.on('ping', heard);
    socket.on('message', (data) => {
      heard();
      const message: unknown = JSON.parse(textOf(data));
      if (isObject(message)) this.#take(message, socket);
    });
    socket.once('close', () => {
      clearTimeout(timer);
      opened.reject(new Error('The socket closed before it was open'));
      if (this.#socket === socket) this.#broken();
    });
    await opened.promise;
  }

  #broken(): void {
    this.#socket = null;
    for (const id of this.#entry)
      this.#answers.get(id)?.resolve({ error: { code: 0, message: 'broken' } });
    this.#entry.clear();
    if (!this.#isOver && this.#sessionId !== null) void this.#comeBack(this.#sessionId);
  }

  async #comeBack(sessionId: string): Promise<void> {
    try {
      await this.#open();
    } catch {
      // Cut while it came in: again.
      if (!this.#isOver) await this.#comeBack(sessionId);
      return;
    }
    const { cwd } = this.#options;
    await this.#send('initialize', { protocolVersion: 1, clientCapabilities: {} }, true);
    const harn = { lastAckedEventId: this.#cursor, worker: this.#worker };
    const params = { sessionId, cwd, mcpServers: [], _meta: { harn } };
    const { error, result } = await this.#send('session/load', params, true);
    if (isObject(result)) this.returns += 1;
    else if (isObject(error) && error['code'] !== 0) {
      this.lost += 1;
      this.#isOver = true;
      const gone = new Error(JSON.stringify(error));
      for (const answer of this.#answers.values()) answer.reject(gone);
    }
  }

  #take(message: Message, socket: WebSocket): void {
    const { eventId, worker, replayed } = markOf(message);
    const isAnswer = message['method'] === undefined;
    if (isAnswer && this.#entry.delete(message['id'])) {
      // Its number counts, but it is of this socket only.
      if (worker === this.#worker) this.#cursor = Math.max(this.#cursor, eventId);
      this.#answered(message);
      return;
    }
    if (isAnswer) this.#worker ??= worker;
    const isQuestion = !isAnswer && 'id' in message;
    if (isQuestion) this.#allow(message, socket);
    if (this.frames.has(eventId)) {
      if (!(isQuestion && replayed)) this.twice.push(eventId);
      return;
    }
    this.frames.set(eventId, message);
    this.#cursor = Math.max(this.#cursor, eventId);
    if (isAnswer) this.#answered(message);
  }

  #answered(message: Message): void {
    this.#answers.get(message['id'])?.resolve(message);
    this.#answers.delete(message['id']);
  }

  #allow({ id, method }: Message, socket: WebSocket): void {
    if (method !== 'session/request_permission') return;
    const result = { outcome: { outcome: 'selected', optionId: 'allow_once' } };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }
}
