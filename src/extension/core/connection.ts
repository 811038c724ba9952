import {
  CancellationReceiverStrategy,
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  ParameterStructures,
  ResponseError,
} from 'vscode-jsonrpc/node';
import { Deferred } from '../../base/deferred.ts';
import type { Disposable } from '../../base/disposables.ts';
import { CodedError, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { AgentProcess } from './agent-process.ts';
import type { AgentMethod, AgentMethods, AgentNotifications } from './methods.ts';
import { NdjsonReader, NdjsonWriter } from './transport/ndjson.ts';

/** An answered error or a lost connection. `rpcCode` is null where no answer came. */
export class AgentRequestError extends CodedError<
  'agent.refused' | 'agent.gone' | 'agent.timeout' | 'agent.cancelled'
> {
  readonly rpcCode: number | null;
  /** The `data` of the error as the agent sent it. */
  readonly details: unknown;

  constructor(
    code: AgentRequestError['code'],
    message: string,
    options: { rpcCode?: number; details?: unknown; cause?: unknown } = {},
  ) {
    super(code, message, { cause: options.cause, retryable: code !== 'agent.refused' });
    this.rpcCode = options.rpcCode ?? null;
    this.details = options.details;
  }
}

/** How long to wait for an answer. */
export type RequestOptions = {
  /** Milliseconds; null waits until the connection ends (a prompt lasts as long as its turn). */
  readonly timeoutMs?: number | null;
  readonly signal?: AbortSignal;
};

/** Answers requests of the agent; throws `ResponseError` for an exact code. */
export type ClientRequestHandler = (
  method: string,
  params: unknown,
  signal: AbortSignal,
) => Promise<unknown>;

/** Where the agent's calls go. Both are called in the order of arrival. */
export type ClientSide = {
  readonly onRequest: ClientRequestHandler;
  readonly onNotification: (method: string, params: unknown) => void;
  readonly onJunk: (text: string) => void;
  readonly onProblem: (message: string) => void;
};

const DEFAULT_TIMEOUT_MS = 30_000;
const REQUEST_CANCELLED = -32800;

/** One connection to a running agent-core. When it ends, everything still waiting rejects with `agent.gone`. */
export class AgentConnection implements Disposable {
  readonly pid: number;
  readonly #rpc: MessageConnection;
  readonly #closed = new Deferred<void>();

  constructor(process: AgentProcess, client: ClientSide) {
    this.pid = process.pid;
    this.#rpc = createMessageConnection(
      new NdjsonReader(process.stdout, client.onJunk),
      new NdjsonWriter(process.stdin),
      { error: client.onProblem, warn: client.onProblem, info: ignore, log: ignore },
      {
        cancellationStrategy: {
          receiver: CancellationReceiverStrategy.Message,
          sender: {
            sendCancellation: async (rpc, id) =>
              rpc.sendNotification('$/cancel_request', { requestId: id }),
            cleanup: ignore,
          },
        },
      },
    );
    this.#serve(client);
    this.#rpc.onClose(() => this.dispose());
    this.#rpc.onDispose(() => this.#closed.resolve());
    this.#rpc.listen();
  }

  /** Resolves when the connection has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#closed.isSettled;
  }

  #serve(client: ClientSide): void {
    this.#rpc.onRequest(async (method: string, params: unknown, token) => {
      const abort = new AbortController();
      const subscription = token.onCancellationRequested(() => abort.abort());
      try {
        return await client.onRequest(method, unwrapped(params), abort.signal);
      } catch (error) {
        if (abort.signal.aborted) throw new ResponseError(REQUEST_CANCELLED, 'Request cancelled');
        throw error;
      } finally {
        subscription.dispose();
      }
    });
    this.#rpc.onNotification((method: string, params: unknown) =>
      client.onNotification(method, unwrapped(params)),
    );
    this.#rpc.onError(([error]) => client.onProblem(error.message));
    this.#rpc.onUnhandledNotification((message) =>
      client.onProblem(`Unhandled notification ${message.method}`),
    );
  }

  /** Calls a method of the agent. Rejects with `AgentRequestError` only. */
  async request<M extends AgentMethod>(
    method: M,
    params: AgentMethods[M][0],
    options: RequestOptions = {},
  ): Promise<AgentMethods[M][1]> {
    if (this.isClosed) throw gone();
    const source = new CancellationTokenSource();
    const limit = deadline(options);
    const end = new Deferred<never>();
    const onAbort = (): void => {
      source.cancel();
      end.reject(limit.reason(method));
    };
    limit.signal.addEventListener('abort', onAbort, { once: true });
    if (limit.signal.aborted) onAbort();
    try {
      return await Promise.race([
        this.#rpc.sendRequest<AgentMethods[M][1]>(
          method,
          ParameterStructures.byName,
          params,
          source.token,
        ),
        end.promise,
        this.#closed.promise.then(() => {
          throw gone();
        }),
      ]);
    } catch (error) {
      throw asRequestError(error);
    } finally {
      limit.signal.removeEventListener('abort', onAbort);
      limit.clear();
      source.dispose();
    }
  }

  /** Sends a notification; resolves when it was written. Rejects with `agent.gone`. */
  async notify<N extends keyof AgentNotifications>(
    method: N,
    params: AgentNotifications[N],
  ): Promise<void> {
    if (this.isClosed) throw gone();
    try {
      await this.#rpc.sendNotification(method, params);
    } catch (error) {
      throw gone(error);
    }
  }

  dispose(): void {
    if (this.#closed.isSettled) return;
    this.#closed.resolve();
    this.#rpc.dispose();
  }
}

type Limit = {
  readonly signal: AbortSignal;
  readonly reason: (method: string) => AgentRequestError;
  readonly clear: () => void;
};

function deadline({ timeoutMs = DEFAULT_TIMEOUT_MS, signal }: RequestOptions): Limit {
  const abort = new AbortController();
  const timer = timeoutMs === null ? null : setTimeout(() => abort.abort(), timeoutMs);
  const forward = (): void => abort.abort();
  if (signal?.aborted) forward();
  else signal?.addEventListener('abort', forward, { once: true });
  return {
    signal: abort.signal,
    reason: (method) =>
      signal?.aborted
        ? new AgentRequestError('agent.cancelled', 'The request was cancelled.')
        : new AgentRequestError(
            'agent.timeout',
            `The agent process did not answer ${method} in time. Restart it if this goes on.`,
          ),
    clear: () => {
      if (timer !== null) clearTimeout(timer);
      signal?.removeEventListener('abort', forward);
    },
  };
}

function gone(cause?: unknown): AgentRequestError {
  return new AgentRequestError(
    'agent.gone',
    'The connection to the agent process ended. Restart it and try again.',
    { cause },
  );
}

function asRequestError(error: unknown): AgentRequestError {
  if (error instanceof AgentRequestError) return error;
  if (error instanceof ResponseError)
    return new AgentRequestError('agent.refused', error.message, {
      rpcCode: error.code,
      details: error.data,
      cause: error,
    });
  return new AgentRequestError('agent.gone', messageOf(error), { cause: error });
}

/** The library hands positional params over as an array; ACP has named ones only. */
function unwrapped(params: unknown): unknown {
  return Array.isArray(params) && params.length === 1 && isObject(params[0]) ? params[0] : params;
}

/** The library's information and log messages tell nothing that the log does not have already. */
const ignore = (): void => undefined;
