import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { CodedError, messageOf } from '../../../../base/errors.ts';

/**
 * The door can't be opened as it was asked for; the message is for the person who did. `ws.public_bind`: it would be
 * open to others without what keeps strangers out.
 */
export class WsBindError extends CodedError<
  'ws.bad_listen' | 'ws.public_bind' | 'ws.bad_file' | 'ws.bad_setting' | 'ws.listen_failed'
> {}

/** Where a door listens. */
export type Bind = {
  readonly address: string;
  /** 0 is any free one. */
  readonly port: number;
  /** Only programs of this machine can come. */
  readonly isLoopback: boolean;
};

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Reads HOST:PORT; a name is looked up. Throws `ws.bad_listen`. */
export async function bindOf(listen: string): Promise<Bind> {
  const parts = /^(?:\[(?<six>[^\]]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/u.exec(listen)?.groups;
  const host = parts?.['six'] ?? parts?.['host'];
  const port = Number(parts?.['port']);
  if (host === undefined || port > 65_535)
    throw new WsBindError(
      'ws.bad_listen',
      `"${listen}" is no HOST:PORT. Use one like 127.0.0.1:8765 or [::1]:8765.`,
    );
  try {
    const { address, family } = await lookup(host);
    return { address, port, isLoopback: LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4') };
  } catch (error) {
    throw new WsBindError('ws.bad_listen', `${host} is no address here: ${messageOf(error)}`);
  }
}

/** What a public door needs. Throws `ws.public_bind` with what is missing. */
export function requireSafe(
  { address, isLoopback }: Bind,
  has: { readonly tls: boolean; readonly token: boolean },
): void {
  if (isLoopback || (has.tls && has.token)) return;
  const missing = [
    ...(has.tls ? [] : ['TLS (--tls-cert and --tls-key)']),
    ...(has.token ? [] : ['a token (PILOTHOUSE_WS_TOKEN or --token-file)']),
  ];
  throw new WsBindError(
    'ws.public_bind',
    `${address} can be reached by other machines, so it needs ${missing.join(' and ')}. Or listen on 127.0.0.1.`,
  );
}

/** The address that clients use. */
export function urlOf(address: string, port: number, isSecure: boolean): string {
  const host = isIPv6(address) ? `[${address}]` : address;
  return `${isSecure ? 'wss' : 'ws'}://${host}:${port}/acp`;
}
