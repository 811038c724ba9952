import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { CodedError, codeOf, messageOf } from '../base/errors.ts';
import { createFramePair, type FramePort } from '../protocol/transport/frame-port.ts';
import { createStreamPort } from '../protocol/transport/stream-port.ts';
import { connectUrl } from './door/connect/connect-url.ts';
import { openSocket } from './door/connect/open-socket.ts';
import { type RelayEnd, relaySocket } from './door/connect/relay-socket.ts';
import type { BeatTimes } from './door/ws/heartbeat.ts';
import type { ConnectOptions } from './host/compose/command-line.ts';
import { exitWhenParentGone, onTermination } from './host/compose/lifetime.ts';
import { refuse } from './host/compose/refuse.ts';
import type { Log } from './session/ports.ts';

/** A connection that is half open ends within this and a little, so that the client can come again. */
const TIMES: BeatTimes = { pingMs: 15_000, pongMs: 10_000 };
/** How long the other side may take to let go, in milliseconds. */
const LET_GO_MS = 4_000;
/** How a shell and the editor tell a refused token from everything else. */
const EXIT_UNAUTHORIZED = 3;

const TOKEN = 'PILOTHOUSE_CONNECT_TOKEN';

/** The other side closed the connection, or is silent. */
class ConnectionLost extends CodedError<'connect.closed'> {}

/**
 * Brings the client on standard input and output to an agent-core that is reached by WebSocket, until one of them
 * goes. Resolves with the exit code: 0 if the client went, 3 if the token is refused, else 1. What keeps it from
 * coming there is told to the client as the answer to what it asks first.
 */
export async function runConnect(options: ConnectOptions & { readonly log: Log }): Promise<number> {
  const { log } = options;
  const token = takeToken(process.env);
  const gone = new AbortController();
  let close = (): void => gone.abort();
  onTermination(() => close());
  exitWhenParentGone(() => close());
  const client = createStreamPort(process.stdin, process.stdout, {
    soon: (work) => process.nextTick(work),
  });
  let asked: FramePort | null = client;
  try {
    const url = connectUrl(options.url);
    const ca = options.caFile === null ? null : trusted(options.caFile);
    if (url.protocol === 'ws:' && token !== null && !isThisMachine(url))
      log.warn('The token goes over the network in the clear. Use a wss:// address');
    const socket = await openSocket({ url, token, ca, signal: gone.signal });
    const relay = relaySocket({ client, socket, times: TIMES, letGoMs: LET_GO_MS });
    close = relay.close;
    const end = await relay.done;
    if (end.who === 'client') return 0;
    asked = end.unheard === null ? null : repeated(end.unheard, client);
    throw lost(end, url);
  } catch (failure) {
    if (gone.signal.aborted) return 0;
    const code = codeOf(failure) ?? 'connect.failed';
    log.error(messageOf(failure), { code });
    if (asked !== null) await refuse(asked, messageOf(failure), code);
    return code === 'connect.unauthorized' ? EXIT_UNAUTHORIZED : 1;
  }
}

/** Out of the environment at once, so that no child and no log ever sees it. */
function takeToken(environment: NodeJS.ProcessEnv): string | null {
  const token = environment[TOKEN]?.trim() ?? '';
  delete environment[TOKEN];
  return token === '' ? null : token;
}

function trusted(caFile: string): string {
  try {
    return [...rootCertificates, readFileSync(caFile, 'utf8')].join('\n');
  } catch (error) {
    throw new CodedError(
      'connect.ca_file',
      `The certificates in ${caFile} can't be read: ${messageOf(error)}`,
    );
  }
}

function isThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(hostname);
}

/** A port on which what the client asked comes once more. */
function repeated(frame: string, client: FramePort): FramePort {
  const [asked, ours] = createFramePair();
  ours.start({
    frame: (answer) => client.send(answer),
    drained: () => undefined,
    ended: () => client.end(),
  });
  ours.send(frame);
  return asked;
}

function lost(end: Exclude<RelayEnd, { who: 'client' }>, { host }: URL): ConnectionLost {
  const what =
    end.who === 'nobody'
      ? `${host} gives no sign of life any more`
      : `${host} closed the connection (${end.code}${end.reason === '' ? '' : `: ${end.reason}`})`;
  return new ConnectionLost(
    'connect.closed',
    `${what}. Sessions go on there; connect again to see them.`,
    { retryable: true },
  );
}
