import { readdir } from 'node:fs/promises';
import path from 'node:path';
import picomatch from 'picomatch';
import { isInside } from '../files/resolve-path.ts';
import { processGuard, showsProcess } from '../process-paths.ts';
import type { ShellWord } from './commands/shell-words.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Where the known beginning of a word leads, for a word that only the shell knows whole: the folder before its last
 * slash, which everything it may stand for is below. Empty if nothing is known.
 */
export function knownFolder(beginning: string): string {
  return beginning.slice(0, beginning.lastIndexOf('/') + 1);
}

/** Why a word below `/proc`, of which only the beginning is known, is denied; null if it is not. */
export function processFloor(
  word: ShellWord,
  beginning: string,
  folders: readonly string[],
): string | null {
  const below = folders.some((folder) => joined(folder, beginning).startsWith('/proc/'));
  const mayBe = beginning.startsWith('/') && '/proc/'.startsWith(beginning);
  const names = plainText(word.text).split('/').slice(1);
  if (below && names.some(showsProcess))
    return `${word.text} shows the environment, memory or files of a process`;
  if (mayBe && names.at(-1) === 'environ') return `${word.text} shows the environment of a process`;
  return null;
}

/** Why a word that is known in part may lead to what is protected; null if it can't. */
export async function leadsAway(
  word: ShellWord,
  beginning: string,
  folders: readonly string[],
  at: Surroundings,
): Promise<string | null> {
  const why = `what ${word.text} stands for is only known when it runs`;
  const raw = plainText(word.text);
  if (/[?*+@!]\(/.test(word.text) || raw.endsWith('/environ')) return why;
  if (beginning !== '' && /(^|\/)\.\.(\/|$)/.test(raw.slice(knownFolder(beginning).length)))
    return why;
  const isGlob = word.globPrefix !== null && !/["'\\$`~]/.test(word.text);
  if (beginning === '' && !isGlob) return null;
  for (const folder of folders) {
    const start = joined(folder, beginning);
    const reached = isGlob
      ? at.protectedPaths.places.some((place) => mayMatch(joined(folder, word.text), place))
      : at.protectedPaths.places.some((place) => place.startsWith(start));
    if (reached) return why;
    if (isGlob && (await linksOut(joined(folder, word.text), at)))
      return `${word.text} matches a link that leads out of the workspace`;
  }
  return null;
}

/** The path below a folder, its end kept as it is written: a trailing slash means what is inside only. */
function joined(folder: string, written: string): string {
  if (written === '') return `${folder}/`;
  return path.isAbsolute(written) ? path.normalize(written) : path.join(folder, written);
}

function plainText(text: string): string {
  return text.replaceAll(/["'\\]/g, '');
}

/** True if a pattern with wildcards may match a place, a folder above it, or something in it. */
function mayMatch(pattern: string, place: string): boolean {
  const wanted = pattern.split('/').filter((name) => name !== '');
  const names = place.split('/').filter((name) => name !== '');
  return wanted
    .slice(0, names.length)
    .every((name, index) => matchesName(name, names[index] ?? ''));
}

function matchesName(pattern: string, name: string): boolean {
  if (!/[*?[]/.test(pattern)) return pattern === name;
  // The shell's wildcards leave out hidden names, unless the dot is written.
  return picomatch.isMatch(name, pattern.replaceAll(/\*+/g, '*'), {
    dot: pattern.startsWith('.'),
    nobrace: true,
    noextglob: true,
  });
}

/** True if the first name with a wildcard matches a link of the workspace that leads out of it. */
async function linksOut(pattern: string, at: Surroundings): Promise<boolean> {
  const names = pattern.split('/');
  const first = names.findIndex((name) => /[*?[]/.test(name));
  const folder = names.slice(0, first).join('/') || '/';
  if (first === -1 || !isIn(folder, at)) return false;
  const links = (await entries(folder)).filter((entry) => entry.isSymbolicLink());
  for (const { name } of links) {
    if (!matchesName(names[first] ?? '', name)) continue;
    const target = await realPath(path.join(folder, name), at);
    if (target !== null && (!isIn(target, at) || processGuard(target) !== null)) return true;
  }
  return false;
}

function isIn(file: string, at: Surroundings): boolean {
  return at.workspace.roots.some((root) => isInside(file, root, path));
}

async function entries(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Where there is no folder to be read, no wildcard matches.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

/** Where a link leads; null for one that leads nowhere. */
async function realPath(link: string, at: Surroundings): Promise<string | null> {
  try {
    return await at.links.realpath(link);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
