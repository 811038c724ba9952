import type { Clock } from '../../base/clock.ts';
import { Deferred } from '../../base/deferred.ts';
import { isObject } from '../../base/json.ts';
import { type KnownEndpoint, liveEndpoint } from '../link/endpoint-file.ts';
import { mayBeAlive } from '../link/process-facts.ts';
import { silentHost } from './errors.ts';
import { reachHost } from './reach-host.ts';

/** How long a host may take to end, in milliseconds. */
const END_MS = 15_000;
const LOOK_MS = 50;

/** What `host --status` prints. */
export type HostStatus =
  | {
      readonly pid: number;
      readonly version: string;
      readonly sessions: number;
      readonly clients: number;
    }
  | { readonly pid: null };

/** How the host of a data folder is. Throws `host.silent` for one that does not answer. */
export async function hostStatus(dataFolder: string, version: string): Promise<HostStatus> {
  const endpoint = liveEndpoint(dataFolder);
  if (endpoint === null) return { pid: null };
  const reached = await reachHost(endpoint, { asks: 'status', version });
  switch (reached.kind) {
    case 'welcome': {
      reached.socket.destroy();
      const { pid, sessions, clients, version: its } = reached.welcome;
      return { pid, version: its, sessions, clients };
    }
    case 'silent':
      throw silentHost(endpoint.pid);
    case 'absent':
    case 'refused':
      return { pid: null };
  }
}

/** Ends the host of a data folder; resolves when it is gone, at once if there is none. Throws `host.silent`. */
export async function stopHost(dataFolder: string, version: string, clock: Clock): Promise<void> {
  const endpoint = liveEndpoint(dataFolder);
  if (endpoint === null) return;
  const reached = await reachHost(endpoint, { asks: 'stop', version });
  if (reached.kind === 'silent') throw silentHost(endpoint.pid);
  const ended = new Deferred<void>();
  if (reached.kind === 'welcome') {
    reached.socket.once('close', () => ended.resolve());
    reached.socket.resume();
  } else {
    if (reached.kind === 'absent' && !endpoint.isClosing) askBySignal(endpoint);
    ended.resolve();
  }
  const limit = new AbortController();
  await Promise.race([ended.promise, clock.sleep(END_MS, limit.signal).catch(() => undefined)]);
  limit.abort();
  for (let left = END_MS; mayBeAlive(endpoint); left -= LOOK_MS) {
    if (left <= 0) throw silentHost(endpoint.pid);
    await clock.sleep(LOOK_MS);
  }
}

/**
 * One that speaks another language or lost its socket understands a signal. Only where the mark tells that the process
 * is the host and not one that got its id.
 */
function askBySignal({ pid, startTicks }: KnownEndpoint): void {
  if (startTicks === null) return;
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    // ESRCH: it has just ended.
    if (!isObject(error) || error['code'] !== 'ESRCH') throw error;
  }
}
