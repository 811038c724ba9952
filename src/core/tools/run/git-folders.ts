import { accessSync, constants, type Dirent, existsSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

const MAX_DEPTH = 3;
/** Folders looked into before the search gives up, so that a large workspace does not hold up a command. */
const MAX_FOLDERS = 2000;
const SKIPPED = new Set(['node_modules', '.venv', 'target', 'dist']);

/** What git runs programs by: the parts of a repository that no command in the sandbox may change. */
export type GitFolders = {
  /** Folders that must not be moved away, so that another one takes their place. */
  readonly fixed: readonly string[];
  /** Files and folders that may only be read, where they exist. */
  readonly readOnly: readonly string[];
  /** Folders of hooks that do not exist and must not come to be. */
  readonly absent: readonly string[];
};

/** Finds the repositories at the roots and a few folders below them. Waits for the disk, but for a bounded look. */
export function findGitFolders(roots: readonly string[]): GitFolders {
  const found = { fixed: [] as string[], readOnly: [] as string[], absent: [] as string[] };
  let looked = 0;
  const level = (folders: readonly string[], depth: number): void => {
    const next: string[] = [];
    for (const folder of folders) {
      looked += 1;
      if (looked > MAX_FOLDERS) return;
      for (const entry of entries(folder)) {
        const full = path.join(folder, entry.name);
        if (entry.name === '.git') addRepository(entry, full, found);
        else if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(full);
      }
    }
    if (depth < MAX_DEPTH && next.length > 0) level(next, depth + 1);
  };
  level(roots, 0);
  return found;
}

type Found = { fixed: string[]; readOnly: string[]; absent: string[] };

function addRepository(entry: Dirent, full: string, found: Found): void {
  // In a worktree or submodule it is a file that names the real folder.
  if (entry.isFile()) found.readOnly.push(full);
  if (!entry.isDirectory()) return;
  found.fixed.push(full);
  addGitFolder(full, found);
  for (const { name } of entries(path.join(full, 'modules'))) {
    const module = path.join(full, 'modules', name);
    if (existsSync(path.join(module, 'HEAD'))) addGitFolder(module, found);
  }
}

function addGitFolder(folder: string, found: Found): void {
  const names = new Set(entries(folder).map(({ name }) => name));
  for (const name of ['config', 'config.worktree', 'commondir', 'hooks'])
    if (names.has(name)) addReadOnly(path.join(folder, name), found);
  // A folder that is no repository (yet) gets no hooks folder; nor can one come to be where nothing can be written.
  if (!names.has('hooks') && names.has('HEAD') && isWritable(folder))
    found.absent.push(path.join(folder, 'hooks'));
}

/** What a link leads to is what counts; one that leads nowhere is left as it is. */
function addReadOnly(file: string, found: Found): void {
  try {
    found.readOnly.push(realpathSync(file));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

function entries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // A folder that is gone or may not be read holds nothing that a command could change either.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}
