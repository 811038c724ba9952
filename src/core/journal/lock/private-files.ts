import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '../../../base/json.ts';

/** Makes sure that the folder is there and that only its owner can enter it. */
export function createPrivateFolder(path: string): void {
  makeFolders(path);
  narrow(path, 0o700);
}

/** Parents first. Node's own recursion never ends below folders that refuse new ones with ENOENT, as /proc does. */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isObject(error) || error['code'] !== 'EEXIST') throw error;
  }
}

/**
 * Makes sure that the file is there and that only its owner can use it. A file that is there is never opened:
 * closing a descriptor would drop the locks that this process holds on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!isObject(error) || error['code'] !== 'EEXIST') throw error;
  }
  narrow(path, 0o600);
}

function narrow(path: string, mode: number): void {
  // Windows has no such bits; the profile folder's access list protects the files there.
  if (process.platform === 'win32') return;
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, mode);
}
