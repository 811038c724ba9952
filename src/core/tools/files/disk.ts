import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Workspace } from '../../session/tool.ts';
import {
  type LinkReader,
  PathError,
  type PathRules,
  type ResolvedPath,
  resolvePath,
} from './resolve-path.ts';

/** Links as this machine's file system has them. */
export const diskLinks: LinkReader = {
  realpath: (file) => realpath(file),
  readlink: (file) => readlink(file),
};

/** The rules for paths of a workspace on this machine. */
export function pathRules(workspace: Workspace, home: string): PathRules {
  return {
    cwd: workspace.cwd,
    roots: workspace.roots,
    home,
    links: diskLinks,
    flavour: path,
  };
}

/** Resolves a written path on this machine; throws `PathError`. */
export async function resolveInWorkspace(
  written: string,
  workspace: Workspace,
  home: string,
): Promise<ResolvedPath> {
  return await resolvePath(written, pathRules(workspace, home));
}

/** A path for a reader: relative to the working folder where it lies in it. */
export function shownPath(absolute: string, workspace: Workspace): string {
  const relative = path.relative(workspace.cwd, absolute);
  if (relative === '') return '.';
  return relative.startsWith('..') || path.isAbsolute(relative) ? absolute : relative;
}

/**
 * Opens a resolved file for reading. Fails with `PathError` if the path has become another one since it was resolved,
 * so that a link slipped in meanwhile is not followed; fails for anything but a regular file.
 */
export async function openResolved(file: string): Promise<FileHandle> {
  // Without O_NONBLOCK the open of a FIFO would wait for a writer.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(file, flags);
  try {
    const [opened, named, now] = await Promise.all([handle.stat(), lstat(file), realpath(file)]);
    if (now !== file || opened.ino !== named.ino || opened.dev !== named.dev) throw moved(file);
    if (opened.isDirectory())
      throw Object.assign(new Error('is a directory'), { code: 'EISDIR', path: file });
    if (!opened.isFile())
      throw new PathError('path.unresolvable', `${file} is not a regular file.`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The error for a path that changed between the check and the use. */
export function moved(file: string): PathError {
  return new PathError(
    'path.outside',
    `${file} changed while it was being used: a folder of its path was replaced. Try again.`,
  );
}
