import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { looksBinary } from '../entry.ts';
import { failedWith, ignoreMissing } from '../errors.ts';
import { makeFolder, settleName, temporaryName, writeDurably } from './durable.ts';

/** The name of some bytes, and whether they are text. */
export type Kept = { readonly content: string; readonly binary: boolean };

/** A file kept changing while it was read. */
export class UnsteadyFile extends Error {}

const CHUNK = 1024 * 1024;
const ATTEMPTS = 3;

/** The name of bytes. */
export function nameOf(bytes: Uint8Array): string {
  return createHash('sha256').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex');
}

/** Bytes by their name, one file each. What it returns a name for is on disk. */
export class BlobStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async has(content: string): Promise<boolean> {
    return access(this.#fileOf(content)).then(
      () => true,
      () => false,
    );
  }

  /** Null if they are not here. */
  async read(content: string): Promise<Buffer | null> {
    return (await readFile(this.#fileOf(content)).catch(ignoreMissing)) ?? null;
  }

  async keepBytes(bytes: Uint8Array): Promise<Kept> {
    const content = nameOf(bytes);
    if (!(await this.has(content))) await writeDurably(this.#fileOf(content), bytes);
    return { content, binary: looksBinary(bytes) };
  }

  /** Keeps a regular file's bytes. Links are not followed. Throws what the system throws, or `UnsteadyFile`. */
  async keepFile(file: string): Promise<Kept> {
    await makeFolder(this.#folder);
    const temporary = temporaryName(this.#folder);
    try {
      const kept = await copyHashed(file, temporary);
      if (await this.has(kept.content)) return kept;
      await makeFolder(path.dirname(this.#fileOf(kept.content)));
      await settleName(temporary, this.#fileOf(kept.content));
      return kept;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  #fileOf(content: string): string {
    return path.join(this.#folder, content.slice(0, 2), content.slice(2));
  }
}

/** The name of a regular file's bytes; nothing is kept. */
export function nameOfFile(file: string): Promise<Kept> {
  return readSteadily(file, async () => undefined);
}

async function copyHashed(file: string, to: string): Promise<Kept> {
  const target = await open(to, 'wx', 0o600);
  try {
    const kept = await readSteadily(file, async (chunk, position) => {
      await target.write(chunk, 0, chunk.byteLength, position);
    });
    await target.sync();
    return kept;
  } finally {
    await target.close();
  }
}

async function readSteadily(
  file: string,
  onChunk: (chunk: Uint8Array, position: number) => Promise<void>,
): Promise<Kept> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const handle = await openRegular(file);
    try {
      const kept = await hashOf(handle, onChunk);
      if (kept !== null) return kept;
    } finally {
      await handle.close();
    }
  }
  throw new UnsteadyFile(`${file} changed while it was read`);
}

async function openRegular(file: string): Promise<FileHandle> {
  // Where the system has no such flag it is undefined, and counts as 0 here.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (failure) {
    if (failedWith(failure, 'ELOOP', 'ENXIO'))
      throw new UnsteadyFile(`${file} is no file any more`);
    throw failure;
  }
}

/** Null if the file did not have the size it said it has. */
async function hashOf(
  handle: FileHandle,
  onChunk: (chunk: Uint8Array, position: number) => Promise<void>,
): Promise<Kept | null> {
  const { size } = await handle.stat();
  const hash = createHash('sha256').update(`blob ${size}\0`);
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size + 1));
  let position = 0;
  let binary = false;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, position);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    if (position === 0) binary = looksBinary(chunk);
    hash.update(chunk);
    await onChunk(chunk, position);
    position += bytesRead;
    if (position > size) return null;
  }
  return position === size ? { content: hash.digest('hex'), binary } : null;
}
