import { connect, type Socket } from 'node:net';
import { codeOf } from '../../base/errors.ts';
import type { HostEndpoint, HostHello, HostWelcome } from '../../protocol/host-link.ts';
import { LONGEST_LINE, parseWelcome, readFirstLine } from '../link/handshake.ts';
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
  const line = `${JSON.stringify({ link: 1, token, ...hello } satisfies HostHello)}\n`;
  if (Buffer.byteLength(line) > LONGEST_LINE) return TOO_LONG;
  const socket = connect(endpoint);
  // What fails is met where it is read; a late error of a socket that was given up is nobody's.
  socket.on('error', () => undefined);
  socket.write(line);
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

/** True if somebody of this user takes connections there, whatever they speak. */
export function isListening(endpoint: string): Promise<boolean> {
  if (!isOwnSocket(endpoint, ownSocketFacts())) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(endpoint);
    const finish = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', finish(true)).once('error', finish(false));
  });
}

/** The environment is most of a hello. A host would take it for a stranger's noise and say nothing. */
const TOO_LONG: Reached = {
  kind: 'refused',
  code: 'host.environment_too_long',
  message:
    'The environment of this program is too long to be given to the session host. Start it with fewer or shorter variables.',
};
