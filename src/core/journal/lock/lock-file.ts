import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../base/json.ts';

/** The file in a data folder whose lock is the hold on the folder. */
export const LOCK_FILE = 'host.lock';

/**
 * What tells this lock file from a later one at the same place; null if there is none, undefined where the system does
 * not say. Looks at the file and never opens it.
 */
export function lockIdentity(dataFolder: string): string | null | undefined {
  try {
    const { dev, ino } = statSync(join(dataFolder, LOCK_FILE), { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    const code = isObject(error) ? error['code'] : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : undefined;
  }
}
