import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import { CodedError, messageOf } from '../../../base/errors.ts';
import {
  checkLiteralHost,
  guardedLookup,
  type ResolveHost,
  systemResolve,
} from './address-guard.ts';

/** Why nothing was fetched. */
export class FetchError extends CodedError<
  'fetch.bad_url' | 'fetch.unreachable' | 'fetch.timeout' | 'fetch.redirects'
> {}

/** How to fetch. */
export type FetchOptions = {
  /** Allows hosts on this machine and in private networks. False unless given. */
  readonly allowPrivate?: boolean;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  readonly resolve?: ResolveHost;
};

/** An answer; `body` is unpacked and holds at most `maxBytes`. */
export type HttpAnswer = {
  readonly url: URL;
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly truncated: boolean;
  /** Set if it redirects to another site, which was not followed. */
  readonly elsewhere: URL | null;
};

const MAX_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;

/**
 * Gets a URL. Redirects are followed within the same host only, each checked as the first; the permission that was given
 * for one site does not extend to another. Throws `FetchError` or `AddressRefused`.
 */
export async function httpGet(
  start: URL,
  options: FetchOptions,
  stop: AbortSignal,
): Promise<HttpAnswer> {
  const limit = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const signal = AbortSignal.any([stop, limit]);
  let url = start;
  for (let followed = 0; followed <= MAX_REDIRECTS; followed += 1) {
    try {
      const answer = await getOnce(url, options, signal);
      const next = answer.next;
      if (next === null) return { ...answer, url, elsewhere: null };
      if (next.hostname !== url.hostname || !isSafeStep(url, next))
        return { ...answer, url, elsewhere: next };
      url = next;
    } catch (error) {
      stop.throwIfAborted();
      if (limit.aborted)
        throw new FetchError('fetch.timeout', `${url.href} did not answer in time.`, {
          cause: error,
        });
      if (error instanceof CodedError) throw error;
      throw new FetchError(
        'fetch.unreachable',
        `${url.href} could not be fetched: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
  }
  throw new FetchError(
    'fetch.redirects',
    `${start.href} redirects more than ${MAX_REDIRECTS} times.`,
  );
}

/** Reads a written URL; only http and https without credentials. Throws `FetchError`. */
export function parseHttpUrl(written: string): URL {
  const url = URL.parse(written);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new FetchError('fetch.bad_url', `${written} is not an http or https URL.`);
  if (url.username !== '' || url.password !== '')
    throw new FetchError('fetch.bad_url', 'A URL with a user name or password is not fetched.');
  url.hash = '';
  return url;
}

function isSafeStep(from: URL, to: URL): boolean {
  return (from.protocol === to.protocol && from.port === to.port) || to.protocol === 'https:';
}

type OneAnswer = Omit<HttpAnswer, 'url' | 'elsewhere'> & { readonly next: URL | null };

async function getOnce(url: URL, options: FetchOptions, signal: AbortSignal): Promise<OneAnswer> {
  const guarded = options.allowPrivate !== true;
  if (guarded) checkLiteralHost(url);
  const response = await request(url, guarded, options.resolve ?? systemResolve, signal);
  const status = response.statusCode ?? 0;
  const location = response.headers.location;
  const contentType = response.headers['content-type'] ?? '';
  if (status >= 300 && status < 400 && location !== undefined) {
    response.destroy();
    const next = parseHttpUrl(URL.parse(location, url.href)?.href ?? location);
    return { status, contentType, body: Buffer.alloc(0), truncated: false, next };
  }
  const { body, truncated } = await readBody(response, options.maxBytes ?? MAX_BYTES, signal);
  return { status, contentType, body, truncated, next: null };
}

async function request(
  url: URL,
  guarded: boolean,
  resolveHost: ResolveHost,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // Node's HTTP client is large, and a session that fetches nothing should not pay for it.
  const client = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return await new Promise((resolve, reject) => {
    const call = client.request(
      url,
      {
        signal,
        // A connection of its own: a kept one would skip the check of the address.
        agent: false,
        ...(guarded ? { lookup: guardedLookup(resolveHost) } : {}),
        headers: {
          accept: 'text/html, text/plain, application/json, */*;q=0.5',
          'accept-encoding': 'gzip, deflate, br',
          'user-agent': 'Pilothouse',
        },
      },
      resolve,
    );
    call.once('error', reject);
    call.end();
  });
}

async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let truncated = false;
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      truncated = size > maxBytes;
      if (truncated) break;
    }
  };
  const unpack = unpacker(response.headers['content-encoding']);
  try {
    if (unpack === null) await pipeline(response, collect, { signal });
    else await pipeline(response, unpack, collect, { signal });
  } catch (error) {
    // Leaving a stream before its end counts as a premature close.
    if (!truncated) throw error;
  } finally {
    response.destroy();
  }
  return { body: Buffer.concat(chunks), truncated };
}

function unpacker(encoding: string | undefined): (Readable & NodeJS.WritableStream) | null {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip();
    case 'deflate':
      return zlib.createInflate();
    case 'br':
      return zlib.createBrotliDecompress();
    default:
      return null;
  }
}
