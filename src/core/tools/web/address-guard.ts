import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { CodedError } from '../../../base/errors.ts';

/** The address may not be fetched from. */
export class AddressRefused extends CodedError<'fetch.address_refused'> {
  constructor(host: string, address: string) {
    super(
      'fetch.address_refused',
      `${host} is at ${address}, which is not a public address. Addresses of this machine and of private networks are refused.`,
    );
  }
}

/** Resolves a host name to all its addresses. */
export type ResolveHost = (
  host: string,
  callback: (
    error: Error | null,
    addresses: readonly { address: string; family: number }[],
  ) => void,
) => void;

/** The resolver of the operating system. */
export const systemResolve: ResolveHost = (host, callback) => {
  systemLookup(host, { all: true }, callback);
};

/** True for an address on the public internet: not private, local, shared, multicast, reserved or a tunnel to one. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `process` turns an IPv4 address that is written as IPv6 into what it is.
  return ipaddr.process(address.replace(/%.*$/, '')).range() === 'unicast';
}

/** Throws `AddressRefused` for a URL that names an address which is not public. Names are checked by `guardedLookup`. */
export function checkLiteralHost(url: URL): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw new AddressRefused(host, host);
}

/**
 * A `lookup` for sockets that refuses a name as soon as one of its addresses is not public. The socket connects to the
 * very addresses that were checked, so a name that changes its mind in between gains nothing.
 */
export function guardedLookup(resolve: ResolveHost): LookupFunction {
  return (host, options, callback) => {
    resolve(host, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const refused = addresses.find(({ address }) => !isPublicAddress(address));
      if (refused !== undefined) return callback(new AddressRefused(host, refused.address), []);
      const [first] = addresses;
      if (options.all === true) return callback(null, [...addresses]);
      if (first === undefined) return callback(new Error(`${host} has no address`), []);
      return callback(null, first.address, first.family);
    });
  };
}
