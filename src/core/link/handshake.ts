import type { Socket } from 'node:net';
import { CodedError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import {
  HOST_LINK_VERSION,
  type HostClientSide,
  type HostHello,
  type HostWelcome,
} from '../../protocol/host-link.ts';

/** The longest first line, in bytes: an environment fits, and a stranger fills no memory. */
export const LONGEST_LINE = 4 * 1024 * 1024;

/** The other side ended, was silent for too long, or said something else than a handshake. */
export class HandshakeError extends CodedError<
  'link.closed' | 'link.silent' | 'link.not_a_handshake'
> {}

/**
 * Reads the first line of a socket and leaves what follows in it, paused, for whoever reads on. Throws
 * `HandshakeError`.
 */
export function readFirstLine(socket: Socket, deadlineMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0);
    const finish = (outcome: () => void): void => {
      clearTimeout(timer);
      socket.pause();
      socket.off('data', take).off('end', closed).off('error', closed).off('close', closed);
      outcome();
    };
    const fail = (code: HandshakeError['code'], message: string): void =>
      finish(() => reject(new HandshakeError(code, message)));
    const take = (chunk: Buffer): void => {
      const at = chunk.indexOf(0x0a);
      if (held.length + chunk.length > LONGEST_LINE && at < 0) {
        fail('link.not_a_handshake', 'The other side sent no handshake.');
        return;
      }
      const earlier = held;
      held = Buffer.concat([earlier, chunk]);
      if (at < 0) return;
      const end = earlier.length + at;
      finish(() => {
        const rest = held.subarray(end + 1);
        if (rest.length > 0) socket.unshift(rest);
        resolve(held.toString('utf8', 0, end));
      });
    };
    const closed = (): void => fail('link.closed', 'The other side closed the connection.');
    const timer = setTimeout(
      () => fail('link.silent', `The other side said nothing for ${deadlineMs / 1000} seconds.`),
      deadlineMs,
    );
    socket.on('data', take).on('end', closed).on('error', closed).on('close', closed);
    socket.resume();
  });
}

/** A door's line. Throws `link.not_a_handshake`. */
export function parseHello(line: string): HostHello {
  const value = parsed(line);
  const { link, token, asks, version, client } = value;
  const isKnown =
    asks === 'connect' || asks === 'status' || asks === 'stop' || asks === 'step_down';
  if (
    link !== HOST_LINK_VERSION ||
    typeof token !== 'string' ||
    !isKnown ||
    typeof version !== 'string'
  )
    throw notOne();
  const hello = { link, token, asks, version } as const;
  return asks === 'connect' ? { ...hello, client: clientSideOf(client) } : hello;
}

/** A host's line. Throws `link.not_a_handshake`. */
export function parseWelcome(line: string): HostWelcome {
  const { ok, link, pid, version, startedAt, sessions, clients, code, message } = parsed(line);
  if (ok === false && typeof code === 'string' && typeof message === 'string')
    return { ok, code, message };
  if (
    ok === true &&
    link === HOST_LINK_VERSION &&
    typeof pid === 'number' &&
    typeof version === 'string' &&
    typeof startedAt === 'number' &&
    typeof sessions === 'number' &&
    typeof clients === 'number'
  )
    return { ok, link, pid, version, startedAt, sessions, clients };
  throw notOne();
}

function clientSideOf(value: unknown): HostClientSide {
  if (!isObject(value)) throw notOne();
  const { model, keys, environment, remote, ceiling } = value;
  const { owner, observer } = isObject(keys) ? keys : {};
  if (!isObject(environment)) throw notOne();
  return {
    model: typeof model === 'string' ? model : null,
    keys: {
      owner: typeof owner === 'string' ? owner : null,
      observer: typeof observer === 'string' ? observer : null,
    },
    environment: Object.fromEntries(
      Object.entries(environment).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
    ...(remote === true ? { remote } : {}),
    ...(ceiling === 'observer' ? { ceiling } : {}),
  };
}

function parsed(line: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // Said below: it is no handshake.
  }
  throw notOne();
}

function notOne(): HandshakeError {
  return new HandshakeError('link.not_a_handshake', 'The other side sent no handshake.');
}
