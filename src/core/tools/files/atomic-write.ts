import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  chmod,
  type FileHandle,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import { moved } from './disk.ts';
import { PathError } from './resolve-path.ts';

/**
 * Writes a whole file so that a reader sees the old bytes or the new ones, never a part: a temporary file in the same
 * folder is renamed over it. Missing folders are made; an existing file's mode bits are kept and a read-only file is
 * refused. `file` must be canonical; the folder is checked again after it was opened, and on Linux the write goes
 * through that open folder, so that a link slipped in meanwhile leads nowhere.
 */
export async function writeAtomically(file: string, bytes: Uint8Array): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true });
  await inFolder(folder, async (base) => {
    const target = path.join(base, path.basename(file));
    const mode = await existingMode(target, file);
    const temporary = path.join(base, `.pilothouse-${randomBytes(8).toString('hex')}.tmp`);
    try {
      await writeNew(temporary, bytes, mode);
      await rename(temporary, target);
    } catch (error) {
      await unlink(temporary).catch(ignoreMissing);
      throw named(error, file);
    }
  });
}

/** A person knows the file, not the temporary one beside it. */
function named(error: unknown, file: string): unknown {
  return error instanceof Error && 'code' in error ? Object.assign(error, { path: file }) : error;
}

async function existingMode(target: string, shown: string): Promise<number | null> {
  const found = await stat(target).catch(ignoreMissing);
  if (found === undefined) return null;
  if (!found.isFile()) throw new PathError('path.unresolvable', `${shown} is not a regular file.`);
  await access(target, constants.W_OK);
  return found.mode & 0o7777;
}

async function writeNew(file: string, bytes: Uint8Array, mode: number | null): Promise<void> {
  const handle = await open(file, 'wx', 0o666);
  try {
    await handle.writeFile(bytes);
    if (mode !== null) await chmod(file, mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Runs `use` with a name for the folder that can't be swapped under it where the system offers one. */
async function inFolder(folder: string, use: (base: string) => Promise<void>): Promise<void> {
  if (process.platform === 'win32') {
    await assertUnmoved(folder);
    return await use(folder);
  }
  const handle = await open(
    folder,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  );
  try {
    const pinned = await pinnedName(handle);
    if (pinned === null) await assertUnmoved(folder);
    else if ((await readlink(pinned)) !== folder) throw moved(folder);
    await use(pinned ?? folder);
  } finally {
    await handle.close();
  }
}

async function pinnedName(handle: FileHandle): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  const name = `/proc/self/fd/${handle.fd}`;
  return (await readlink(name).catch(ignoreMissing)) === undefined ? null : name;
}

async function assertUnmoved(folder: string): Promise<void> {
  if ((await realpath(folder)) !== folder) throw moved(folder);
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
