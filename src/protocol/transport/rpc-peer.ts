import {
  AbstractMessageWriter,
  CancellationReceiverStrategy,
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type Message,
  type MessageConnection,
  ParameterStructures,
  RequestType,
  ResponseError,
} from 'vscode-jsonrpc';
import { Deferred } from '../../base/deferred.ts';
import { messageOf } from '../../base/errors.ts';
import { isRpcError, RPC_CODES, RpcError } from '../errors.ts';
import type { FramePort } from './frame-port.ts';
import { type Envelope, envelopeOf, FrameReader } from './frame-reader.ts';
import { OutboundQueue } from './outbound-queue.ts';
import { RequestIds } from './request-ids.ts';
import {
  PeerGone,
  PeerRefused,
  type Reply,
  type RpcHandlers,
  type RpcPeer,
  type RpcPeerOptions,
} from './rpc-types.ts';

/**
 * JSON-RPC over a framed port. Import `vscode-jsonrpc/node` (or its browser twin) once in the program: the library
 * takes its timers from there.
 */
export function createRpcPeer(
  port: FramePort,
  handlers: RpcHandlers,
  options: RpcPeerOptions,
): RpcPeer {
  return new Peer(port, handlers, options);
}

class Peer implements RpcPeer {
  readonly #port: FramePort;
  readonly #handlers: RpcHandlers;
  readonly #options: RpcPeerOptions;
  readonly #out: OutboundQueue;
  readonly #ids = new RequestIds();
  readonly #outstanding = new Set<number>();
  readonly #after = new Map<number, () => void>();
  readonly #waiting = new Set<WaitingRequest>();
  readonly #reader: FrameReader;
  readonly #rpc: MessageConnection;
  #idleWaiters: (() => void)[] = [];
  #lastSent = -1;
  #hasEnded = false;
  #isClosed = false;

  constructor(port: FramePort, handlers: RpcHandlers, options: RpcPeerOptions) {
    this.#port = port;
    this.#handlers = handlers;
    this.#options = options;
    this.#out = new OutboundQueue(port, {
      merge: options.merge,
      maxQueuedChars: options.maxQueuedChars,
      onOverflow: () => this.#overflow(),
    });
    this.#reader = new FrameReader({
      ids: this.#ids,
      outstanding: this.#outstanding,
      options,
      arrived: (call) => this.#arrived(() => handlers.arrived?.(call) ?? false),
      send: (message) => this.#out.send(message),
    });
    this.#rpc = this.#connect(this.#reader);
  }

  start(): void {
    this.#port.start({
      frame: (frame) => {
        this.#reader.read(frame);
        return true;
      },
      drained: () => this.#out.drained(),
      ended: () => this.#inputEnded(),
    });
  }

  #connect(reader: FrameReader): MessageConnection {
    const { log } = this.#options;
    const logger = {
      error: (message: string) => log.error(message),
      warn: (message: string) => log.warn(message),
      info: ignore,
      log: ignore,
    };
    const rpc = createMessageConnection(reader, new QueueWriter(this.#write), logger, {
      cancellationStrategy: {
        receiver: CancellationReceiverStrategy.Message,
        sender: {
          sendCancellation: async (_rpc, id) => this.notify('$/cancel_request', { requestId: id }),
          cleanup: ignore,
        },
      },
    });
    rpc.onRequest(async (method: string, params: unknown, token: CancellationToken) =>
      this.#handle(method, envelopeOf(params), token),
    );
    rpc.onNotification((method: string, params: unknown) =>
      this.#handlers.notification(method, envelopeOf(params).params),
    );
    rpc.onError(([error]) => log.error('JSON-RPC failed', { message: error.message }));
    rpc.listen();
    return rpc;
  }

  #arrived(handle: () => boolean): boolean {
    try {
      return handle();
    } catch (error) {
      this.#options.log.error('A call could not be looked at', { message: messageOf(error) });
      return false;
    }
  }

  async #handle(method: string, envelope: Envelope, token: CancellationToken): Promise<object> {
    const { requestId, params } = envelope;
    const abort = new AbortController();
    const subscription = token.onCancellationRequested(() => abort.abort());
    if (token.isCancellationRequested) abort.abort();
    try {
      const { result, after } = await this.#reply(method, requestId, params, abort.signal);
      if (after) this.#after.set(requestId, after);
      return result;
    } catch (error) {
      throw this.#asResponseError(method, error);
    } finally {
      subscription.dispose();
    }
  }

  async #reply(
    method: string,
    requestId: number,
    params: unknown,
    signal: AbortSignal,
  ): Promise<Reply> {
    return await this.#handlers.request({ requestId, method, params, signal });
  }

  #asResponseError(method: string, error: unknown): ResponseError<unknown> {
    if (error instanceof ResponseError) return error;
    if (isRpcError(error)) {
      const hasData = Object.keys(error.data).length > 0;
      return new ResponseError(
        error.rpcCode,
        oneLine(error.message),
        hasData ? error.data : undefined,
      );
    }
    this.#options.log.error(`${method} failed`, {
      message: messageOf(error),
      stack: stackOf(error),
    });
    return new ResponseError(RPC_CODES.internalError, `Internal error while handling ${method}`);
  }

  /** The only way out: gives answers the id their request came with. */
  readonly #write = (message: Message): void => {
    if (!isAnswer(message)) {
      if ('id' in message && typeof message.id === 'number') {
        this.#outstanding.add(message.id);
        this.#lastSent = message.id;
      }
      this.#send(message);
      return;
    }
    const own = typeof message.id === 'number' ? message.id : 0;
    const id = this.#ids.answered(own);
    if (id === undefined) return;
    this.#send({ ...message, id });
    const after = this.#after.get(own);
    this.#after.delete(own);
    after?.();
    if (this.#ids.size === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  };

  #send(message: object): void {
    if (!this.#isClosed) this.#out.send(message);
  }

  get isBehind(): boolean {
    return this.#out.isBehind;
  }

  get queuedChars(): number {
    return this.#out.chars;
  }

  taken(): Promise<void> {
    return this.#out.taken();
  }

  get done(): Promise<void> {
    return this.#port.done;
  }

  notify(method: string, params: object, extra: object = {}): void {
    this.#send({ jsonrpc: '2.0', ...extra, method, params });
  }

  async request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (this.#hasEnded) throw new PeerGone();
    if (signal?.aborted) throw cancelled(method);
    const source = new CancellationTokenSource();
    const broken = new Deferred<never>();
    const onAbort = (): void => {
      source.cancel();
      broken.reject(cancelled(method));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const type = new RequestType<object, unknown, unknown>(method, ParameterStructures.byName);
    const answered = this.#rpc.sendRequest(type, params, source.token);
    // The library numbers and writes a request before it returns.
    const waiting = { id: this.#lastSent, broken, answered };
    this.#waiting.add(waiting);
    try {
      return await Promise.race([answered, broken.promise]);
    } catch (error) {
      throw error instanceof ResponseError ? refused(error) : error;
    } finally {
      this.#waiting.delete(waiting);
      signal?.removeEventListener('abort', onAbort);
      source.dispose();
    }
  }

  async idle(): Promise<void> {
    if (this.#ids.size === 0) return;
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  #inputEnded(): void {
    this.#breakOff();
    this.#handlers.ended();
  }

  #breakOff(): void {
    this.#hasEnded = true;
    for (const { id, broken } of this.#waiting)
      if (this.#outstanding.has(id)) broken.reject(new PeerGone());
  }

  #overflow(): void {
    this.#options.log.error('The peer does not read what it is sent; the connection is ended');
    this.#port.destroy();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#out.flush();
    this.#isClosed = true;
    this.#breakOff();
    this.#port.end();
    // Answers that came before the end may still wait in the library's queue.
    const answered = [...this.#waiting].flatMap((waiting) =>
      this.#outstanding.has(waiting.id) ? [] : [waiting.answered],
    );
    void Promise.allSettled(answered).then(() => this.#rpc.dispose());
    for (const wake of this.#idleWaiters.splice(0)) wake();
  }
}

/** A request of ours under way. */
type WaitingRequest = {
  readonly id: number;
  readonly broken: Deferred<never>;
  readonly answered: Promise<unknown>;
};

/** The library's writer; what it writes is queued by the peer, which never fails. */
class QueueWriter extends AbstractMessageWriter {
  readonly #sink: (message: Message) => void;

  constructor(sink: (message: Message) => void) {
    super();
    this.#sink = sink;
  }

  async write(message: Message): Promise<void> {
    this.#sink(message);
  }

  end(): void {
    this.dispose();
  }
}

function isAnswer(message: object): message is { id: unknown } & Message {
  return 'result' in message || 'error' in message;
}

function refused(error: ResponseError<unknown>): PeerRefused | PeerGone {
  const isGone = error.code === -32097;
  return isGone ? new PeerGone() : new PeerRefused(error.code, error.message, error.data);
}

function cancelled(method: string): RpcError {
  return new RpcError('requestCancelled', `Request cancelled: ${method}`);
}

function oneLine(message: string): string {
  return message.replace(/\s*[\r\n]+\s*/g, ' ').trim() || 'Internal error';
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}

function ignore(): void {
  // Nothing to do: the peer keeps its own records.
}
