import { readdirSync, readFileSync } from 'node:fs';
import { isObject } from '../../../base/json.ts';

/** The variable that every child of a tool inherits, so that one which left its group is still known as ours. */
export const OWNER_VARIABLE = 'AGENT_CORE_OWNER';

/**
 * Kills processes that left their group (`setsid`, a daemon) but still carry their owner's mark in the environment
 * they were started with. Linux only: elsewhere another process's environment can't be read. Returns how many.
 */
export function killStrays(owner: string, platform: NodeJS.Platform = process.platform): number {
  if (platform !== 'linux') return 0;
  const mark = `${OWNER_VARIABLE}=${owner}`;
  let killed = 0;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid || !isMarked(pid, mark)) continue;
    try {
      process.kill(pid, 'SIGKILL');
      killed += 1;
    } catch (error) {
      // It ended by itself meanwhile, or runs as somebody else by now.
      if (!isObject(error) || (error['code'] !== 'ESRCH' && error['code'] !== 'EPERM')) throw error;
    }
  }
  return killed;
}

/** `owner` may be the beginning of a mark: that of a whole run covers all its sessions. */
function isMarked(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .some((entry) => entry.startsWith(mark));
  } catch {
    // Not ours to read, or gone.
    return false;
  }
}
