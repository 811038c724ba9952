import path from 'node:path';
import { absolutePath, canonicalPath, isInside, PathError } from '../files/resolve-path.ts';
import { isHarmlessProcess, processGuard } from '../process-paths.ts';
import type { ShellWord } from './commands/shell-words.ts';
import type { Surroundings } from './surroundings.ts';
import { knownFolder, leadsAway, processFloor } from './unknown-words.ts';

/** Devices that every command may use. */
export const DEVICES = /^\/dev\/(null|zero|stdin|stdout|stderr|tty|random|urandom|fd\/\d+)$/;

export type Look = { readonly floor?: string; readonly caution?: string };

/** What there is to say of a word of a command, which may be a path. */
export async function lookAtWord(
  word: ShellWord,
  isName: boolean,
  access: 'read' | 'write',
  folders: readonly string[],
  at: Surroundings,
): Promise<Look> {
  const { beginning, written } = writtenIn(word);
  const isPath =
    written !== null && !(isName && !written.startsWith('.')) && !DEVICES.test(written);
  const paths = isPath ? await locate(written, folders, at) : [];
  const looks = paths.map((file) => lookAtPath(file, written ?? '', access, at));
  const floor = looks.find((look) => look.floor !== undefined) ?? asWritten(written, folders);
  if (floor !== null) return floor;
  if (/^~[^/]/.test(word.text)) return { caution: `${word.text} leads to a home folder` };
  if (word.value === null) {
    const look = await lookAtHidden(word, beginning, access, folders, at);
    if (look !== null) return look;
  } else if (isHarmlessProcess(word.value) && access === 'read') return {};
  return looks.find((look) => look.caution !== undefined) ?? {};
}

/** What is known of a word before it runs: how it begins, and the path it names if that is certain. */
function writtenIn(word: ShellWord): { beginning: string; written: string | null } {
  if (word.value !== null) return { beginning: '', written: pathIn(word.value) };
  const beginning = pathIn(word.beginning ?? word.globPrefix ?? '') ?? '';
  const written =
    word.globPrefix === null ? knownFolder(beginning) || null : pathIn(word.globPrefix);
  return { beginning, written };
}

/** What there is to say of a word whose whole text only the shell will know; null if nothing. */
async function lookAtHidden(
  word: ShellWord,
  beginning: string,
  access: 'read' | 'write',
  folders: readonly string[],
  at: Surroundings,
): Promise<Look | null> {
  const shown = processFloor(word, beginning, folders);
  if (shown !== null) return { floor: shown };
  const caution = unknownCaution(word, access) ?? (await leadsAway(word, beginning, folders, at));
  return caution === null ? null : { caution };
}

/** Below `/proc` the name counts as it is written: there links lead to what another process has. */
function asWritten(written: string | null, folders: readonly string[]): Look | null {
  if (written === null) return null;
  for (const folder of folders) {
    const guard = processGuard(path.resolve(folder, written));
    if (guard?.level === 'deny') return { floor: `${written} ${guard.reason}` };
  }
  return null;
}

function lookAtPath(
  file: string,
  written: string,
  access: 'read' | 'write',
  at: Surroundings,
): Look {
  const guard = at.protectedPaths.guard(file, access);
  if (guard?.level === 'deny') return { floor: `${file} ${guard.reason}` };
  if (guard !== null) return { caution: `${file} ${guard.reason}` };
  return isOutside(file, written, at) ? { caution: `${file} is outside the workspace` } : {};
}

/** Why a word that only the shell knows needs a person; null where it does no harm. */
function unknownCaution(word: ShellWord, access: 'read' | 'write'): string | null {
  if (word.globPrefix === null)
    return access === 'write' || /[{}]/.test(word.text.replaceAll(/\$\{[^}]*\}/g, ''))
      ? `what ${word.text} stands for is only known when it runs`
      : null;
  const names = word.text.split('/');
  const hidden = names.some((name) => name.startsWith('.') && /[*?[]/.test(name));
  const secret = /\.(pem|key|p12|pfx)$/.test(names.at(-1) ?? '');
  return hidden || secret ? `${word.text} may match files that hold secrets` : null;
}

/** Where a written path may lead, for each folder the command may be in. */
export async function locate(
  written: string,
  folders: readonly string[],
  at: Surroundings,
): Promise<readonly string[]> {
  const found = await Promise.all(
    folders.map(async (cwd) => {
      // The shell has put in `~` already, but many programs do it too; `file:` stands for itself.
      const known = written.replace(/^~(?=\/|$)/, at.home);
      const plain = path.isAbsolute(known) ? known : `./${known}`;
      const rules = { cwd, home: at.home, flavour: path, links: at.links };
      try {
        return (await canonicalPath(absolutePath(plain, rules), rules)).path;
      } catch (error) {
        if (error instanceof PathError) return path.resolve('/', plain);
        throw error;
      }
    }),
  );
  return [...new Set(found)];
}

/** The path a word may hold: itself, or what follows an option's `=` or letter. */
function pathIn(value: string): string | null {
  if (value === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return null;
  const option = /^--?[^=]*=(.*)$/s.exec(value)?.[1] ?? /^-[A-Za-z]([/~.].*)$/s.exec(value)?.[1];
  if (option !== undefined) return option;
  if (value.startsWith('-')) return null;
  return /^\w+=(.*)$/s.exec(value)?.[1] ?? value;
}

/** `/foo/p` is no path on a machine without a `/foo`, but perhaps an expression for sed. */
function isOutside(file: string, written: string, at: Surroundings): boolean {
  const inside = [...at.workspace.roots, ...at.temporary].some((root) =>
    isInside(file, root, path),
  );
  if (inside) return false;
  if (!path.isAbsolute(written)) return true;
  const [, top = ''] = path.resolve(written).split(path.sep);
  return top === '' || TOP_FOLDERS.has(top) || at.home.startsWith(`/${top}/`);
}

const TOP_FOLDERS = new Set([
  'bin',
  'boot',
  'dev',
  'etc',
  'home',
  'lib',
  'lib64',
  'media',
  'mnt',
  'opt',
  'proc',
  'root',
  'run',
  'sbin',
  'srv',
  'sys',
  'tmp',
  'usr',
  'var',
  'Users',
  'System',
  'Library',
  'Applications',
  'Volumes',
  'private',
  'nix',
  'snap',
]);
