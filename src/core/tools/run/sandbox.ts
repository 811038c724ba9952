import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findGitFolders } from './git-folders.ts';
import { findOnHost } from './host-executables.ts';

/** What a command may reach. All paths absolute and canonical. */
export type SandboxScope = { readonly roots: readonly string[]; readonly cwd: string };

/** Puts commands into a sandbox, or says why there is none. */
export type Sandbox =
  | {
      readonly available: true;
      /** The argument list that runs `argv` inside; the first one is the program. */
      wrap(argv: readonly string[], scope: SandboxScope): readonly string[];
    }
  | { readonly available: false; readonly reason: string };

/** Places outside the workspace that commands need to write, where they exist: caches of package managers. */
const CACHES = [
  '.cache',
  '.npm',
  '.cargo/registry',
  '.local/share/pnpm',
  '.m2',
  '.gradle',
  'go/pkg',
];
const PROBE_MS = 3000;

/**
 * Looks for bubblewrap and tries it. Inside, the file system is read-only but for the workspace's roots, the folder for
 * temporary files and `writable`; configuration and hooks of the repositories there can only be read; the folders of `masked` are empty; processes outside can't be seen. The network is not
 * limited. A process left behind ends with the command.
 */
export async function probeSandbox(options: {
  readonly enabled: boolean;
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
  /** Folders whose content no command may see: the data folder. */
  readonly masked: readonly string[];
  readonly writable?: readonly string[];
}): Promise<Sandbox> {
  if (!options.enabled) return { available: false, reason: 'It is turned off.' };
  if (process.platform !== 'linux')
    return { available: false, reason: 'It needs bubblewrap, which runs on Linux only.' };
  const bwrap = await findOnHost('bwrap', options.environment);
  if (bwrap === null) return { available: false, reason: 'bubblewrap (bwrap) is not installed.' };
  const caches = CACHES.map((cache) => path.join(options.home, cache));
  const writable = [...(options.writable ?? []), ...caches].filter((folder) => existsSync(folder));
  const wrap = (argv: readonly string[], scope: SandboxScope): readonly string[] => [
    bwrap,
    ...fixedArguments(scope, writable, options.masked),
    '--',
    ...argv,
  ];
  const problem = await tryOut(wrap(['/bin/sh', '-c', 'exit 0'], { roots: [], cwd: '/' }));
  if (problem !== null) return { available: false, reason: `bubblewrap does not work: ${problem}` };
  return { available: true, wrap };
}

function fixedArguments(
  scope: SandboxScope,
  writable: readonly string[],
  masked: readonly string[],
): string[] {
  const temporary = [...new Set(['/tmp', '/var/tmp', tmpdir()])].filter((dir) => existsSync(dir));
  const git = findGitFolders(scope.roots);
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['--unshare-pid', '--unshare-ipc', '--die-with-parent'],
    ...[...temporary, ...writable, ...scope.roots].flatMap((folder) => ['--bind', folder, folder]),
    ...git.fixed.flatMap((each) => ['--bind', each, each]),
    ...git.readOnly.flatMap((each) => ['--ro-bind', each, each]),
    ...git.absent.flatMap((each) => ['--tmpfs', each, '--remount-ro', each]),
    ...masked.filter((folder) => existsSync(folder)).flatMap((folder) => ['--tmpfs', folder]),
    ...['--chdir', scope.cwd],
  ];
}

/** Null if the command ends well, else why not. */
async function tryOut(argv: readonly string[]): Promise<string | null> {
  const [program, ...rest] = argv;
  if (program === undefined) return 'there is nothing to run';
  return await new Promise((resolve) => {
    execFile(program, rest, { timeout: PROBE_MS, env: {} }, (error, _stdout, stderr) => {
      resolve(error === null ? null : stderr.trim() || error.message);
    });
  });
}
