import { Deferred } from '../../base/deferred.ts';
import type { Disposable } from '../../base/disposables.ts';
import { CodedError, isCoded, messageOf } from '../../base/errors.ts';
import type { PeerRefused, RpcPeer } from '../../protocol/transport/rpc-types.ts';
import type { AgentProcess } from './agent-process.ts';
import type { AgentMethod, AgentMethods, AgentNotifications } from './methods.ts';

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

/** Answers requests of the agent; throws `RpcError` for an exact code. */
export type ClientRequestHandler = (
  method: string,
  params: unknown,
  signal: AbortSignal,
) => Promise<unknown>;

/** Where the agent's calls go. Both are called in the order of arrival. */
export type ClientSide = {
  readonly onRequest: ClientRequestHandler;
  readonly onNotification: (method: string, params: unknown) => void;
  /** Lines that are no messages, answers that nobody waits for, and what failed. */
  readonly onProblem: (message: string) => void;
};

type OpenPeer = typeof import('./wire/bundle.ts').openPeer;

const DEFAULT_TIMEOUT_MS = 30_000;

/** One connection to a running agent-core. When it ends, everything still waiting rejects with `agent.gone`. */
export class AgentConnection implements Disposable {
  readonly pid: number;
  readonly #peer: RpcPeer;
  readonly #closed = new Deferred<void>();

  private constructor(process: AgentProcess, client: ClientSide, openPeer: OpenPeer) {
    this.pid = process.pid;
    this.#peer = openPeer(process, client, () => this.dispose());
    this.#peer.start();
  }

  /** Speaks with a process that has just been started; what it said before is not lost. */
  static async open(process: AgentProcess, client: ClientSide): Promise<AgentConnection> {
    const { openPeer } = await import('./wire/bundle.ts');
    return new AgentConnection(process, client, openPeer);
  }

  /** Resolves when the connection has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#closed.isSettled;
  }

  /** Calls a method of the agent. Rejects with `AgentRequestError` only. */
  async request<M extends AgentMethod>(
    method: M,
    params: AgentMethods[M][0],
    options: RequestOptions = {},
  ): Promise<AgentMethods[M][1]> {
    if (this.isClosed) throw gone();
    const limit = deadline(options);
    try {
      // The shapes are agent-core's own, from the same source; what is read of them is checked where it is used.
      return (await this.#peer.request(method, params, limit.signal)) as AgentMethods[M][1];
    } catch (error) {
      throw limit.signal.aborted ? limit.reason(method) : asRequestError(error);
    } finally {
      limit.clear();
    }
  }

  /** Sends a notification; resolves when it was written. Rejects with `agent.gone`. */
  async notify<N extends keyof AgentNotifications>(
    method: N,
    params: AgentNotifications[N],
  ): Promise<void> {
    if (this.isClosed) throw gone();
    this.#peer.notify(method, params);
  }

  dispose(): void {
    if (this.#closed.isSettled) return;
    this.#closed.resolve();
    this.#peer.close();
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
            `The session host did not answer ${method} in time. Restart it if this goes on.`,
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
    'The connection to the session host ended. Restart it and try again.',
    { cause },
  );
}

function asRequestError(error: unknown): AgentRequestError {
  if (isRefusal(error))
    return new AgentRequestError('agent.refused', error.message, {
      rpcCode: error.rpcCode,
      details: error.details,
      cause: error,
    });
  return gone(messageOf(error));
}

/** It was raised by the file that speaks JSON-RPC. */
function isRefusal(error: unknown): error is PeerRefused {
  return isCoded(error) && error.code === 'rpc.refused';
}

/** True for an `AgentRequestError`, also in a file of the product that did not raise it. */
export function isAgentRequestError(error: unknown): error is AgentRequestError {
  return isCoded(error) && error.code.startsWith('agent.') && 'rpcCode' in error;
}
