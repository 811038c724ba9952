import type { IncomingHttpHeaders } from 'node:http';
import type { Role } from '../../../acp/access/credential.ts';
import type { Bearers } from './tokens.ts';

/** The one path of this door. */
const PATH = '/acp';

/** How `agent-core connect` says that it only relays a client which comes by other means. */
export const RELAY_HEADER = 'x-pilothouse-relay';

/** What is asked before anybody gets in. */
export type AdmissionRules = {
  readonly bearers: Bearers;
  /** True while only this machine can come: then only its own names are answered. */
  readonly isLoopback: boolean;
  /** Origins of pages that may come. */
  readonly origins: ReadonlySet<string>;
};

/** Who gets in, or the HTTP answer of who does not. */
export type Admission =
  | { readonly isIn: true; readonly role: Role; readonly isRelay: boolean }
  | { readonly isIn: false; readonly status: number; readonly why: string };

/** The head of a request. */
export type Asked = { readonly url?: string | undefined; readonly headers: IncomingHttpHeaders };

/**
 * Decides by the head of a request alone. A page of a stranger's origin is kept out before its token is looked at, and
 * so is a name that was made to point here (DNS rebinding).
 */
export function admit({ url, headers }: Asked, rules: AdmissionRules): Admission {
  if (rules.isLoopback && !isOwnName(headers.host))
    return out(403, 'This name is not one of this machine.');
  const { origin } = headers;
  if (origin !== undefined && !rules.origins.has(origin.toLowerCase()))
    return out(403, 'This origin is not allowed. Start the server with --origin to allow it.');
  if (pathOf(url) !== PATH) return out(404, `There is nothing here. The path is ${PATH}.`);
  const role = rules.bearers.roleOf(headers.authorization);
  if (role === null) return out(401, 'Send Authorization: Bearer with the token of this server.');
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    return out(426, 'This path speaks WebSocket only.');
  return { isIn: true, role, isRelay: headers[RELAY_HEADER] !== undefined };
}

function out(status: number, why: string): Admission {
  return { isIn: false, status, why };
}

function pathOf(url: string | undefined): string {
  return (url ?? '').split('?', 1)[0] ?? '';
}

/** The port is not looked at: a tunnel has another one. */
function isOwnName(host: string | undefined): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/iu.test(host ?? '');
}

const NAMES: { readonly [status: number]: string } = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  426: 'Upgrade Required',
  503: 'Service Unavailable',
};

/** The headers of an answer to who does not get in. */
export function refusalHeaders(status: number): { readonly [name: string]: string } {
  return {
    connection: 'close',
    'content-type': 'text/plain; charset=utf-8',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 426 ? { upgrade: 'websocket' } : {}),
  };
}

/** The whole answer as bytes on a socket that asked for an upgrade. */
export function refusalText(status: number, why: string): string {
  const body = `${why}\n`;
  const headers = { ...refusalHeaders(status), 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${NAMES[status] ?? 'Refused'}\r\n${lines.join('')}\r\n${body}`;
}
