import path from 'node:path';
import type { Access, PolicyRule } from '../../session/tool.ts';
import { isInside } from '../files/resolve-path.ts';
import { isHarmlessProcess } from '../process-paths.ts';
import type { CommandPart, FileUse } from './commands/analysis-types.ts';
import { analyseCommand } from './commands/command-analysis.ts';
import { commandFloor } from './commands/command-floor.ts';
import { exactPattern, type MatchableWord } from './commands/command-pattern.ts';
import { gitCare } from './commands/git-settings.ts';
import { destroysWork, networkUse, writesFiles } from './commands/known-commands.ts';
import type { ShellWord } from './commands/shell-words.ts';
import type { Finding } from './finding.ts';
import { exactPath } from './path-pattern.ts';
import type { Surroundings } from './surroundings.ts';
import { wholeSite } from './url-pattern.ts';
import { DEVICES, locate, lookAtWord } from './word-looks.ts';

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
  const moved = analysis.moved || cwd !== at.workspace.cwd;
  const bound = parts.map((found, index) =>
    analysis.parts[index]?.unruled === true || isUnbound(found, folders, moved, at)
      ? unbound(found)
      : found,
  );
  const files = await Promise.all(analysis.files.map((use) => useFindings(use, folders, at)));
  const unknown = [...new Set(analysis.unknown)].map((why) => unknownFinding(command, why));
  const mentions = await mentionFindings(analysis.mentions, folders, at);
  const all = [...bound, ...files.flat(), ...mentions, ...unknown];
  // A script of nothing but comments or assignments still has to be about something.
  const found = all.length > 0 ? all : [unknownFinding(command, 'it holds no command')];
  return floor === null
    ? found
    : [{ subject: { kind: 'unknown' }, detail: command, floor, exact: null }, ...found];
}

/** True if what a command does depends on a folder that no rule names: one outside, or one that `./x` is looked for in. */
function isUnbound(
  { subject }: Finding,
  folders: readonly string[],
  moved: boolean,
  at: Surroundings,
): boolean {
  const outside = folders.some(
    (folder) => !at.workspace.roots.some((root) => isInside(folder, root, path)),
  );
  const named = subject.kind === 'execute' ? (subject.words[0]?.value ?? '') : '';
  return outside || (moved && named.includes('/'));
}

/** The same, but no rule can allow it. */
function unbound(finding: Finding): Finding {
  return { ...finding, onlyExact: true, exact: null };
}

function unknownFinding(command: string, why: string): Finding {
  return { subject: { kind: 'unknown' }, detail: command, caution: why, exact: null };
}

async function useFindings(
  use: FileUse,
  folders: readonly string[],
  at: Surroundings,
): Promise<readonly Finding[]> {
  const { target, access } = use;
  const { floor } = await lookAtWord(target, false, access, folders, at);
  if (floor !== undefined)
    return [{ subject: { kind: 'unknown' }, detail: target.text, floor, exact: null }];
  if (target.value === null)
    return [unknownFinding(target.text, 'the name of a file is only known when it runs')];
  if (DEVICES.test(target.value)) return [];
  if (isHarmlessProcess(target.value) && access === 'read') return [];
  const paths = await locate(target.value, folders, at);
  return paths.map((file) => fileFinding(access, file, at));
}

async function partFinding(
  part: CommandPart,
  folders: readonly string[],
  at: Surroundings,
): Promise<Finding> {
  const name = part.words[0]?.value ?? '';
  const access = writesFiles(part.words) ? 'write' : 'read';
  const looks = await Promise.all(
    part.words.map((word, index) =>
      lookAtWord(expression(word, name), index === 0, access, folders, at),
    ),
  );
  const git = gitCare(part.words);
  const floor = looks.map((look) => look.floor).find((reason) => reason !== undefined);
  const caution =
    looks.map((look) => look.caution).find((reason) => reason !== undefined) ??
    git?.caution ??
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
    ...(git === null ? {} : { onlyExact: true }),
    exact: pattern === null ? null : [allowRule('execute', pattern)],
  };
}

/** `"/$x/p"` is no path for a program that takes expressions: there nothing of it is known. */
function expression(word: ShellWord, name: string): ShellWord {
  const takes = /^(sed|awk|gawk|perl|grep|rg)$/.test(name);
  return takes && word.beginning === '/' && word.globPrefix === null
    ? { ...word, beginning: '' }
    : word;
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
