import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** What decides where the data folder is; injected so that every platform can be tested on any. */
export type DataFolderFacts = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
};

/** The facts of this process. */
export function ownDataFolderFacts(): DataFolderFacts {
  return { env: process.env, platform: process.platform, home: homedir() };
}

/**
 * The absolute path of the data folder: `PILOTHOUSE_HOME` (a leading `~` is the home folder), else the folder for
 * application data of the operating system. Throws `RangeError` with what to do if `PILOTHOUSE_HOME` is relative.
 */
export function dataFolder(facts: DataFolderFacts = ownDataFolderFacts()): string {
  const chosen = facts.env['PILOTHOUSE_HOME'];
  if (chosen !== undefined && chosen !== '') {
    const path = expandHome(chosen, facts.home);
    if (!isAbsolute(path)) {
      throw new RangeError(
        `PILOTHOUSE_HOME is "${chosen}", which is relative. Set it to an absolute path, for example ${join(facts.home, 'pilothouse')}.`,
      );
    }
    return path;
  }
  if (facts.platform === 'darwin') {
    return join(facts.home, 'Library', 'Application Support', 'Pilothouse');
  }
  if (facts.platform === 'win32') {
    return join(
      absoluteOr(facts.env['LOCALAPPDATA'], join(facts.home, 'AppData', 'Local')),
      'Pilothouse',
    );
  }
  // XDG Base Directory Specification: a relative XDG_DATA_HOME is to be ignored.
  return join(
    absoluteOr(facts.env['XDG_DATA_HOME'], join(facts.home, '.local', 'share')),
    'pilothouse',
  );
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') || path.startsWith('~\\')
    ? join(home, path.slice(1))
    : path;
}

function absoluteOr(path: string | undefined, fallback: string): string {
  return path !== undefined && isAbsolute(path) ? path : fallback;
}
