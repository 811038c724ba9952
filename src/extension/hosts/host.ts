import * as z from 'zod/mini';

/** Names a host inside this window; the window's own has a fixed one. */
export type HostId = string;

/** The host of this window's own data folder, which is always there. */
export const OWN_HOST: HostId = 'own';

const COMMON = { id: z.string(), name: z.string() };

const ADDED = z.discriminatedUnion('kind', [
  z.object({ ...COMMON, kind: z.literal('folder'), dataFolder: z.string() }),
  z.object({ ...COMMON, kind: z.literal('ws'), url: z.string() }),
]);

/**
 * A host that a person added: another data folder of this machine, or an address of another one. Its token, if it has
 * one, is no part of it (see `HostTokens`).
 */
export type AddedHost = z.infer<typeof ADDED>;

/** A host that has no id yet. */
export type NewHost =
  | Omit<Extract<AddedHost, { kind: 'folder' }>, 'id'>
  | Omit<Extract<AddedHost, { kind: 'ws' }>, 'id'>;

/** The hosts that were stored; entries of no known form are left out. */
export function parseHosts(value: unknown): AddedHost[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry) => {
    const parsed = z.safeParse(ADDED, entry);
    return parsed.success ? [parsed.data] : [];
  });
}

/** Where it is, as one line. */
export function placeOf(host: NewHost | AddedHost): string {
  return host.kind === 'folder' ? host.dataFolder : host.url;
}

/** What is wrong with an address. */
export type UrlProblem = 'no_address' | 'wrong_scheme' | 'has_secret' | 'no_encryption';

/** This machine under its own names: what goes to it crosses no network. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/**
 * What keeps an address from being used; null if nothing does. A name and password in it would be stored in the open,
 * and without TLS the token would cross the network in the open.
 */
export function urlProblem(text: string): UrlProblem | null {
  if (!URL.canParse(text)) return 'no_address';
  const url = new URL(text);
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') return 'wrong_scheme';
  if (url.username !== '' || url.password !== '' || /token|key|secret/i.test(url.search))
    return 'has_secret';
  return url.protocol === 'ws:' && !LOOPBACK.test(url.hostname) ? 'no_encryption' : null;
}
