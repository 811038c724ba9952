import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  JSONRPC_VERSION,
  type JSONRPCMessage,
  type McpServer,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createToolbox } from './toolbox.ts';
import type { WebHandler } from './web-server.ts';

/** A streamable HTTP endpoint at `/mcp`: one toolbox for each MCP session. */
export function streamableHttp(create: () => McpServer = createToolbox): WebHandler {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    if (new URL(request.url).pathname !== '/mcp') return null;
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return await known.handleRequest(request);
    if (id !== null) return new Response('No such session', { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport);
      },
    });
    await create().connect(transport);
    return await transport.handleRequest(request);
  };
}

/** An endpoint at `/mcp` that takes nothing older than revision 2026-07-28. */
export function modernHttp(): WebHandler {
  const { fetch } = createMcpHandler(() => createToolbox(), { legacy: 'reject' });
  return async (request) =>
    new URL(request.url).pathname === '/mcp' ? await fetch(request) : null;
}

/** The transport of 2024: a stream of events, and a POST for each message. Servers of it are still about. */
class LegacySse implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly sessionId = randomUUID();
  readonly #encoder = new TextEncoder();
  #stream: ReadableStreamDefaultController<Uint8Array> | null = null;

  async start(): Promise<void> {
    await Promise.resolve();
  }

  open(): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        this.#stream = stream;
        this.#event('endpoint', `/messages?id=${this.sessionId}`);
      },
      cancel: () => this.onclose?.(),
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  receive(message: JSONRPCMessage): void {
    this.onmessage?.(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#event('message', JSON.stringify({ ...message, jsonrpc: JSONRPC_VERSION }));
  }

  async close(): Promise<void> {
    this.#stream?.close();
    this.onclose?.();
  }

  #event(name: string, data: string): void {
    this.#stream?.enqueue(this.#encoder.encode(`event: ${name}\ndata: ${data}\n\n`));
  }
}

/** A legacy endpoint at `/sse`. */
export function legacySse(): WebHandler {
  const sessions = new Map<string, LegacySse>();
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/sse' && request.method === 'GET') {
      const transport = new LegacySse();
      sessions.set(transport.sessionId, transport);
      await createToolbox().connect(transport);
      return transport.open();
    }
    const transport = sessions.get(searchParams.get('id') ?? '');
    if (pathname !== '/messages' || transport === undefined) return null;
    transport.receive((await request.json()) as JSONRPCMessage);
    return new Response(null, { status: 202 });
  };
}
