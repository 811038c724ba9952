import type { PlatformPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CodedError } from '../../../base/errors.ts';

/** Why a path was refused. */
export type PathErrorCode =
  | 'path.empty'
  | 'path.nul'
  | 'path.too_long'
  | 'path.bad_uri'
  | 'path.outside'
  | 'path.unresolvable';

/** A path that may not be used; the message says why and is meant for the model. */
export class PathError extends CodedError<PathErrorCode> {}

/** What the resolver asks of the file system. Both reject with an error that carries the system's `code`. */
export interface LinkReader {
  /** The canonical path of an existing file, every link followed. */
  realpath(path: string): Promise<string>;
  /** The target of a symbolic link, as written in it; rejects for everything else. */
  readlink(path: string): Promise<string>;
}

/** How to read a path that a model or a person wrote. */
export type PathRules = {
  /** Relative paths start here; absolute and canonical. */
  readonly cwd: string;
  /** Nothing outside these is accepted; absolute and canonical. */
  readonly roots: readonly string[];
  /** What `~` stands for. */
  readonly home: string;
  readonly links: LinkReader;
  readonly flavour: PlatformPath;
};

/** A canonical path inside a root. */
export type ResolvedPath = {
  readonly path: string;
  readonly root: string;
  /** False if it, or a folder above it, does not exist yet. */
  readonly exists: boolean;
};

/** Limits of Linux and macOS, in bytes. */
const MAX_NAME = 255;
const MAX_PATH = 4096;
/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * Turns a written path into a canonical one inside the roots, or throws `PathError`. Accepts absolute and relative
 * paths, `~` and `file:` URIs, with any characters but NUL. Symbolic links are followed, also dangling ones and also
 * where the end of the path does not exist yet; what they lead to is what counts.
 */
export async function resolvePath(written: string, rules: PathRules): Promise<ResolvedPath> {
  const absolute = absolutePath(written, rules);
  const { path, exists } = await canonicalPath(absolute, rules);
  const root = rules.roots.find((candidate) => isInside(path, candidate, rules.flavour));
  if (root === undefined)
    throw new PathError(
      'path.outside',
      `${written} is outside the workspace${path === absolute ? '' : ` (it leads to ${path})`}. Use a path inside ${rules.roots.join(' or ')}.`,
    );
  return { path, root, exists };
}

/** The absolute form of a written path, `..` resolved by name; links are not looked at. Throws `PathError`. */
export function absolutePath(
  written: string,
  rules: Pick<PathRules, 'cwd' | 'home' | 'flavour'>,
): string {
  if (written.length === 0)
    throw new PathError('path.empty', 'The path is empty. Give the path of a file or folder.');
  if (written.includes('\0'))
    throw new PathError('path.nul', 'The path holds a NUL character, which no file name can.');
  const plain = /^file:/i.test(written) ? fromUri(written, rules.flavour) : written;
  const absolute = rules.flavour.resolve(rules.cwd, expandHome(plain, rules));
  const names = absolute.split(rules.flavour.sep);
  if (Buffer.byteLength(absolute) > MAX_PATH || names.some((n) => Buffer.byteLength(n) > MAX_NAME))
    throw new PathError('path.too_long', 'The path is longer than the file system allows.');
  return absolute;
}

function expandHome(path: string, rules: Pick<PathRules, 'home' | 'flavour'>): string {
  if (path === '~') return rules.home;
  const rest = /^~[/\\](.*)$/s.exec(path)?.[1];
  if (rest === undefined || (path[1] === '\\' && rules.flavour.sep === '/')) return path;
  return rules.flavour.join(rules.home, rest);
}

function fromUri(uri: string, flavour: PlatformPath): string {
  try {
    const path = fileURLToPath(uri, { windows: flavour.sep === '\\' });
    if (path.includes('\0')) throw new PathError('path.nul', 'The path holds a NUL character.');
    return path;
  } catch (cause) {
    if (cause instanceof PathError) throw cause;
    throw new PathError('path.bad_uri', `${uri} is not a file URI of this machine.`, { cause });
  }
}

/** Follows every link of an absolute path; names that do not exist are kept as they are. Throws `PathError`. */
export async function canonicalPath(
  absolute: string,
  rules: Pick<PathRules, 'links' | 'flavour'>,
): Promise<{ path: string; exists: boolean }> {
  let path = absolute;
  let missing: string[] = [];
  for (let followed = 0; followed <= MAX_LINKS; ) {
    const found = await attempt(rules.links.realpath(path), absolute);
    if (found !== null)
      return { path: rules.flavour.join(found, ...missing), exists: missing.length === 0 };
    const parent = rules.flavour.dirname(path);
    const target = await attempt(rules.links.readlink(path), absolute);
    if (target === null) {
      if (parent === path) return { path: absolute, exists: false };
      missing = [rules.flavour.basename(path), ...missing];
      path = parent;
      continue;
    }
    // A dangling link: go on with what it would lead to, from where the link really lies.
    followed += 1;
    const home = (await attempt(rules.links.realpath(parent), absolute)) ?? parent;
    path = rules.flavour.resolve(home, target, ...missing);
    missing = [];
  }
  throw new PathError('path.unresolvable', `${absolute} runs through too many symbolic links.`);
}

/** The value, or null where the name does not exist (or, for `readlink`, is no link). */
async function attempt(promise: Promise<string>, shown: string): Promise<string | null> {
  try {
    return await promise;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EINVAL') return null;
    throw new PathError('path.unresolvable', `${shown} can't be looked up (${String(code)}).`, {
      cause,
    });
  }
}

/** True if `path` is `folder` or lies in it; both canonical. */
export function isInside(path: string, folder: string, flavour: PlatformPath): boolean {
  const relative = flavour.relative(folder, path);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${flavour.sep}`) && !flavour.isAbsolute(relative))
  );
}
