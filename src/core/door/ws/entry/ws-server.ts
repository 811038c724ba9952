import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { messageOf } from '../../../../base/errors.ts';
import type { Log } from '../../../session/ports.ts';
import { MAX_MESSAGE_BYTES } from '../socket-port.ts';
import {
  type Admission,
  type AdmissionRules,
  admit,
  refusalHeaders,
  refusalText,
} from './admission.ts';
import { type Bind, urlOf, WsBindError } from './bind.ts';

/** How long somebody may take to say what he wants, in milliseconds. */
const HEAD_MS = 10_000;
/** Connections that have not become a WebSocket, besides those that have. */
const MOST_STRANGERS = 64;

/** Certificate chain and key, PEM. */
export type TlsFiles = { readonly cert: string; readonly key: string };

/** Where is listened, and who is let in. */
export type WsServerOptions = {
  readonly bind: Bind;
  readonly tls: TlsFiles | null;
  readonly rules: AdmissionRules;
  readonly maxClients: number;
  readonly onClient: (socket: WebSocket, admission: Extract<Admission, { isIn: true }>) => void;
  readonly log: Log;
};

/** Listens, and makes WebSockets of those who may come in; everybody else gets an HTTP answer. */
export class WsServer {
  readonly #options: WsServerOptions;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  #clients = 0;

  /** Not listening yet. Throws `ws.bad_file` if the certificate or its key can't be used. */
  constructor(options: WsServerOptions) {
    this.#options = options;
    this.#server = serverOf(options.tls);
    this.#server.maxConnections = options.maxClients + MOST_STRANGERS;
    this.#server.on('request', (request, response) => this.#asked(request, response));
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server.on('clientError', (_error, socket) => refuse(socket, 400, 'This is no request.'));
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#sockets.on('wsClientError', (_error, socket) =>
      refuse(socket, 400, 'This is no WebSocket handshake.'),
    );
  }

  /** Resolves with the address that clients use. Throws `ws.listen_failed`. */
  async listen(): Promise<string> {
    const { address, port } = this.#options.bind;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(
          new WsBindError(
            'ws.listen_failed',
            `Nobody can listen on ${address}:${port}: ${messageOf(error)}.`,
          ),
        ),
      );
      this.#server.listen({ host: address, port }, resolve);
    });
    this.#server.on('error', (error) =>
      this.#options.log.warn('A client could not come in', { error: error.message }),
    );
    const { port: actual } = this.#server.address() as AddressInfo;
    return urlOf(address, actual, this.#options.tls !== null);
  }

  /** Takes nobody in any more. */
  close(): void {
    this.#server.close();
    this.#server.closeIdleConnections();
  }

  #asked(request: IncomingMessage, response: ServerResponse): void {
    const admission = admit(request, this.#options.rules);
    const { status, why } = admission.isIn
      ? { status: 400, why: 'This is no WebSocket handshake.' }
      : admission;
    response.writeHead(status, refusalHeaders(status)).end(`${why}\n`);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const admission = admit(request, this.#options.rules);
    if (!admission.isIn) {
      this.#options.log.info('Somebody was not let in', { status: admission.status });
      refuse(socket, admission.status, admission.why);
      return;
    }
    if (this.#clients >= this.#options.maxClients) {
      refuse(socket, 503, 'There are as many clients as this server takes.');
      return;
    }
    this.#clients += 1;
    socket.once('close', () => {
      this.#clients -= 1;
    });
    this.#sockets.handleUpgrade(request, socket, head, (opened) =>
      this.#options.onClient(opened, admission),
    );
  }
}

function serverOf(tls: TlsFiles | null): Server {
  const limits = { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS, keepAliveTimeout: 1 };
  if (tls === null) return createServer(limits);
  try {
    return createTlsServer({ ...limits, ...tls, handshakeTimeout: HEAD_MS, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new WsBindError(
      'ws.bad_file',
      `The certificate or its key can't be used: ${messageOf(error)}.`,
    );
  }
}

function refuse(socket: Duplex, status: number, why: string): void {
  if (socket.writable) socket.end(refusalText(status, why), () => socket.destroy());
  else socket.destroy();
}
