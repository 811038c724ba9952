import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { signal, waitForExit, workingIn } from '../serve/processes.ts';
import { browserNeeds, compilerNeeds, ensurePrograms } from './debian.ts';
import { withLock } from './lock.ts';
import { installFolder, nodeHeadersRoot, serverPackage } from './paths.ts';
import { restoreProposalGate } from './proposal-gate.ts';
import { run, SetUpError, say, step } from './run.ts';

/** An installed VS Code server. */
export interface VsCode {
  /** The folder that holds `out/server-main.js`. */
  readonly root: string;
  /** VS Code's own version, such as 1.139.1. */
  readonly version: string;
}

const nativeModules = [
  '@vscode/spdlog',
  'node-pty',
  '@parcel/watcher',
  '@vscode/native-watchdog',
  '@vscode/deviceid',
];

function npmEnvironment(): NodeJS.ProcessEnv {
  const headers = nodeHeadersRoot();
  return {
    ...process.env,
    // npm and its scripts must run on the Node that will run the server.
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    ...(headers && { npm_config_nodedir: headers }),
    npm_config_update_notifier: 'false',
  };
}

/** A step that a killed earlier run finished is not done again. */
async function once(work: string, name: string, what: string, act: () => Promise<void>) {
  const done = join(work, `.done-${name}`);
  if (existsSync(done)) return;
  await step(what, act);
  await writeFile(done, '');
}

async function unpack(work: string): Promise<void> {
  const env = npmEnvironment();
  await rm(join(work, 'stock'), { recursive: true, force: true });
  await mkdir(join(work, 'stock'));
  await run('npm', ['pack', serverPackage, '--silent', '--pack-destination', work], { env });
  const tarball = (await readdir(work)).find((name) => name.endsWith('.tgz'));
  if (!tarball) throw new SetUpError(`npm pack ${serverPackage} wrote no file.`);
  const into = join(work, 'stock');
  const parts = ['--strip-components=3', 'package/lib/vscode'];
  await run('tar', ['-xzf', join(work, tarball), '-C', into, ...parts]);
  await rm(join(work, tarball));
}

/** A set-up that was killed may have left a compiler at work in the folder. */
async function endLeftovers(work: string): Promise<void> {
  const left = workingIn(work).map(({ pid }) => pid);
  for (const pid of left) signal(pid, 'SIGKILL');
  await waitForExit(() => left, 5000);
}

/** Under the lock: nobody else builds in `work`. */
async function build(work: string): Promise<void> {
  const cwd = join(work, 'stock');
  const env = npmEnvironment();
  await endLeftovers(work);
  await mkdir(work, { recursive: true });
  await once(work, 'unpack', `Fetching VS Code (npm package ${serverPackage}, 47 MB)`, () =>
    unpack(work),
  );
  await once(work, 'install', "Installing the server's libraries (about 15 s)", async () => {
    const flags = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...flags], { cwd, env });
    // TypeScript, for VS Code's own language features.
    await run('npm', ['install', ...flags], { cwd: join(cwd, 'extensions'), env });
  });
  await once(work, 'rebuild', 'Compiling its native modules (about 50 s)', async () => {
    await run('npm', ['rebuild', ...nativeModules], { cwd, env });
  });
  await step('Restoring the proposed-API gate', async () => {
    await rm(join(work, 'gated'), { recursive: true, force: true });
    await run('cp', ['-al', cwd, join(work, 'gated')]);
    await restoreProposalGate(join(work, 'gated'));
  });
}

async function describe(folder: string): Promise<VsCode> {
  const root = join(folder, 'gated');
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest)) {
    throw new SetUpError(`${root} is damaged: delete ${folder} and try again.`);
  }
  return { root, version: String(manifest.version) };
}

/**
 * The VS Code server in the cache, fetched and built there on first use (about two minutes, once a
 * machine). Safe to call from several processes at once, and to kill at any point: the next call
 * goes on from the last finished step.
 */
export async function ensureVsCode(): Promise<VsCode> {
  const folder = installFolder();
  await ensurePrograms(browserNeeds);
  if (!existsSync(folder)) {
    const waiting = () => say('  Another process is fetching VS Code: waiting for it …');
    await withLock(`${folder}.lock`, waiting, async () => {
      if (existsSync(folder)) return;
      await ensurePrograms(compilerNeeds);
      await build(`${folder}.building`);
      await rename(`${folder}.building`, folder);
    });
  }
  return describe(folder);
}
