import path from 'node:path';
import picomatch from 'picomatch';

const ANY_CASE = process.platform === 'darwin' || process.platform === 'win32';

/**
 * True if a path rule's pattern covers an absolute path. A pattern is a glob: absolute, below `~/`, or relative to the
 * working folder.
 */
export function matchesPath(
  pattern: string,
  file: string,
  place: { readonly cwd: string; readonly home: string },
): boolean {
  const absolute = pattern.startsWith('~/')
    ? `${escapeGlob(place.home)}/${pattern.slice(2)}`
    : path.isAbsolute(pattern)
      ? pattern
      : `${escapeGlob(place.cwd)}/${pattern.replace(/^\.\//, '')}`;
  return picomatch.isMatch(posix(file), absolute, { dot: true, nocase: ANY_CASE });
}

/** The pattern that covers exactly one path. */
export function exactPath(file: string): string {
  return escapeGlob(file);
}

/** The pattern that covers a folder and everything in it. */
export function wholeFolder(folder: string): string {
  return `${escapeGlob(folder)}/**`;
}

function escapeGlob(file: string): string {
  return posix(file).replaceAll(/[\\*?[\]{}()!+@|$^#]/g, '\\$&');
}

function posix(file: string): string {
  return path.sep === '\\' ? file.replaceAll('\\', '/') : file;
}
