import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ignoreMissing } from '../errors.ts';
import type { Git } from './run-git.ts';

/** Bytes as they are: no line ends, no filters, no keywords, no encodings, whatever the folder's own files say. */
const ATTRIBUTES = '* -text -filter -ident -working-tree-encoding\n';
/** What a write of this program leaves when it is killed. */
const OWN_TEMPORARIES = '.pilothouse-*.tmp\n';
/** Says that the store was made to its end. */
const READY = 'pilothouse-ready';
const LOCKS = ['index.lock', 'config.lock', 'HEAD.lock'];

/** Where a shadow store keeps its things and what it looks at. */
export type ShadowPlace = {
  readonly gitDir: string;
  /** The top of the repository that the root lies in, so that its ignore files count; else the root itself. */
  readonly top: string;
  /** The root as seen from `top`, with slashes; empty if they are the same. */
  readonly prefix: string;
};

/** What a shadow store is opened for. */
export type ShadowOptions = {
  readonly git: Git;
  readonly gitDir: string;
  readonly root: string;
  /** The program's own folder: never looked at, also if it lies inside the root. */
  readonly ownFolder: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
};

/** Opens or makes the store's folder, and clears the locks of a git that was killed. Throws `GitError`. */
export async function openShadow(options: ShadowOptions): Promise<ShadowPlace> {
  const { gitDir, root } = options;
  await mkdir(gitDir, { recursive: true, mode: 0o700 });
  await clearLocks(gitDir);
  const ready = path.join(gitDir, READY);
  if ((await stat(ready).catch(ignoreMissing)) === undefined) {
    const args = ['init', '--quiet', '--template=', '--object-format=sha256'];
    await quietly(options, root, args, [0]);
    await writeFile(ready, '');
  }
  const top = await repositoryTop(root);
  const prefix = path.relative(top, root).split(path.sep).join('/');
  await describe(options, top);
  if (prefix === '') return { gitDir, top, prefix };
  const ignored = await quietly(options, top, ['check-ignore', '--quiet', prefix], [0, 1]);
  if (ignored === 1) return { gitDir, top, prefix };
  await describe(options, root);
  return { gitDir, top: root, prefix: '' };
}

/** Removes what a git that was killed would keep others out with. Nobody else works in this folder. */
export async function clearLocks(gitDir: string): Promise<void> {
  await Promise.all(LOCKS.map((name) => rm(path.join(gitDir, name), { force: true })));
}

/** Makes git look at everything anew. */
export async function forgetIndex(gitDir: string): Promise<void> {
  await rm(path.join(gitDir, 'index'), { force: true });
}

async function quietly(
  { git, gitDir, deadlineMs, signal }: ShadowOptions,
  workTree: string,
  args: readonly string[],
  accepts: readonly number[],
): Promise<number> {
  const onOutput = (): void => undefined;
  return git({ args, cwd: workTree, gitDir, workTree, accepts, onOutput, deadlineMs, signal });
}

async function describe({ gitDir, ownFolder }: ShadowOptions, top: string): Promise<void> {
  const info = path.join(gitDir, 'info');
  await mkdir(info, { recursive: true });
  const theirs = await readFile(path.join(top, '.git', 'info', 'exclude'), 'utf8').catch(() => '');
  const own = path.relative(top, ownFolder).split(path.sep).join('/');
  const inside = own !== '' && !own.startsWith('../') && own !== '..' && !path.isAbsolute(own);
  const exclude = `${theirs}\n${OWN_TEMPORARIES}${inside ? `/${escaped(own)}/\n` : ''}`;
  await writeFile(path.join(info, 'attributes'), ATTRIBUTES);
  await writeFile(path.join(info, 'exclude'), exclude);
}

/** A name as an ignore file writes it. */
function escaped(name: string): string {
  return name.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`);
}

async function repositoryTop(root: string): Promise<string> {
  for (let folder = root; ; folder = path.dirname(folder)) {
    const found = await stat(path.join(folder, '.git')).catch(() => undefined);
    if (found !== undefined) return folder;
    if (path.dirname(folder) === folder) return root;
  }
}
