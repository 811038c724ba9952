import { WebSocket } from 'ws';
import { CodedError } from '../../../base/errors.ts';
import { RELAY_HEADER } from '../ws/entry/admission.ts';
import { MAX_MESSAGE_BYTES } from '../ws/socket-port.ts';

/** How long an agent-core may take to let a client in, in milliseconds. */
const OPEN_MS = 15_000;

/**
 * Nobody was let in. `unauthorized`: the token is refused. `refused`: something else is; `data.status` is the HTTP
 * status. `unreachable`: nobody answers there. `tls`: the other side can't prove who it is, or speaks no TLS.
 */
export class ConnectError extends CodedError<
  'connect.unauthorized' | 'connect.refused' | 'connect.unreachable' | 'connect.tls'
> {}

/** Where to, and what is shown there. */
export type OpenSocketOptions = {
  readonly url: URL;
  readonly token: string | null;
  /** Certificates to trust besides the usual ones, PEM. */
  readonly ca: string | null;
  readonly signal: AbortSignal;
};

/** Connects; the socket is open, and what it brings waits until it is resumed. Throws `ConnectError`, or the signal's reason. */
export function openSocket({ url, token, ca, signal }: OpenSocketOptions): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      headers: {
        [RELAY_HEADER]: '1',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(ca === null ? {} : { ca }),
      handshakeTimeout: OPEN_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const abort = (): void => {
      socket.terminate();
      reject(signal.reason);
    };
    const finish = (outcome: () => void): void => {
      signal.removeEventListener('abort', abort);
      outcome();
    };
    signal.addEventListener('abort', abort, { once: true });
    // Later ones are told by the close that follows them.
    socket.on('error', (error) => finish(() => reject(notOpened(error, url))));
    socket.on('unexpected-response', (_request, response) => {
      finish(() => reject(refused(response.statusCode ?? 0, url)));
      response.destroy();
      socket.terminate();
    });
    socket.once('open', () => {
      socket.pause();
      finish(() => resolve(socket));
    });
  });
}

function refused(status: number, { host }: URL): ConnectError {
  if (status === 401)
    return new ConnectError(
      'connect.unauthorized',
      `Token refused by ${host}. Set PILOTHOUSE_CONNECT_TOKEN to the token of that agent-core.`,
      { data: { status } },
    );
  return new ConnectError(
    'connect.refused',
    `${host} let nobody in (HTTP status ${status}). ${HINTS[status] ?? 'Check the address.'}`,
    { data: { status }, retryable: status >= 500 },
  );
}

const HINTS: { readonly [status: number]: string } = {
  403: 'The address is not one that it may be called by.',
  404: 'The path is usually /acp.',
  503: 'It has as many clients as it takes. Try again later.',
};

function notOpened(error: Error, { host, protocol }: URL): ConnectError {
  const { code } = error as NodeJS.ErrnoException;
  // What OpenSSL and Node name their faults by. Source: Node.js documentation, X509 certificate error codes.
  const isTls =
    protocol === 'wss:' && code !== undefined && /CERT|SSL|TLS|SIGNED|ISSUER|EPROTO/u.test(code);
  if (isTls)
    return new ConnectError(
      'connect.tls',
      `No safe connection to ${host} (${code}): ${error.message}. If its certificate is your own, name it with --ca.`,
    );
  return new ConnectError(
    'connect.unreachable',
    `${host} can't be reached${code === undefined ? '' : ` (${code})`}: ${error.message || 'no answer'}. Check that agent-core serves there.`,
    { retryable: true },
  );
}
