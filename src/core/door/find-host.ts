import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { isNewer } from '../../base/version-order.ts';
import { HOST_LINK_VERSION, type HostClientSide } from '../../protocol/host-link.ts';
import { type KnownEndpoint, liveEndpoint } from '../link/endpoint-file.ts';
import { isForeignSocket, ownSocketFacts } from '../link/socket-place.ts';
import type { Log } from '../session/ports.ts';
import { DoorError, silentHost } from './errors.ts';
import { isListening, reachHost, type Welcome } from './reach-host.ts';
import type { HostStart } from './start-host.ts';

/** How long a host is looked for and started, in milliseconds: one that ends takes up to twelve seconds for it. */
const FIND_MS = 40_000;
/** How often a host is started that dies of it. */
const MOST_DEATHS = 2;
/** Between two looks at a host that is about to end or to be reachable. */
const AGAIN_MS = 50;

/** What a door knows and needs to find the host of a data folder. */
export type HostSearch = {
  readonly dataFolder: string;
  /** Of this program. */
  readonly version: string;
  readonly client: HostClientSide;
  /** Starts one. */
  readonly start: (deadlineMs: number) => Promise<HostStart>;
  /** How long one that is there may take to answer, in milliseconds; ten seconds if missing. */
  readonly answerMs?: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** A way to the host: the socket carries ACP frames from here on, and is the caller's. */
export type HostWay = { readonly socket: Socket; readonly welcome: Welcome };

/**
 * Brings a client to the host of the data folder: to the one that runs, or to one that is started. An older host that
 * is idle is asked to make room; a busy one is kept. Throws `DoorError` with what to do, or the signal's reason.
 */
export async function findHost(search: HostSearch): Promise<HostWay> {
  const { clock, dataFolder, signal } = search;
  const deadline = clock.now() + FIND_MS;
  let mayReplace = true;
  let deaths = 0;
  for (;;) {
    signal.throwIfAborted();
    const endpoint = liveEndpoint(dataFolder);
    if (endpoint !== null && !endpoint.isClosing) {
      if (mayReplace && isNewer(search.version, endpoint.version)) {
        mayReplace = false;
        if (await madeRoom(search, endpoint)) continue;
      }
      const way = await wayTo(search, endpoint);
      if (way !== null) return way;
    }
    const left = deadline - clock.now();
    if (left <= 0)
      throw new DoorError(
        'host.not_started',
        `No session host for ${dataFolder} could be reached or started in time. Try again, or end a process of Pilothouse that hangs.`,
        { retryable: true },
      );
    const started = await search.start(left);
    if (started.kind === 'died') deaths += 1;
    const failure = failureOf(started, deaths);
    // Another one may have come up meanwhile: then it is the one.
    if (failure !== null && (failure.code !== 'journal.locked' || reachable(dataFolder) === null))
      throw failure;
    if (reachable(dataFolder) === null) await clock.sleep(AGAIN_MS, signal);
  }
}

/** Null if it is worth another try: one that was killed while it started says nothing about the next. */
function failureOf(started: HostStart, deaths: number): DoorError | null {
  if (started.kind === 'failed')
    return new DoorError(started.code, started.message, { retryable: true });
  if (deaths < MOST_DEATHS) return null;
  return new DoorError(
    'host.not_started',
    'The session host ended while it started. Its log in the data folder says why.',
    { retryable: true },
  );
}

function reachable(dataFolder: string): KnownEndpoint | null {
  const endpoint = liveEndpoint(dataFolder);
  return endpoint === null || endpoint.isClosing ? null : endpoint;
}

/** Null where there is nobody any more. */
async function wayTo(search: HostSearch, endpoint: KnownEndpoint): Promise<HostWay | null> {
  if (endpoint.link !== HOST_LINK_VERSION) {
    // One that nobody listens at is left over, whatever it spoke.
    if (!(await isListening(endpoint.endpoint))) return null;
    throw new DoorError(
      'host.incompatible',
      `The session host that runs (process ${endpoint.pid}, version ${endpoint.version}) speaks another language than this program. Close the other windows and programs that use it, or end it with "agent-core host --stop", and try again.`,
      { retryable: true },
    );
  }
  const { version, client } = search;
  const reached = await reachHost(endpoint, { asks: 'connect', version, client }, search.answerMs);
  switch (reached.kind) {
    case 'welcome':
      return reached;
    case 'absent':
      if (isOfAnotherUser(endpoint)) throw otherUser(search.dataFolder, endpoint.pid);
      return null;
    case 'silent':
      throw silentHost(endpoint.pid);
    case 'refused':
      if (reached.code === 'host.closing') return null;
      throw new DoorError(reached.code, reached.message, { retryable: true });
  }
}

/** Only where the mark tells that the process is the host and not one that got its id. */
function isOfAnotherUser({ endpoint, startTicks }: KnownEndpoint): boolean {
  return startTicks !== null && isForeignSocket(endpoint, ownSocketFacts());
}

function otherUser(dataFolder: string, pid: number): DoorError {
  return new DoorError(
    'host.other_user',
    `The session host of ${dataFolder} (process ${pid}) runs as another user. Run this program as that user, or set PILOTHOUSE_HOME to a folder of your own.`,
  );
}

/** True if an older host ends to make room. One that works or has clients is kept. */
async function madeRoom(search: HostSearch, endpoint: KnownEndpoint): Promise<boolean> {
  const reached = await reachHost(endpoint, { asks: 'step_down', version: search.version });
  if (reached.kind === 'welcome') reached.socket.destroy();
  const makesRoom = reached.kind === 'welcome' || reached.kind === 'absent';
  search.log.info(
    makesRoom ? 'An older session host makes room' : 'An older session host is busy and is kept',
    { pid: endpoint.pid, version: endpoint.version },
  );
  return makesRoom;
}
