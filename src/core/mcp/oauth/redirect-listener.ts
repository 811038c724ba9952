import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Deferred } from '../../../base/deferred.ts';
import { McpError } from '../errors.ts';

const PATH = '/callback';

/** Waits on the loopback interface for the browser to come back from a login page (RFC 8252, section 7.3). */
export class RedirectListener {
  readonly #server: Server;
  readonly #state: string;
  readonly #arrived = new Deferred<URLSearchParams>();

  private constructor(server: Server, state: string) {
    this.#server = server;
    this.#state = state;
    this.#arrived.promise.catch(() => undefined);
    server.on('request', (request, response) => this.#answer(request, response));
  }

  /** Listens on `port`, or on any other where that one is taken or null. */
  static async open(state: string, port: number | null): Promise<RedirectListener> {
    // Loaded here, since few sessions ever need a login.
    const { createServer } = await import('node:http');
    const server = createServer();
    if (port === null || !(await listens(server, port))) await listens(server, 0);
    return new RedirectListener(server, state);
  }

  /** Where the login page has to send the browser. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new McpError('mcp.login_failed', 'No port is free to wait for the login page.');
    return `http://127.0.0.1:${address.port}${PATH}`;
  }

  /** Resolves with what the login page said; rejects with `mcp.login_failed`. Never settles after `close`. */
  get arrived(): Promise<URLSearchParams> {
    return this.#arrived.promise;
  }

  close(): void {
    this.#server.close();
    this.#server.closeIdleConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    if (request.method !== 'GET' || url?.pathname !== PATH) {
      say(response, 404, 'There is nothing here.');
      return;
    }
    const { searchParams } = url;
    if (searchParams.get('state') !== this.#state) {
      // Another page than ours sent the browser here; the login goes on waiting for the right one.
      say(response, 400, 'This is not the login that was begun. Go back and begin again.');
      return;
    }
    const error = searchParams.get('error');
    if (error !== null || searchParams.get('code') === null) {
      say(response, 400, 'You were not signed in. You can close this page.');
      const why = error === null ? 'it sent no code' : error.slice(0, 100);
      this.#arrived.reject(
        new McpError('mcp.login_failed', `The login page did not sign you in (${why}).`),
      );
      return;
    }
    say(response, 200, 'You are signed in. You can close this page and go back to your session.');
    this.#arrived.resolve(searchParams);
  }
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const fail = (): void => resolve(false);
    server.once('error', fail);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', fail);
      resolve(true);
    });
  });
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><title>Pilothouse</title><p>${text}</p>`);
}
