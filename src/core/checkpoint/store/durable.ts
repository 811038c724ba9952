import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { failedWith } from '../errors.ts';

/** Only the person may read what is kept: it is their files. */
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** Makes a folder of the store, and those above it. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
}

/** A name for a file that is being written; it lies beside what it becomes. */
export function temporaryName(folder: string): string {
  return path.join(folder, `tmp-${randomBytes(8).toString('hex')}`);
}

/** Writes a file so that it is whole and on disk when this resolves, or not there at all. */
export async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const folder = path.dirname(file);
  await makeFolder(folder);
  const temporary = temporaryName(folder);
  try {
    const handle = await open(temporary, 'wx', PRIVATE_FILE);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await settleName(temporary, file);
  } catch (failure) {
    await rm(temporary, { force: true });
    throw failure;
  }
}

/** Gives a written and synced file its name, durably. */
export async function settleName(temporary: string, file: string): Promise<void> {
  await rename(temporary, file);
  await syncFolder(path.dirname(file));
}

/** Makes the names in a folder durable, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (failure) {
    // Some file systems have no such thing as a synced folder.
    if (!failedWith(failure, 'EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM')) throw failure;
  } finally {
    await handle.close();
  }
}
