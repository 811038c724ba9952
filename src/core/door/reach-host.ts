import { connect, type Socket } from 'node:net';
import { codeOf } from '../../base/errors.ts';
import type { HostEndpoint, HostHello, HostWelcome } from '../../protocol/host-link.ts';
import { parseWelcome, readFirstLine } from '../link/handshake.ts';
import { isOwnSocket, ownSocketFacts } from '../link/socket-place.ts';

/** How long a host may take to answer a handshake, in milliseconds: one that runs does so at once. */
const ANSWER_MS = 10_000;

/** What came of knocking at an endpoint. */
export type Reached =
  /** The socket is the caller's; behind the welcome to `connect` it carries ACP frames, and it is paused. */
  | { readonly kind: 'welcome'; readonly socket: Socket; readonly welcome: Welcome }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** Nobody listens there, or who did has just gone. */
  | { readonly kind: 'absent' }
  /** Somebody listens and says nothing. */
  | { readonly kind: 'silent' };

export type Welcome = Extract<HostWelcome, { ok: true }>;

/** Knocks at a host and says the hello. Never rejects. */
export async function reachHost(
  { endpoint, token }: Pick<HostEndpoint, 'endpoint' | 'token'>,
  hello: Omit<HostHello, 'token' | 'link'>,
  answerMs = ANSWER_MS,
): Promise<Reached> {
  if (!isOwnSocket(endpoint, ownSocketFacts())) return { kind: 'absent' };
  const socket = connect(endpoint);
  // What fails is met where it is read; a late error of a socket that was given up is nobody's.
  socket.on('error', () => undefined);
  socket.write(`${JSON.stringify({ link: 1, token, ...hello } satisfies HostHello)}\n`);
  try {
    const welcome = parseWelcome(await readFirstLine(socket, answerMs));
    if (welcome.ok) return { kind: 'welcome', socket, welcome };
    socket.destroy();
    return { kind: 'refused', code: welcome.code, message: welcome.message };
  } catch (error) {
    socket.destroy();
    return { kind: codeOf(error) === 'link.silent' ? 'silent' : 'absent' };
  }
}
