import { readFileSync } from 'node:fs';
import { isObject } from '../../base/json.ts';

/** What tells one process from a later one with the same id; null where the system does not say. */
export type ProcessMark = {
  readonly pid: number;
  /** Start of the process in clock ticks since boot (Linux). */
  readonly startTicks: string | null;
  readonly bootId: string | null;
};

/** The mark of this process. */
export function ownMark(): ProcessMark {
  return {
    pid: process.pid,
    startTicks: statOf(process.pid)?.startTicks ?? null,
    bootId: bootId(),
  };
}

/** False only if the marked process can't be there any more: its id is free, or another process has it. */
export function mayBeAlive({ pid, startTicks, bootId: boot }: ProcessMark): boolean {
  if (boot !== null && boot !== bootId()) return false;
  if (!processExists(pid)) return false;
  const found = statOf(pid);
  // One that has ended and that its parent did not look after keeps its id.
  if (found?.state === 'Z' || found?.state === 'X') return false;
  return startTicks === null || startTicks === (found?.startTicks ?? null);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to someone else.
    return isObject(error) && error['code'] === 'EPERM';
  }
}

/** Fields 3 and 22 of `/proc/<pid>/stat`; the name before them may hold spaces and parentheses. Source: proc(5). */
function statOf(pid: number): { readonly state: string; readonly startTicks: string } | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return state === undefined || startTicks === undefined ? null : { state, startTicks };
}

function bootId(): string | null {
  return readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

/** The text of a file; null where it can't be read. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
