// `npm run check`: everything that can be said about the code without running it. Writes nothing but caches.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate } from '../run/generate.mjs';
import { manifestProblems } from './manifest.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const COMMANDS = {
  types: ['tsc', '-b'],
  biome: ['biome', 'ci', '--error-on-warnings'],
  oxlint: ['oxlint', '--type-aware', '--deny-warnings'],
  knip: [
    'knip',
    '--config',
    '.knip.json',
    '--no-progress',
    '--cache',
    '--cache-location',
    '.cache/knip',
  ],
};

function runCommand([name, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'node_modules/.bin', name), args, { cwd: root });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}

function runManifestCheck() {
  const problems = manifestProblems(root);
  return { ok: problems.length === 0, output: problems.map((problem) => `${problem}\n`).join('') };
}

async function timed(name, work) {
  const start = performance.now();
  const { ok, output } = await work();
  return { name, ok, output, seconds: (performance.now() - start) / 1000 };
}

/** Runs all checks at once and prints what failed. One result a check. */
export async function runChecks() {
  await generate();
  const results = await Promise.all([
    ...Object.entries(COMMANDS).map(([name, command]) => timed(name, () => runCommand(command))),
    timed('manifest', runManifestCheck),
  ]);
  for (const { name, ok, output, seconds } of results) {
    if (!ok) console.log(output.trimEnd());
    console.log(`[check] ${name} ${ok ? 'passed' : 'FAILED'} (${seconds.toFixed(1)} s)`);
  }
  return results;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const results = await runChecks();
  process.exitCode = results.every((result) => result.ok) ? 0 : 1;
}
