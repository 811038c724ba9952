// What has to be true before anything runs: packages installed, pinned Node running, dist/ built.
// Runs on a bare Node ≥ 20, so it imports nothing but Node's own modules.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's top folder. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const modules = join(root, 'node_modules');
const pinnedNode = join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
const buildStamp = join(root, 'dist/.stamp');

function say(text) {
  console.log(`[setup] ${text}`);
}

/** Runs a command to its end, output shown. Rejects when it fails. */
function run(command, args, { cwd = root, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${basename(command)} ${args.join(' ')} ended with ${signal ?? code}`));
    });
  });
}

/** The environment without what an outer `npm run` put there, which would mislead an inner npm. */
function plainEnvironment() {
  const isOuter = (name) => /^npm_(package|lifecycle|config_local_prefix)/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOuter(name)));
}

function npmCommand() {
  const npmCli = process.env.npm_execpath;
  if (npmCli !== undefined && basename(npmCli).startsWith('npm-cli')) {
    return { command: process.execPath, prefix: [npmCli] };
  }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', prefix: [] };
}

/** Why node_modules is not what package-lock.json asks for; undefined when it is. */
function whyInstall() {
  // npm writes this file when an install is complete, so an interrupted one is noticed too.
  const written = join(modules, '.package-lock.json');
  if (!existsSync(written)) return 'no packages are installed';
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readFileSync(written, 'utf8')).packages;
  for (const [path, entry] of Object.entries(wanted)) {
    const found = present[path]?.version;
    const isAbsentOption = found === undefined && entry.optional === true;
    if (path !== '' && !isAbsentOption && found !== entry.version) {
      return `${path.slice('node_modules/'.length)} should be ${entry.version}, is ${found ?? 'missing'}`;
    }
  }
  return undefined;
}

/** npm may be set up to withhold install scripts; then the pinned Node has to be fetched by hand. */
async function ensurePinnedNode() {
  if (!existsSync(pinnedNode)) {
    say('fetching the pinned Node, whose install script did not run');
    const options = { cwd: join(modules, 'node'), env: plainEnvironment() };
    await run(process.execPath, ['installArchSpecificPackage.js'], options);
  }
  // npm links a command only where it found the program, and every npm script needs this one.
  const link = join(modules, '.bin/node');
  if (process.platform !== 'win32' && !existsSync(link)) {
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), pinnedNode), link);
  }
}

/** Continues in the pinned Node: this process then only waits and ends as that one does. */
async function continueOnPinnedNode() {
  const wanted = JSON.parse(readFileSync(join(modules, 'node/package.json'), 'utf8')).version;
  if (process.versions.node === wanted) return;
  const child = spawn(pinnedNode, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  await new Promise((_resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
  });
}

/**
 * Installs the packages of package-lock.json where they are missing or differ, then makes sure that the
 * pinned Node runs the program: on any other Node it starts `process.argv` again and never returns.
 */
export async function ensureInstalled() {
  const reason = whyInstall();
  if (reason !== undefined) {
    say(`npm ci, because ${reason} (about a minute)`);
    const { command, prefix } = npmCommand();
    const args = [...prefix, 'ci', '--include=dev', '--no-audit', '--no-fund'];
    await run(command, args, { env: plainEnvironment() });
  }
  await ensurePinnedNode();
  process.env.PATH = `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}`;
  await continueOnPinnedNode();
  const { generate } = await import('./generate.mjs');
  await generate();
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A digest of everything that dist/ is made from. */
function sourcesDigest() {
  const files = [
    ...['package.json', 'package-lock.json', 'esbuild.mjs'].map((name) => join(root, name)),
    ...filesBelow(join(root, 'src')),
    ...filesBelow(join(root, 'media')),
  ].sort();
  const digest = createHash('sha256');
  for (const file of files) {
    digest
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return digest.digest('hex');
}

/** Builds dist/ where it is missing, older than its sources, or of the other kind. */
export async function ensureBuilt({ production = false } = {}) {
  const stamp = `${production ? 'production' : 'development'} ${sourcesDigest()}`;
  if (existsSync(buildStamp) && readFileSync(buildStamp, 'utf8') === stamp) return;
  say('building dist/');
  await run(process.execPath, ['esbuild.mjs', ...(production ? ['--production'] : [])]);
  writeFileSync(buildStamp, stamp);
}
