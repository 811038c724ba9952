import { chmod, lstat, open, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { Held } from '../entry.ts';
import { ignoreMissing } from '../errors.ts';
import { foldersAbove } from '../present.ts';
import type { Contents } from '../store/contents.ts';

/** Writes a file or link under a temporary name, whole, on disk and with its permission bits. */
export async function stage(held: Held, temporary: string, contents: Contents): Promise<void> {
  const bytes = await contents.bytes(held.content);
  if (held.kind === 'link') {
    await symlink(bytes, temporary);
    return;
  }
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    if (process.platform !== 'win32') await handle.chmod(held.mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (process.platform === 'win32') await chmod(temporary, held.mode);
}

/** The nearest folder above a path that is there and stays there: a place for what belongs to it meanwhile. */
export async function lastingFolder(
  file: string,
  root: string,
  goes: (folder: string) => boolean,
): Promise<string> {
  let lasting = root;
  for (const folder of foldersAbove(file, root)) {
    const found = await lstat(folder).catch(ignoreMissing);
    if (found?.isDirectory() !== true || goes(folder)) break;
    lasting = folder;
  }
  return lasting;
}

/** A name that snapshots and people can tell from a file of the folder. */
export function temporaryBeside(folder: string, token: string, index: number, use: string): string {
  return path.join(folder, `.pilothouse-${token}-${index}-${use}.tmp`);
}
