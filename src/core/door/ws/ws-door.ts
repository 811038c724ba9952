import { codeOf, messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import { RPC_CODES } from '../../../protocol/errors.ts';
import type { Log } from '../../session/ports.ts';
import type { Admission } from './entry/admission.ts';
import type { Bind } from './entry/bind.ts';
import type { Bearers } from './entry/tokens.ts';
import { type TlsFiles, WsServer } from './entry/ws-server.ts';
import { BUFFER_LIMITS, type BufferLimits } from './frame-buffer.ts';
import { BEAT_TIMES, type BeatTimes } from './heartbeat.ts';
import { Reattach } from './reattach.ts';
import { type HostConnection, type HostConnectionFor, Worker } from './worker.ts';
import { RETENTION, type Retention, Workers } from './workers.ts';
import { CLOSE, WsClient, type WsClientOptions } from './ws-client.ts';

/** What a door is bounded by. */
export type WsLimits = {
  readonly maxClients: number;
  readonly buffer: BufferLimits;
  readonly retention: Retention;
  readonly beat: BeatTimes;
};

export const WS_LIMITS: WsLimits = {
  maxClients: 256,
  buffer: BUFFER_LIMITS,
  retention: RETENTION,
  beat: BEAT_TIMES,
};

/** What a door is opened with. */
export type WsDoorOptions = {
  readonly bind: Bind;
  readonly tls: TlsFiles | null;
  readonly bearers: Bearers;
  readonly origins: ReadonlySet<string>;
  readonly limits: WsLimits;
  /** A new connection to the host. Rejects with why there is none. */
  readonly connectHost: (use: HostConnectionFor, signal: AbortSignal) => Promise<HostConnection>;
  readonly ids: Ids;
  readonly log: Log;
};

/** How long a client that there is no host for may take to ask something, in milliseconds. */
const FIRST_REQUEST_MS = 5_000;
/** How long clients may take to let go when the door closes, in milliseconds. */
const CLOSE_MS = 1_000;

/** Brings clients that come by WebSocket to the host, each by a connection of its own (design §1). */
export class WsDoor {
  readonly #options: WsDoorOptions;
  readonly #server: WsServer;
  readonly #workers: Workers;
  readonly #reattach: Reattach;
  readonly #clients = new Set<WsClient>();
  readonly #closing = new AbortController();

  /** Throws `ws.bad_file`. */
  constructor(options: WsDoorOptions) {
    const { bind, bearers, origins, limits, log } = options;
    this.#options = options;
    this.#workers = new Workers(limits.retention);
    this.#reattach = new Reattach({
      workers: this.#workers,
      look: () => this.#newWorker({ role: 'observer', isRelay: true }, true),
      log,
    });
    this.#server = new WsServer({
      ...options,
      rules: { bearers, origins, isLoopback: bind.isLoopback },
      maxClients: limits.maxClients,
      onClient: (socket, admission) => this.#came(socket, admission),
    });
  }

  /** Resolves with the address that clients use. Throws `ws.listen_failed`. */
  async open(): Promise<string> {
    return await this.#server.listen();
  }

  /** Ends every connection; what runs for the clients goes on as they asked for. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#server.close();
    for (const client of this.#clients) client.close(CLOSE.goingAway, 'The server ends.');
    this.#workers.close();
    const left = [...this.#clients].map((client) => client.closed);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([Promise.all(left), limit]);
    clearTimeout(timer);
    for (const client of this.#clients) client.terminate();
  }

  #came(
    socket: WsClientOptions['socket'],
    { role, isRelay }: Extract<Admission, { isIn: true }>,
  ): void {
    const { limits, log } = this.#options;
    const client = new WsClient({
      socket,
      role,
      isRelay,
      times: limits.beat,
      look: (message, from) => this.#reattach.look(message, from),
      onClosed: (closed) => this.#left(closed),
      log,
    });
    this.#clients.add(client);
    log.info('A WebSocket client came', { role, clients: this.#clients.size });
    void this.#bring(client);
  }

  async #bring(client: WsClient): Promise<void> {
    try {
      const worker = await this.#newWorker(client);
      if (!client.isOpen) return worker.close();
      worker.attach(client);
      client.speakTo(worker);
    } catch (failure) {
      if (this.#closing.signal.aborted) return;
      const code = codeOf(failure) ?? 'host.failed';
      const message = messageOf(failure);
      this.#options.log.error('No session host can be had', { code, error: message });
      const request = await client.firstRequest(FIRST_REQUEST_MS);
      const error = { code: RPC_CODES.internalError, message, data: { code } };
      if (request !== null) client.send(JSON.stringify({ jsonrpc: '2.0', id: request.id, error }));
      client.close(CLOSE.tryLater, 'There is no session host.');
    }
  }

  async #newWorker(
    { role, isRelay }: Pick<WsClient, 'role' | 'isRelay'>,
    isOwn = false,
  ): Promise<Worker> {
    const { connectHost, ids, limits } = this.#options;
    const connection = await connectHost({ ceiling: role, isOwn }, this.#closing.signal);
    const worker: Worker = new Worker(connection, {
      id: ids.unique(),
      role,
      isRelay,
      secret: () => ids.secret(),
      limits: limits.buffer,
      onEnd: () => this.#workers.remove(worker),
    });
    this.#workers.add(worker);
    return worker;
  }

  #left(client: WsClient): void {
    this.#clients.delete(client);
    this.#options.log.info('A WebSocket client went', { clients: this.#clients.size });
    const { worker } = client;
    if (worker === null) return;
    worker.detach(client);
    if (client.isRelay && !worker.isConnected) worker.close();
    else this.#workers.retain(worker);
  }
}
