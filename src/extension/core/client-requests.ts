import { type Disposable, toDisposable } from '../../base/disposables.ts';
import { RpcError } from '../../protocol/errors.ts';
import { type HostId, OWN_HOST } from '../hosts/host.ts';

/** Answers one method of the agent's. `signal` aborts when the agent takes the request back. */
export type RequestHandler = (
  params: unknown,
  signal: AbortSignal,
  host: HostId,
) => Promise<unknown>;

/** Takes one notification of the agent's; must not throw. `host` is the one it comes from. */
export type NotificationHandler = (params: unknown, host: HostId) => void;

/** The agent's calls by method. Rooms register what they serve before the agent is started. */
export class ClientCalls {
  readonly #requests = new Map<string, RequestHandler>();
  readonly #notifications = new Map<string, NotificationHandler[]>();

  /** One handler a method; a second registration replaces the first. */
  onRequest(method: string, handler: RequestHandler): Disposable {
    this.#requests.set(method, handler);
    return toDisposable(() => {
      if (this.#requests.get(method) === handler) this.#requests.delete(method);
    });
  }

  onNotification(method: string, handler: NotificationHandler): Disposable {
    const handlers = this.#notifications.get(method) ?? [];
    this.#notifications.set(method, [...handlers, handler]);
    return toDisposable(() => {
      const left = (this.#notifications.get(method) ?? []).filter((other) => other !== handler);
      this.#notifications.set(method, left);
    });
  }

  async request(
    method: string,
    params: unknown,
    signal: AbortSignal,
    host: HostId = OWN_HOST,
  ): Promise<unknown> {
    const handler = this.#requests.get(method);
    if (!handler) throw new RpcError('methodNotFound', `Method not found: ${method}`);
    return handler(params, signal, host);
  }

  /** False if nobody takes it. */
  notify(method: string, params: unknown, host: HostId = OWN_HOST): boolean {
    const handlers = this.#notifications.get(method) ?? [];
    for (const handler of handlers) handler(params, host);
    return handlers.length > 0;
  }
}

/** The error for params that do not fit their schema. */
export function badParams(method: string, problem: string): RpcError {
  return new RpcError('invalidParams', `Invalid params of ${method}: ${problem}`);
}
