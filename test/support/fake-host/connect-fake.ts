import { PassThrough } from 'node:stream';
import { serveAcp } from '../../../src/core/acp/serve-acp.ts';
import type { AcpConnection, AcpServices, Extensions } from '../../../src/core/acp/types.ts';
import { openDoor } from '../../../src/core/door/relay.ts';
import type { Log } from '../../../src/core/session/ports.ts';
import { createFramePair } from '../../../src/protocol/transport/frame-port.ts';
import type { AcpTestClient } from '../acp-client/client.ts';
import { connectAcpClient } from '../acp-client/connect.ts';
import { FakeHost } from './fake-host.ts';

/** A client of an ACP server in this process, joined by real byte streams and the door. */
export type FakeConnection = {
  readonly client: AcpTestClient;
  readonly host: FakeHost;
  readonly server: AcpConnection;
  readonly doorClosed: Promise<void>;
  /** What was logged, newest last. */
  readonly logged: {
    readonly level: string;
    readonly message: string;
    readonly details?: object;
  }[];
  /** The agent's stdin and stdout. */
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
};

/** Connects a test client to the real ACP server over a fake host. */
export function connectFake(
  options: {
    host?: FakeHost;
    extensions?: Extensions;
    clock?: AcpServices['clock'];
    onDetach?: AcpServices['onDetach'];
    keys?: AcpServices['keys'];
    /** What the ids that it mints begin with; connections to one host have names of their own. */
    name?: string;
    /** Bytes that stdout holds before it reports that the client is behind. */
    highWaterMark?: number;
  } = {},
): FakeConnection {
  const host = options.host ?? new FakeHost();
  const logged: { level: string; message: string; details?: object }[] = [];
  const stdin = new PassThrough();
  const stdout = new PassThrough({ highWaterMark: options.highWaterMark ?? 1024 * 1024 });
  const log = noting(logged);
  const [doorSide, hostSide] = createFramePair();
  let minted = 0;
  const server = serveAcp({
    port: hostSide,
    host,
    extensions: options.extensions ?? { handlers: {} },
    log,
    clock: options.clock ?? REAL_CLOCK,
    ids: { unique: () => `${options.name ?? 'minted'}-${minted++}`, secret: () => 'secret' },
    agentVersion: '0.0.0',
    ...(options.onDetach === undefined ? {} : { onDetach: options.onDetach }),
    ...(options.keys === undefined ? {} : { keys: options.keys }),
  });
  const doorClosed = openDoor({ input: stdin, output: stdout, host: doorSide, log });
  const client = connectAcpClient({ streams: { input: stdin, output: stdout } });
  return { client, host, server, doorClosed, logged, stdin, stdout };
}

/** Time as it is. */
export const REAL_CLOCK: AcpServices['clock'] = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

function noting(logged: { level: string; message: string; details?: object }[]): Log {
  const at =
    (level: string) =>
    (message: string, details?: object): void => {
      logged.push({ level, message, ...(details ? { details } : {}) });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
