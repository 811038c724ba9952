import { lstatSync } from 'node:fs';
import { setImmediate as othersFirst } from 'node:timers/promises';
import { failedWith } from '../errors.ts';

export type FileStats = { readonly size: number; readonly mode: number };

/** So many are looked at before others have their turn. */
const BATCH = 200;

/** Size and permission bits of many paths; null for what is not there. Links are not followed. */
export async function* statsOf(
  paths: Iterable<string>,
  signal: AbortSignal,
): AsyncGenerator<readonly [string, FileStats | null]> {
  let count = 0;
  for (const file of paths) {
    count += 1;
    if (count % BATCH === 0) {
      await othersFirst();
      signal.throwIfAborted();
    }
    yield [file, look(file)];
  }
}

// A synchronous look is several times cheaper than a promise, and there may be fifty thousand.
function look(file: string): FileStats | null {
  try {
    const { size, mode } = lstatSync(file);
    return { size, mode: mode & 0o7777 };
  } catch (failure) {
    if (failedWith(failure, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG')) return null;
    throw failure;
  }
}
