import type { PlatformPath } from 'node:path';
import { CodedError } from '../../../base/errors.ts';

/** No program of that name was found; the message names every place that was tried. */
export class ExecutableNotFound extends CodedError<'executable.not_found'> {
  constructor(command: string, tried: readonly string[], extensions: readonly string[]) {
    const kinds = extensions.length > 0 ? ` with the endings ${extensions.join(' ')}` : '';
    super(
      'executable.not_found',
      `The command ${command} was not found. Tried${kinds}: ${tried.length > 0 ? tried.join(', ') : 'an empty PATH'}. Install it, give its full path, or add its folder to PATH.`,
      { data: { command, tried } },
    );
  }
}

/** Where to look for programs. */
export type ExecutableSearch = {
  readonly windows: boolean;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flavour: PlatformPath;
  /** True for an existing file that may be executed. */
  isExecutable(file: string): Promise<boolean>;
};

/** What a bare Windows tries when PATHEXT is not set. */
const DEFAULT_PATHEXT = '.COM;.EXE;.BAT;.CMD';

/**
 * Finds the program that a command name stands for, as the operating system's shell would: a name with a separator is a
 * path, any other is looked up on PATH; on Windows the endings of PATHEXT are tried, the current folder is not. Throws
 * `ExecutableNotFound`.
 */
export async function findExecutable(command: string, search: ExecutableSearch): Promise<string> {
  const { flavour } = search;
  const isPath = command.includes('/') || (search.windows && command.includes('\\'));
  const folders = isPath ? [search.cwd] : pathFolders(search);
  const extensions = search.windows ? extensionsFor(command, search) : [''];
  for (const folder of command === '' ? [] : folders) {
    for (const extension of extensions) {
      const file = flavour.resolve(folder, command + extension);
      if (await search.isExecutable(file)) return file;
    }
  }
  const tried = isPath ? [flavour.resolve(search.cwd, command)] : folders;
  throw new ExecutableNotFound(
    command,
    tried,
    extensions.filter((extension) => extension !== ''),
  );
}

/** True if Windows can start the file only through its command interpreter, as the `.cmd` shims of npm. */
export function needsCommandInterpreter(file: string): boolean {
  return /\.(cmd|bat)$/i.test(file);
}

function pathFolders(search: ExecutableSearch): string[] {
  const list = variable(search, 'PATH') ?? '';
  const folders = list
    .split(search.windows ? ';' : ':')
    .map((folder) => (search.windows ? folder.replace(/^"(.*)"$/, '$1') : folder))
    // An empty entry means the current folder, where a workspace could plant a program.
    .filter((folder) => folder !== '' && search.flavour.isAbsolute(folder));
  return [...new Set(folders)];
}

function extensionsFor(command: string, search: ExecutableSearch): string[] {
  const known = (variable(search, 'PATHEXT') ?? DEFAULT_PATHEXT)
    .split(';')
    .filter((extension) => extension !== '')
    .map((extension) => extension.toLowerCase());
  const own = search.flavour.extname(command).toLowerCase();
  return known.includes(own) ? ['', ...known] : known;
}

/** Names of variables do not depend on case on Windows, where `Path` is the usual spelling. */
function variable(search: ExecutableSearch, name: string): string | undefined {
  if (!search.windows) return search.environment[name];
  const key = Object.keys(search.environment).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : search.environment[key];
}
