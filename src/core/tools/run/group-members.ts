import { readdirSync, readFileSync } from 'node:fs';

/** Of `/proc/PID/stat`, behind the name in parentheses: the state and, two fields on, the process group. */
const STATE_AND_GROUP = /\) (\S) \d+ (\d+) /;
/** States of a process that has ended. */
const ENDED = /[ZX]/;

/**
 * True if a process of the group has not ended. Where `/proc` can't tell (not Linux), a group that exists counts as
 * alive.
 */
export function hasLivingMember(
  groupId: number,
  platform: NodeJS.Platform = process.platform,
): boolean {
  if (platform !== 'linux') return true;
  const group = String(groupId);
  return readdirSync('/proc').some((name) => {
    const found = /^\d+$/.test(name) ? STATE_AND_GROUP.exec(statOf(name)) : null;
    return found !== null && found[2] === group && !ENDED.test(found[1] ?? '');
  });
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // It ended between the listing and now.
    return '';
  }
}
