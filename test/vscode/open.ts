import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findProgram } from './install/debian.ts';
import { tryLock } from './install/lock.ts';
import { cacheFolder, checkout } from './install/paths.ts';
import { ensureVsCode, type VsCode } from './install/vscode.ts';
import { ensureSample } from './sample.ts';
import { linkExtensions } from './serve/extensions.ts';
import { type Server, ServerError, startServer } from './serve/server.ts';

/** What `npm start` was asked for. */
export interface StartOptions {
  /** Absolute; default: the sample project. */
  readonly folder: string | undefined;
  readonly port: number | undefined;
  readonly host: string;
  /** Whether to show the address in this machine's browser, where it has a screen. */
  readonly browser: boolean;
}

/** Tried first, so that the address stays the same from day to day. */
const usualPort = 8421;

const firstSettings = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'git.openRepositoryInParentFolders': 'never',
};

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function start(vsCode: VsCode, folder: string, options: StartOptions): Promise<Server> {
  const home = join(cacheFolder(), 'start');
  const folders = {
    userDataDir: join(home, 'user'),
    extensionsDir: join(home, 'extensions'),
    serverDataDir: join(home, 'server'),
  };
  for (const path of Object.values(folders)) await mkdir(path, { recursive: true });
  const settings = join(folders.userDataDir, 'User/settings.json');
  if (!existsSync(settings)) {
    await mkdir(dirname(settings), { recursive: true });
    await writeFile(settings, `${JSON.stringify(firstSettings, undefined, 2)}\n`);
  }
  await linkExtensions(folders.extensionsDir, [checkout]);
  const { host } = options;
  const how = { vsCode, ...folders, host, trust: true, development: false, defaultFolder: folder };
  if (options.port !== undefined) return startServer({ ...how, port: options.port });
  return startServer({ ...how, port: usualPort }).catch((error: unknown) => {
    if (error instanceof ServerError && error.code === 'port_taken') return startServer(how);
    throw error;
  });
}

function showInBrowser(url: string): void {
  const mac = process.platform === 'darwin';
  if (!mac && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return;
  const program = findProgram([mac ? 'open' : 'xdg-open']);
  if (!program) return;
  const child = spawn(program, [url], { detached: true, stdio: 'ignore' });
  child.on('error', () => say('  (no browser could be opened: open the address yourself)'));
  child.unref();
}

/** Resolves when the person wants to end: Ctrl+C, a signal, or whoever started us is gone. */
function endWanted(): Promise<void> {
  const starter = process.ppid;
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve());
    setInterval(() => {
      if (process.ppid !== starter) resolve();
    }, 1000).unref();
  });
}

/**
 * Opens VS Code with the extension in the browser and stays until the person ends it. Resolves with
 * the exit code once all it started is gone.
 */
export async function openInBrowser(options: StartOptions): Promise<number> {
  const vsCode = await ensureVsCode();
  const home = join(cacheFolder(), 'start');
  await mkdir(home, { recursive: true });
  const lock = tryLock(join(home, 'lock'));
  const note = join(home, 'url');
  if (!lock) {
    const url = (await readFile(note, 'utf8').catch(() => '')).trim();
    say(`npm start is running already: ${url}`);
    say(`For another folder there, open ${url}/?folder=/path/of/the/folder`);
    return 1;
  }
  const folder = options.folder ?? join(home, 'teapot');
  if (options.folder === undefined) await ensureSample(folder);
  const ending = endWanted();
  const server = await start(vsCode, folder, options);
  await writeFile(note, server.url);
  say('');
  say(`Pilothouse runs in VS Code ${vsCode.version}. Open this address in a browser:`);
  say('');
  say(`    ${server.url}/`);
  say('');
  say(`  Folder: ${folder}`);
  say('  Ctrl+C ends it, with everything it started.');
  if (options.browser) showInBrowser(`${server.url}/`);
  const ended = await Promise.race([ending, server.ended.then((code) => ({ code }))]);
  if (ended) say(`VS Code ended by itself with ${ended.code}:\n${server.log().slice(-3000)}`);
  else say('Ending VS Code …');
  await server.stop();
  lock.close();
  return ended ? 1 : 0;
}

/** The sample project, for a VS Code that is installed on this machine. */
export async function desktopSample(): Promise<string> {
  const folder = join(cacheFolder(), 'start/teapot');
  await mkdir(dirname(folder), { recursive: true });
  await ensureSample(folder);
  return folder;
}
