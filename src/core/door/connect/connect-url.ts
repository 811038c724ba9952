import { CodedError } from '../../../base/errors.ts';

/** What was asked for can't be connected to; the message is for the person who typed it. */
export class ConnectUrlError extends CodedError<'connect.bad_url'> {}

/** The path of the WebSocket door, taken where an address has none. */
const PATH = '/acp';

/** Reads a ws:// or wss:// address. Throws `ConnectUrlError`. */
export function connectUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'ws:' && url.protocol !== 'wss:') || url.hash !== '')
    throw new ConnectUrlError(
      'connect.bad_url',
      `"${text}" is no WebSocket address. Use one like ws://127.0.0.1:8765/acp or wss://host.example/acp.`,
    );
  if (url.pathname === '/') url.pathname = PATH;
  return url;
}
