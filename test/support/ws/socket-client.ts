import { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { Deferred } from '../../../src/base/deferred.ts';
import { textOf } from '../../../src/core/door/ws/socket-port.ts';
import type { AcpTestClient } from '../acp-client/client.ts';
import { connectAcpClient } from '../acp-client/connect.ts';

/** A test client on a WebSocket. */
export type SocketClient = {
  readonly acp: AcpTestClient;
  readonly socket: WebSocket;
  /** Resolves with the code and the reason of the close. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Breaks the connection without a goodbye. */
  drop(): Promise<void>;
};

/** Opens a socket; rejects with the HTTP status where it is not let in. */
export async function openSocket(
  url: string,
  token: string | null,
  options: ClientOptions = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url, {
    ...options,
    headers: {
      ...options.headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  const opened = new Deferred<void>();
  socket.once('open', () => opened.resolve());
  socket.on('error', (error) => opened.reject(error));
  socket.once('unexpected-response', (_request, response) => {
    opened.reject(new Error(`HTTP ${response.statusCode}`));
    socket.terminate();
  });
  onTestFinished(() => socket.terminate());
  await opened.promise;
  return socket;
}

/** Connects a test client: one message a frame. */
export async function connectSocket(
  url: string,
  token: string,
  options: ClientOptions = {},
): Promise<SocketClient> {
  const socket = await openSocket(url, token, options);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const output = new PassThrough();
  socket.on('message', (data) => output.write(`${textOf(data)}\n`));
  socket.once('close', () => output.end());
  const input = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString('utf8').split('\n'))
        if (line !== '' && socket.readyState === socket.OPEN) socket.send(line);
      done();
    },
  });
  const acp = connectAcpClient({ streams: { input, output } });
  return {
    acp,
    socket,
    closed,
    drop: async () => {
      socket.terminate();
      await closed;
    },
  };
}

/** The mark that a frame carries on top. */
export function markOf(message: Readonly<Record<string, unknown>> | null): {
  readonly eventId: number;
  readonly sessionId?: string;
  readonly replayed: boolean;
  readonly worker?: string;
} {
  const mark = message?.['_harn'];
  if (typeof mark !== 'object' || mark === null) throw new TypeError('A frame without a mark');
  return mark as ReturnType<typeof markOf>;
}

/** The highest event id that a client has. */
export function cursorOf(client: AcpTestClient): number {
  return Math.max(0, ...client.frames.map(({ message }) => markOf(message).eventId));
}
