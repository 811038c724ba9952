import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The middle value; of an even number, the upper one of the two. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** How long `work` takes, in milliseconds. */
export async function elapsed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Measures several things in turn, again and again, so that a busy machine is as bad to each; their medians. */
export async function interleaved<K extends string>(
  rounds: number,
  measures: Readonly<Record<K, () => Promise<number>>>,
): Promise<Record<K, number>> {
  const names = Object.keys(measures) as K[];
  const spans = new Map<K, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) spans.get(name)?.push(await measures[name]());
  return Object.fromEntries(names.map((name) => [name, median(spans.get(name) ?? [])])) as Record<
    K,
    number
  >;
}

/** Runs with an empty folder that is removed afterwards. */
export async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-bench-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Memory of a process in MB (10⁶ bytes), as Linux accounts for it; null elsewhere. */
export type Memory = {
  /** Pages in memory, shared ones counted in full. */
  readonly rss: number;
  /** Pages in memory, shared ones divided by who shares them. */
  readonly pss: number;
};

/** Reads `/proc/PID/smaps_rollup`. */
export function memoryOf(pid: number): Memory | null {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const field = (name: string): number =>
      (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024) / 1e6;
    return { rss: field('Rss'), pss: field('Pss') };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/**
 * Pages in memory of a process in MB (10⁶ bytes), shared ones counted in full; NaN if it is gone. Cheap, so that it can
 * be read again and again while something is timed. Source: proc(5), statm; pages of 4 KiB.
 */
export function rssOf(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 1e6;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return Number.NaN;
    throw error;
  }
}

/** Pauses; for what settles in its own time, such as memory. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
