import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, SetUpError, say, step } from './run.ts';

/** The first of `names` that can be executed, by absolute path or on PATH. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) =>
    name.includes('/') ? [name] : folders.map((folder) => join(folder, name)),
  );
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** What the harness needs of the system: a Debian package and the programs that show it is there. */
interface Need {
  readonly package: string;
  readonly anyOf: readonly string[];
}

/** Chromium without its own windows: tests take a third of the processor time in it. */
const headlessShell = 'chromium-headless-shell';

const browserPrograms = [
  headlessShell,
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** What compiling the server's native modules needs (their headers come with the pinned Node). */
export const compilerNeeds: readonly Need[] = [
  { package: 'python3', anyOf: ['python3'] },
  { package: 'make', anyOf: ['make'] },
  { package: 'g++', anyOf: ['g++', 'clang++'] },
  { package: 'pkg-config', anyOf: ['pkg-config', 'pkgconf'] },
];

/** What showing and driving the workbench needs. */
export const browserNeeds: readonly Need[] = [
  { package: 'chromium', anyOf: browserPrograms },
  { package: 'git', anyOf: ['git'] },
];

/** What tests of the agent's own tools use where it is there: without it they are skipped. */
export const toolNeeds: readonly Need[] = [
  { package: 'ripgrep', anyOf: ['rg'] },
  { package: 'bubblewrap', anyOf: ['bwrap'] },
];

/** Installs the browser that tests are fastest in, where that can be done; else any other Chromium will do. */
export async function preferHeadlessShell(): Promise<void> {
  if (process.env['PILOTHOUSE_BROWSER']) return;
  await ensurePrograms([{ package: headlessShell, anyOf: [headlessShell] }]).catch((error) => {
    if (!findProgram(browserPrograms)) return; // Whoever needs a browser says what to do.
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    say(`The tests run slower, in another Chromium. ${why}`);
  });
}

/** The browser to drive: `PILOTHOUSE_BROWSER`, else a Chromium found on this machine. */
export function browserExecutable(): string {
  const named = process.env['PILOTHOUSE_BROWSER'];
  const found = findProgram(named ? [named] : browserPrograms);
  if (!found) throw new SetUpError('No Chromium found. Install one, or set PILOTHOUSE_BROWSER.');
  return found;
}

/**
 * Installs the packages of `needs` that are missing, when this is a Debian and we are root; else
 * throws with the exact command to run.
 */
export async function ensurePrograms(needs: readonly Need[]): Promise<void> {
  const missing = needs.filter((need) => !findProgram(need.anyOf)).map((need) => need.package);
  if (missing.length === 0) return;
  const apt = findProgram(['apt-get']);
  if (!apt)
    throw new SetUpError(`Missing on this machine: ${missing.join(', ')}. Install them first.`);
  if (process.getuid?.() !== 0) {
    const command = `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing.join(' ')}`;
    throw new SetUpError(
      `Missing on this machine: ${missing.join(', ')}. Run this, then try again:\n  ${command}`,
    );
  }
  const wait = ['-o', 'DPkg::Lock::Timeout=600'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await step(`Installing ${missing.join(', ')} with apt-get`, async () => {
    await run(apt, [...wait, 'update', '-qq'], { env });
    await run(apt, [...wait, 'install', '-y', '-qq', '--no-install-recommends', ...missing], {
      env,
    });
  });
}
