import type { BigIntStats } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { looksBinary, type Present } from './entry.ts';
import { CheckpointError, ignoreMissing } from './errors.ts';
import { type BlobStore, nameOf, nameOfFile } from './store/blob-store.ts';

/** What a path holds, with a mark that changes when it does. */
export type Seen = Present & { readonly stamp: string };

const NOTHING: Seen = { entry: null, blocked: null, stamp: '' };

/**
 * What a path holds now; links are not followed. With `keep`, its bytes are on disk there when this resolves. Throws
 * what the system throws.
 */
export async function presentAt(file: string, keep: BlobStore | null): Promise<Seen> {
  const found = await lookAt(file);
  if (found === undefined) return NOTHING;
  const stamp = stampOf(found);
  if (found.isDirectory()) return { entry: null, blocked: 'folder', stamp };
  if (found.isSymbolicLink()) {
    const target = await readlink(file, { encoding: 'buffer' });
    const content = keep === null ? nameOf(target) : (await keep.keepBytes(target)).content;
    const binary = looksBinary(target);
    return { entry: { kind: 'link', content, mode: 0, binary }, blocked: null, stamp };
  }
  if (!found.isFile()) return { entry: null, blocked: 'special', stamp };
  const { content, binary } = await (keep === null ? nameOfFile(file) : keep.keepFile(file));
  return { entry: { kind: 'file', content, mode: bitsOf(found), binary }, blocked: null, stamp };
}

/** Size of a regular file in bytes; 0 for everything else. */
export async function sizeAt(file: string): Promise<number> {
  const found = await lookAt(file);
  return found?.isFile() === true ? Number(found.size) : 0;
}

/** True if the path still holds what was seen there. */
export async function isStill(file: string, seen: Seen): Promise<boolean> {
  const found = await lookAt(file);
  return (found === undefined ? NOTHING.stamp : stampOf(found)) === seen.stamp;
}

async function lookAt(file: string): Promise<BigIntStats | undefined> {
  return lstat(file, { bigint: true }).catch(ignoreMissing);
}

// The time of the inode's last change is left out: a second name for a file changes it too.
function stampOf({ ino, size, mode, mtimeNs }: BigIntStats): string {
  return [ino, size, mode, mtimeNs].join(':');
}

function bitsOf({ mode }: BigIntStats): number {
  const bits = Number(mode & 0o7777n);
  if (process.platform === 'win32') return (bits & 0o111) === 0 ? 0o644 : 0o755;
  return bits;
}

/** The root that a path lies in; null for a path outside, and for a root itself. */
export function rootOf(file: string, roots: readonly string[]): string | null {
  if (!path.isAbsolute(file) || path.normalize(file) !== file || file.includes('\0')) return null;
  const holds = (root: string): boolean =>
    file.startsWith(root.endsWith(path.sep) ? root : root + path.sep) && !file.endsWith(path.sep);
  return roots.find(holds) ?? null;
}

/** Folders between a root and a path, outermost first. */
export function foldersAbove(file: string, root: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = path.dirname(file); folder !== root; folder = path.dirname(folder)) {
    if (folder === path.dirname(folder)) break;
    folders.unshift(folder);
  }
  return folders;
}

/** How the folders above a path stand. */
export type Way = {
  /** Those that are not there. */
  readonly missing: readonly string[];
  /** A link, or a file where a folder should be; null if there is none. */
  readonly obstacle: { readonly path: string; readonly kind: 'link' | 'file' } | null;
};

/** Looks at the folders above a path, without following links. */
export async function wayTo(file: string, root: string): Promise<Way> {
  const folders = foldersAbove(file, root);
  for (const [index, folder] of folders.entries()) {
    const found = await lookAt(folder);
    if (found === undefined) return { missing: folders.slice(index), obstacle: null };
    if (found.isDirectory()) continue;
    const kind = found.isSymbolicLink() ? 'link' : 'file';
    return { missing: folders.slice(index), obstacle: { path: folder, kind } };
  }
  return { missing: [], obstacle: null };
}

/** Throws `checkpoint.restore_failed` if a folder is reached through a link that was put in meanwhile. */
export async function assertInPlace(folder: string): Promise<void> {
  if ((await realpath(folder)) === folder) return;
  throw new CheckpointError(
    'checkpoint.restore_failed',
    `${folder} was moved while files were put back. Nothing was changed; try again.`,
  );
}
