import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Takes the machine-wide lock `path` until the result is closed or this process ends, however that
 * happens (it is the kernel's). undefined: another process has it. Its folder must exist.
 */
export function tryLock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return undefined;
    throw error;
  }
}

/**
 * Runs `work` while holding the machine-wide lock `path`. `onWait` is called once if it is taken.
 */
export async function withLock<T>(
  path: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  let held = tryLock(path);
  if (!held) onWait();
  while (!held) {
    await delay(500);
    held = tryLock(path);
  }
  try {
    return await work();
  } finally {
    held.close();
  }
}
