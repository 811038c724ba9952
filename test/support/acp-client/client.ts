import { Deferred } from '../../../src/base/deferred.ts';
import { isObject } from '../../../src/base/json.ts';
import type { SessionUpdate } from '../../../src/protocol/acp.ts';
import type { FrameMark } from '../../../src/protocol/harn.ts';
import type { ClientLink, ExitStatus } from './link.ts';

/** A message as received, with the line it came in. */
export type ReceivedFrame = {
  readonly text: string;
  /** Null where the line was no JSON object. */
  readonly message: Readonly<Record<string, unknown>> | null;
};

/** One `session/update`, in order of arrival. */
export type ReceivedUpdate = {
  readonly sessionId: string;
  readonly update: SessionUpdate;
  readonly mark: FrameMark | undefined;
  /** Its place in `frames`. */
  readonly index: number;
};

/** An error answer. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(error: Readonly<Record<string, unknown>>) {
    super(String(error['message']));
    this.code = Number(error['code']);
    this.data = isObject(error['data']) ? error['data'] : {};
  }
}

/** Answers a request of the agent. `signal` aborts on `$/cancel_request`. Returning undefined sends no answer. */
export type RequestHandler = (
  params: Readonly<Record<string, unknown>>,
  context: { readonly id: unknown; readonly signal: AbortSignal },
) => unknown;

/**
 * A client of an ACP agent for tests: it writes and reads plain lines by itself, shares no code with the product's
 * transport, keeps everything it received in order, and can send any bytes.
 */
export class AcpTestClient {
  readonly frames: ReceivedFrame[] = [];
  readonly updates: ReceivedUpdate[] = [];
  readonly #link: ClientLink;
  readonly #pending = new Map<unknown, Deferred<unknown>>();
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #asked = new Map<unknown, AbortController>();
  readonly #watchers = new Set<() => void>();
  #nextId = 1;
  #rest = Buffer.alloc(0);
  #isOver = false;

  constructor(link: ClientLink) {
    this.#link = link;
    link.output.on('data', (chunk: Buffer) => this.#take(chunk));
    link.output.on('end', () => this.#over());
    link.output.on('close', () => this.#over());
    link.output.on('error', () => this.#over());
    link.input.on('error', () => undefined);
  }

  /** The agent's process, where there is one. */
  get pid(): number | undefined {
    return this.#link.pid;
  }

  /** What the process wrote to stderr so far. */
  get stderr(): string {
    return this.#link.stderr();
  }

  /** Stops reading stderr: what the agent writes there from now on fails. */
  closeStderr(): void {
    this.#link.closeStderr();
  }

  /** Resolves when the process has ended, or the streams where there is none. */
  get exited(): Promise<ExitStatus> {
    return this.#link.exited;
  }

  /** Sends a request and resolves with its result; rejects with `RpcFailure`. */
  async request(
    method: string,
    params: object = {},
    id: unknown = this.#mintId(),
  ): Promise<unknown> {
    const answer = new Deferred<unknown>();
    this.#pending.set(id, answer);
    this.send({ jsonrpc: '2.0', id, method, params });
    return await answer.promise;
  }

  /** The same, with the result as an object. */
  async call(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const result = await this.request(method, params);
    if (!isObject(result)) throw new TypeError(`${method} answered with ${JSON.stringify(result)}`);
    return result;
  }

  notify(method: string, params: object = {}): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends one message as a line. */
  send(message: object): void {
    this.sendRaw(`${JSON.stringify(message)}\n`);
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: string | Uint8Array): void {
    this.#link.input.write(bytes);
  }

  /** Sets what answers a request of the agent; without one it is answered with method not found. */
  onRequest(method: string, handler: RequestHandler): void {
    this.#handlers.set(method, handler);
  }

  /** Introduces the client. `capabilities` default to none. */
  async initialize(capabilities: object = {}, more: object = {}): Promise<Record<string, unknown>> {
    return await this.call('initialize', {
      protocolVersion: 1,
      clientCapabilities: capabilities,
      clientInfo: { name: 'test-client', version: '1' },
      ...more,
    });
  }

  /** A new session's id. */
  async newSession(cwd: string): Promise<string> {
    const { sessionId } = await this.call('session/new', { cwd, mcpServers: [] });
    return String(sessionId);
  }

  /** Sends a text prompt. */
  async prompt(sessionId: string, text: string): Promise<Record<string, unknown>> {
    return await this.call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** The text of the messages received for a session. */
  textOf(sessionId: string, kind = 'agent_message_chunk'): string {
    return this.updates
      .filter((entry) => entry.sessionId === sessionId)
      .map(({ update }) => {
        const content = update.sessionUpdate === kind && 'content' in update ? update.content : {};
        const text = isObject(content) ? content['text'] : undefined;
        return typeof text === 'string' ? text : '';
      })
      .join('');
  }

  /** Messages with this method, requests and notifications. */
  calls(method: string): readonly Readonly<Record<string, unknown>>[] {
    return this.frames.flatMap(({ message }) => (message?.['method'] === method ? [message] : []));
  }

  /** The first frame, received already or later, that fits. Rejects when the connection ends without one. */
  async waitFor(fits: (frame: ReceivedFrame) => boolean, what = 'a frame'): Promise<ReceivedFrame> {
    let from = 0;
    const found = new Deferred<ReceivedFrame>();
    const look = (): void => {
      for (; from < this.frames.length; from += 1) {
        const frame = this.frames[from];
        if (!frame || !fits(frame)) continue;
        found.resolve(frame);
        return;
      }
      if (this.#isOver) found.reject(new Error(`The connection ended before ${what} came`));
    };
    this.#watchers.add(look);
    look();
    try {
      return await found.promise;
    } finally {
      this.#watchers.delete(look);
    }
  }

  /** The first update, received already or later, that fits. */
  async waitForUpdate(
    fits: (entry: ReceivedUpdate) => boolean,
    what = 'an update',
  ): Promise<ReceivedUpdate> {
    const entryOf = (frame: ReceivedFrame): ReceivedUpdate | undefined =>
      this.updates.find((entry) => this.frames[entry.index] === frame);
    const frame = await this.waitFor((candidate) => {
      const entry = entryOf(candidate);
      return entry !== undefined && fits(entry);
    }, what);
    const entry = entryOf(frame);
    if (!entry) throw new TypeError('The update is gone');
    return entry;
  }

  /** Stops reading, so that the agent's pipe fills. */
  pauseReading(): void {
    this.#link.output.pause();
  }

  resumeReading(): void {
    this.#link.output.resume();
  }

  /** Resolves when the process has written `text` to stderr. */
  async waitForLog(text: string): Promise<void> {
    await this.#link.waitForStderr(text);
  }

  /** Ends the agent's input and waits for its end. */
  async close(): Promise<ExitStatus> {
    this.#link.input.end();
    return await this.exited;
  }

  /** Ends input without waiting. */
  endInput(): void {
    this.#link.input.end();
  }

  /** Drops all pipes without a word, as the end of the client's own process does. */
  vanish(): void {
    this.#link.closeStderr();
    this.#link.input.destroy();
    this.#link.output.destroy();
  }

  /** Kills the process group, or drops the streams where there is none. */
  kill(): void {
    this.#link.kill();
  }

  #mintId(): number {
    this.#nextId += 1;
    return this.#nextId;
  }

  #take(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10)) {
      this.#line(bytes.subarray(0, at).toString('utf8'));
      bytes = bytes.subarray(at + 1);
    }
    this.#rest = Buffer.from(bytes);
    for (const look of this.#watchers) look();
  }

  #line(text: string): void {
    const message = parsed(text);
    this.frames.push({ text, message });
    if (message === null) return;
    if (typeof message['method'] === 'string') this.#called(message, message['method']);
    else this.#answered(message);
  }

  #called(message: Readonly<Record<string, unknown>>, method: string): void {
    const params = isObject(message['params']) ? message['params'] : {};
    if ('id' in message) void this.#answer(message['id'], method, params);
    else if (method === 'session/update') this.#update(message, params);
    else if (method === '$/cancel_request') this.#asked.get(params['requestId'])?.abort();
  }

  #update(message: Readonly<Record<string, unknown>>, params: Record<string, unknown>): void {
    this.updates.push({
      sessionId: String(params['sessionId']),
      update: params['update'] as SessionUpdate,
      mark: message['_harn'] as FrameMark | undefined,
      index: this.frames.length - 1,
    });
  }

  async #answer(id: unknown, method: string, params: Record<string, unknown>): Promise<void> {
    const handler = this.#handlers.get(method);
    const abort = new AbortController();
    this.#asked.set(id, abort);
    try {
      if (!handler) throw new RpcFailure({ code: -32601, message: `Method not found: ${method}` });
      const result = await handler(params, { id, signal: abort.signal });
      if (result !== undefined) this.send({ jsonrpc: '2.0', id, result });
    } catch (error) {
      const code = error instanceof RpcFailure ? error.code : -32603;
      const text = error instanceof Error ? error.message : String(error);
      this.send({ jsonrpc: '2.0', id, error: { code, message: text } });
    }
  }

  #answered(message: Readonly<Record<string, unknown>>): void {
    const pending = this.#pending.get(message['id']);
    this.#pending.delete(message['id']);
    const error = message['error'];
    if (isObject(error)) pending?.reject(new RpcFailure(error));
    else pending?.resolve(message['result']);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#rest.length > 0) this.#line(this.#rest.toString('utf8'));
    const gone = new Error('The connection ended');
    for (const pending of this.#pending.values()) pending.reject(gone);
    this.#pending.clear();
    for (const look of this.#watchers) look();
  }
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
