import { timingSafeEqual } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { HostHello, HostWelcome } from '../../../protocol/host-link.ts';
import { parseHello, readFirstLine } from '../../link/handshake.ts';
import {
  ownSocketFacts,
  removeOldSockets,
  requirePrivateFolder,
  type SocketFacts,
  SocketPlaceError,
  socketNames,
} from '../../link/socket-place.ts';
import type { Log } from '../../session/ports.ts';

/** A door says its hello at once; who does not is no door. */
const HELLO_MS = 5_000;
/** How many may stand at the door without a hello; the one that stands longest goes when another comes. */
const MOST_UNNAMED = 128;

/** Answers a hello; the socket is its own from then on, paused. */
export type HelloHandler = (hello: HostHello, socket: Socket) => void;

/** The place where a host is reached. */
export type Listener = {
  readonly endpoint: string;
  readonly token: string;
  /** False once somebody removed the socket from where it is. */
  isReachable(): boolean;
  /** Takes nobody new; who is there stays. */
  close(): void;
};

/** Writes the host's line. */
export function sendWelcome(socket: Socket, welcome: HostWelcome): void {
  socket.write(`${JSON.stringify(welcome)}\n`);
}

/**
 * Listens where only this user can knock, for whoever knows the token. Throws `host.socket_folder` if there is no
 * place for the socket.
 */
export async function listen(options: {
  readonly dataFolder: string;
  readonly token: string;
  readonly onHello: HelloHandler;
  readonly log: Log;
  readonly facts?: SocketFacts;
}): Promise<Listener> {
  const { log, token, onHello, facts = ownSocketFacts() } = options;
  const doorstep = new Doorstep(token, onHello, log);
  const failures: unknown[] = [];
  for (const endpoint of socketNames(options.dataFolder, facts)) {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
      doorstep.came(socket),
    );
    try {
      if (facts.platform !== 'win32') requirePrivateFolder(dirname(endpoint), facts.userId);
      await listening(server, endpoint);
      if (facts.platform !== 'win32') removeOldSockets(options.dataFolder, endpoint);
    } catch (failure) {
      failures.push(failure);
      log.warn('A place for the socket of the host can not be used', {
        endpoint,
        error: messageOf(failure),
      });
      continue;
    }
    // What can't be accepted now may be later.
    server.on('error', (error) => log.warn('A door could not come in', { error: error.message }));
    return {
      endpoint,
      token,
      isReachable: () =>
        facts.platform === 'win32' ||
        lstatSync(endpoint, { throwIfNoEntry: false })?.isSocket() === true,
      close: () => {
        server.close();
        doorstep.clear();
        if (facts.platform !== 'win32') rmSync(endpoint, { force: true });
      },
    };
  }
  const [first] = failures;
  if (first instanceof SocketPlaceError) throw first;
  throw new SocketPlaceError(
    'host.socket_folder',
    `There is no place for the host's socket (${first === undefined ? 'every path is too long' : messageOf(first)}). Set PILOTHOUSE_HOME to a shorter path on a local disk.`,
  );
}

function listening(server: Server, endpoint: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(endpoint, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Those that have connected and not yet said who they are. */
class Doorstep {
  readonly #token: Buffer;
  readonly #onHello: HelloHandler;
  readonly #log: Log;
  readonly #unnamed = new Set<Socket>();

  constructor(token: string, onHello: HelloHandler, log: Log) {
    this.#token = Buffer.from(token);
    this.#onHello = onHello;
    this.#log = log;
  }

  came(socket: Socket): void {
    // Late errors are told by the end of the socket.
    socket.on('error', () => undefined);
    const [oldest] = this.#unnamed;
    if (this.#unnamed.size >= MOST_UNNAMED) oldest?.destroy();
    this.#unnamed.add(socket);
    socket.once('close', () => this.#unnamed.delete(socket));
    void this.#name(socket);
  }

  async #name(socket: Socket): Promise<void> {
    try {
      const hello = parseHello(await readFirstLine(socket, HELLO_MS));
      this.#unnamed.delete(socket);
      if (this.#knows(hello.token)) this.#onHello(hello, socket);
      else {
        this.#log.warn('Somebody knocked with a wrong token and was not let in');
        socket.destroy();
      }
    } catch (failure) {
      this.#log.debug('Somebody knocked and said no hello', { error: messageOf(failure) });
      socket.destroy();
    }
  }

  #knows(token: string): boolean {
    const given = Buffer.from(token);
    return given.length === this.#token.length && timingSafeEqual(given, this.#token);
  }

  clear(): void {
    for (const socket of this.#unnamed) socket.destroy();
    this.#unnamed.clear();
  }
}
