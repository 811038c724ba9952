import path from 'node:path';
import type { Access, PolicyRule, Workspace } from '../../session/tool.ts';
import {
  absolutePath,
  canonicalPath,
  isInside,
  PathError,
  type PathRules,
} from '../files/resolve-path.ts';
import type { ProtectedPaths } from '../protected-paths.ts';
import type { CommandPart, FileUse } from './commands/analysis-types.ts';
import { analyseCommand } from './commands/command-analysis.ts';
import { commandFloor } from './commands/command-floor.ts';
import { exactPattern, type MatchableWord } from './commands/command-pattern.ts';
import { destroysWork, networkUse, writesFiles } from './commands/known-commands.ts';
import type { ShellWord } from './commands/shell-words.ts';
import type { Finding } from './finding.ts';
import { exactPath } from './path-pattern.ts';
import { wholeSite } from './url-pattern.ts';

/** What the look at a call needs to know of the machine. */
export type Surroundings = {
  readonly workspace: Workspace;
  readonly home: string;
  readonly temporary: readonly string[];
  readonly links: PathRules['links'];
  readonly protectedPaths: ProtectedPaths;
  /** True if commands are run by a POSIX shell; others can't be taken apart. */
  readonly posixShell: boolean;
};

/** Takes an access apart into the things that rules are about. */
export async function findingsOf(access: Access, at: Surroundings): Promise<readonly Finding[]> {
  switch (access.kind) {
    case 'read':
    case 'write':
      return [fileFinding(access.kind, access.path, at)];
    case 'execute':
      return await commandFindings(access.command, access.cwd, at);
    case 'fetch': {
      const site = wholeSite(access.url);
      const exact = site === null ? null : [allowRule('fetch', site)];
      return [{ subject: access, detail: `fetch ${access.url}`, exact }];
    }
    case 'external': {
      const name = `${access.server}/${access.tool}`;
      return [{ subject: access, detail: `use ${name}`, exact: [allowRule('external', name)] }];
    }
    case 'session':
      return [{ subject: access, detail: 'change the session', exact: null }];
  }
}

function allowRule(kind: PolicyRule['kind'], pattern: string): PolicyRule {
  return { effect: 'allow', tool: '*', kind, pattern };
}

function fileFinding(kind: 'read' | 'write', file: string, at: Surroundings): Finding {
  const guard = at.protectedPaths.guard(file, kind);
  const inside = at.workspace.roots.some((root) => isInside(file, root, path));
  const outside =
    inside || at.temporary.some((folder) => isInside(file, folder, path))
      ? null
      : 'is outside the workspace';
  const why = guard?.level === 'ask' ? guard.reason : outside;
  return {
    subject: { kind, path: file, inside, place: { cwd: at.workspace.cwd, home: at.home } },
    detail: `${kind === 'read' ? 'read' : 'write to'} ${file}`,
    ...(guard?.level === 'deny' ? { floor: `${file} ${guard.reason}` } : {}),
    ...(why === null ? {} : { caution: `${file} ${why}`, onlyExact: true }),
    exact: [allowRule(kind, exactPath(file))],
  };
}

async function commandFindings(
  command: string,
  cwd: string,
  at: Surroundings,
): Promise<readonly Finding[]> {
  if (!at.posixShell) return [unknownFinding(command, 'commands of this shell can not be checked')];
  const analysis = analyseCommand(command, { home: at.home, cwd });
  const folders = [cwd, ...analysis.folders.flatMap(({ value }) => value ?? [])].map((folder) =>
    path.resolve(cwd, folder),
  );
  const floor = commandFloor(analysis, { home: at.home, cwd, roots: at.workspace.roots });
  const parts = await Promise.all(analysis.parts.map((part) => partFinding(part, folders, at)));
  const files = await Promise.all(analysis.files.map((use) => useFindings(use, folders, at)));
  const unknown = [...new Set(analysis.unknown)].map((why) => unknownFinding(command, why));
  const mentions = await mentionFindings(analysis.mentions, folders, at);
  const all = [...parts, ...files.flat(), ...mentions, ...unknown];
  // A script of nothing but comments or assignments still has to be about something.
  const found = all.length > 0 ? all : [unknownFinding(command, 'it holds no command')];
  return floor === null
    ? found
    : [{ subject: { kind: 'unknown' }, detail: command, floor, exact: null }, ...found];
}

function unknownFinding(command: string, why: string): Finding {
  return { subject: { kind: 'unknown' }, detail: command, caution: why, exact: null };
}

const DEVICES = /^\/dev\/(null|zero|stdin|stdout|stderr|tty|random|urandom|fd\/\d+)$/;

async function useFindings(
  use: FileUse,
  folders: readonly string[],
  at: Surroundings,
): Promise<readonly Finding[]> {
  const { target, access } = use;
  if (target.value === null)
    return [unknownFinding(target.text, 'the name of a file is only known when it runs')];
  if (DEVICES.test(target.value)) return [];
  const paths = await locate(target.value, folders, at);
  return paths.map((file) => fileFinding(access, file, at));
}

/** Where a written path may lead, for each folder the command may be in. */
async function locate(
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

async function partFinding(
  part: CommandPart,
  folders: readonly string[],
  at: Surroundings,
): Promise<Finding> {
  const name = part.words[0]?.value ?? '';
  const access = writesFiles(part.words) ? 'write' : 'read';
  const looks = await Promise.all(
    part.words.map((word, index) => lookAtWord(word, index === 0, access, folders, at)),
  );
  const floor = looks.map((look) => look.floor).find((reason) => reason !== undefined);
  const caution =
    looks.map((look) => look.caution).find((reason) => reason !== undefined) ??
    networkUse(part.words) ??
    destroysWork(part.words) ??
    (/^(sudo|doas)$/.test(name) ? `${name} gives it more rights` : undefined);
  const words: MatchableWord[] = part.words.map((word, index) => ({
    ...word,
    onlyExact: looks[index]?.caution !== undefined,
  }));
  const pattern = exactPattern(part);
  return {
    subject: { kind: 'execute', words },
    detail: part.text,
    ...(floor === undefined ? {} : { floor }),
    ...(caution === undefined ? {} : { caution }),
    exact: pattern === null ? null : [allowRule('execute', pattern)],
  };
}

type Look = { readonly floor?: string; readonly caution?: string };

async function lookAtWord(
  word: ShellWord,
  isName: boolean,
  access: 'read' | 'write',
  folders: readonly string[],
  at: Surroundings,
): Promise<Look> {
  const written = pathIn(word.value ?? word.globPrefix ?? '');
  const isPath =
    written !== null && !(isName && !written.startsWith('.')) && !DEVICES.test(written);
  const paths = isPath ? await locate(written, folders, at) : [];
  const looks = paths.map((file) => lookAtPath(file, written ?? '', access, at));
  const floor = looks.find((look) => look.floor !== undefined);
  if (floor !== undefined) return floor;
  const caution = word.value === null ? unknownCaution(word, access) : null;
  if (caution !== null) return { caution };
  return looks.find((look) => look.caution !== undefined) ?? {};
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

/** Words that a variable gets may be a path later on: they are looked at, though no rule can be about them. */
async function mentionFindings(
  words: readonly ShellWord[],
  folders: readonly string[],
  at: Surroundings,
): Promise<readonly Finding[]> {
  const looks = await Promise.all(
    words.map((each) => lookAtWord(each, false, 'read', folders, at)),
  );
  return looks.flatMap((look, index) => {
    if (look.floor === undefined && look.caution === undefined) return [];
    return [
      { subject: { kind: 'unknown' }, detail: words[index]?.text ?? '', ...look, exact: null },
    ];
  });
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
