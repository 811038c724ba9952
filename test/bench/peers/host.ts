import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from '../programs.ts';
import { Peer } from './peer.ts';

/** The process id of the host that can be reached in a data folder. Throws if there is none. */
export function hostPid(home: string): number {
  const { pid } = JSON.parse(readFileSync(join(home, 'host-endpoint.json'), 'utf8')) as {
    pid: number;
  };
  return pid;
}

/** Ends the host of a data folder; it is gone when this resolves. */
export async function endHost(programs: Programs, home: string): Promise<void> {
  await new Peer(programs.hostStop(home)).exited;
}

/** Runs with a data folder whose host is ended afterwards. */
export async function withHost<T>(
  programs: Programs,
  home: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } finally {
    await endHost(programs, home);
  }
}
