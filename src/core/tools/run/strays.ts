import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isObject } from '../../../base/json.ts';

/** How often they are looked for, with a pause between: one that starts another, or just becomes another program, is missed once. */
const PASSES = { least: 2, most: 40, pauseMs: 25 } as const;

/** The variable that every child of a tool inherits, so that one which left its group is still known as ours. */
export const OWNER_VARIABLE = 'AGENT_CORE_OWNER';

/**
 * Kills processes that left their group (`setsid`, a daemon) but still carry their owner's mark in the environment
 * they were started with, and what those start meanwhile. Linux only: elsewhere another process's environment can't be
 * read. Resolves with how many when a look finds none, or after a second of looking; other work has its turn meanwhile.
 */
export async function killStrays(
  owner: string,
  platform: NodeJS.Platform = process.platform,
): Promise<number> {
  if (platform !== 'linux') return 0;
  const mark = `${OWNER_VARIABLE}=${owner}`;
  let total = 0;
  for (let pass = 1; pass <= PASSES.most; pass += 1) {
    const killed = await killMarked(mark);
    total += killed;
    if (killed === 0 && pass >= PASSES.least) break;
    await new Promise((resolve) => setTimeout(resolve, PASSES.pauseMs));
  }
  return total;
}

async function killMarked(mark: string): Promise<number> {
  const killed = await Promise.all(
    (await readdir('/proc')).map(async (name) => {
      const pid = Number(name);
      if (!isOther(pid)) return false;
      // Not ours to read, or gone.
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return isMarked(environment, mark) && kill(pid);
    }),
  );
  return killed.filter(Boolean).length;
}

/** As `killStrays`, at once; for the last moments of this process. */
export function killStraysNow(owner: string, platform: NodeJS.Platform = process.platform): number {
  if (platform !== 'linux') return 0;
  const mark = `${OWNER_VARIABLE}=${owner}`;
  return readdirSync('/proc').filter((name) => {
    const pid = Number(name);
    return isOther(pid) && isMarked(environmentOf(pid), mark) && kill(pid);
  }).length;
}

function isOther(pid: number): boolean {
  return Number.isInteger(pid) && pid !== process.pid;
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // Not ours to read, or gone.
    return '';
  }
}

/** `mark` may be the beginning of a mark: that of a whole run covers all its sessions. */
function isMarked(environment: string, mark: string): boolean {
  return environment.split('\0').some((entry) => entry.startsWith(mark));
}

/** False if it ended by itself meanwhile, or runs as somebody else by now. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (isObject(error) && (error['code'] === 'ESRCH' || error['code'] === 'EPERM')) return false;
    throw error;
  }
}
