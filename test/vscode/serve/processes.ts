import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** One running process. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Its command line, arguments joined by spaces. */
  readonly command: string;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined; // The process is gone, or not ours to look at.
  }
}

function readProcess(pid: number): Process | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return undefined;
  // The name is in parentheses and may hold any character, also spaces and ')'.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
  return { pid, parent: Number(parent), command: command.split('\0').join(' ').trim() };
}

/** Every living process (zombies are not). Empty where there is no /proc. */
export function processes(): Process[] {
  const names = attempt(() => readdirSync('/proc')) ?? [];
  return names
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((process) => process !== undefined);
}

/** The living descendants of `pid`, parents before children. */
export function descendants(pid: number): Process[] {
  const all = processes();
  const found: Process[] = [];
  const parents = [pid];
  for (let parent = parents.shift(); parent !== undefined; parent = parents.shift()) {
    for (const child of all.filter((process) => process.parent === parent)) {
      found.push(child);
      parents.push(child.pid);
    }
  }
  return found;
}

/** What the process was started with; empty if it is gone or not ours. */
export function environmentOf(pid: number): Readonly<Record<string, string>> {
  const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8')) ?? '';
  const pairs = environment.split('\0').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Processes whose environment holds `NAME=value`: also those that left their parent. */
export function withEnvironment(name: string, value: string): Process[] {
  return processes().filter(({ pid }) => environmentOf(pid)[name] === value);
}

/** Processes that work inside `folder`. */
export function workingIn(folder: string): Process[] {
  return processes().filter(({ pid }) => {
    const cwd = attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? '';
    return cwd === folder || cwd.startsWith(`${folder}/`);
  });
}

/** Whether the process lives (a zombie does not). */
export function isAlive(pid: number): boolean {
  if (process.platform === 'linux') return readProcess(pid) !== undefined;
  return attempt(() => process.kill(pid, 0)) === true;
}

/** Sends a signal; a process that is gone already is fine. */
export function signal(pid: number, name: NodeJS.Signals): void {
  attempt(() => process.kill(pid, name));
}

/** Resolves with those of `pids` that still live after at most `milliseconds`. */
export async function waitForExit(
  pids: () => readonly number[],
  milliseconds: number,
): Promise<readonly number[]> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const alive = pids().filter(isAlive);
    if (alive.length === 0 || performance.now() >= deadline) return alive;
    await delay(50);
  }
}
