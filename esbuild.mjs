// Builds dist/. Flags: --watch, --production (minified, no maps), --meta (prints what is in each file).
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { generate } from './test/run/generate.mjs';

const root = dirname(fileURLToPath(import.meta.url));
const flags = new Set(process.argv.slice(2));
const EXTENSION_MAX_BYTES = 300_000;
const production = flags.has('--production');

const common = {
  absWorkingDir: root,
  bundle: true,
  logLevel: 'warning',
  metafile: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': production ? '"production"' : '"development"' },
};

/** The transcript client is a file of its own, required on first use. */
const transcriptApart = {
  name: 'transcript-apart',
  setup(build) {
    build.onResolve({ filter: /\/transcript\/bundle\.ts$|^\.\/bundle\.ts$/ }, (args) =>
      args.kind === 'dynamic-import' ? { path: './transcript.cjs', external: true } : undefined,
    );
  },
};

/** So is JSON-RPC, required when agent-core is started. */
const wireApart = {
  name: 'wire-apart',
  setup(build) {
    build.onResolve({ filter: /\/wire\/bundle\.ts$/ }, (args) =>
      args.kind === 'dynamic-import' ? { path: './wire.cjs', external: true } : undefined,
    );
  },
};

/** So is what looks back and decides about staged edits. */
const controlApart = {
  name: 'control-apart',
  setup(build) {
    build.onResolve({ filter: /\/control\/bundle\.ts$/ }, (args) =>
      args.kind === 'dynamic-import' ? { path: './control.cjs', external: true } : undefined,
    );
  },
};

/** zod's index brings the messages of all its languages; ours are made by us, so one is enough. */
const zodInEnglish = {
  name: 'zod-in-english',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** Of the manifest agent-core needs the version alone. */
const versionOnly = {
  name: 'version-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]package\.json$/ }, async ({ path }) => {
      if (path !== join(root, 'package.json')) return undefined;
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

const extensionHost = {
  ...common,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  external: ['vscode'],
  // VS Code hands out `vscode` to require() only, so a dynamic import becomes one.
  supported: { 'dynamic-import': false },
};

const bundles = [
  {
    ...extensionHost,
    entryPoints: ['src/extension/main.ts'],
    outfile: 'dist/extension.cjs',
    plugins: [transcriptApart, controlApart, wireApart, zodInEnglish],
  },
  {
    ...extensionHost,
    entryPoints: ['src/extension/core/wire/bundle.ts'],
    outfile: 'dist/wire.cjs',
  },
  {
    ...extensionHost,
    entryPoints: ['src/extension/control/bundle.ts'],
    outfile: 'dist/control.cjs',
    plugins: [zodInEnglish],
  },
  {
    ...extensionHost,
    entryPoints: ['src/extension/transcript/bundle.ts'],
    outfile: 'dist/transcript.cjs',
  },
  {
    ...common,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    // Dynamic imports become chunks, so that start-up never parses a model provider.
    splitting: true,
    plugins: [zodInEnglish, versionOnly],
    mainFields: ['module', 'main'],
    define: {
      ...common.define,
      // The WebSocket library would look for native helpers wherever this is installed.
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
    },
    entryPoints: [
      { in: 'src/core/main.ts', out: 'agent-core' },
      { in: 'src/core/journal/worker.ts', out: 'agent-core/journal-worker' },
    ],
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'agent-core/[name]-[hash]',
    banner: {
      js: "import { createRequire as createRequire_ } from 'node:module'; const require = createRequire_(import.meta.url);",
    },
  },
  {
    ...common,
    platform: 'browser',
    target: 'es2023',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryPoints: [
      { in: 'media/chat/main.tsx', out: 'chat' },
      { in: 'media/receipts/main.tsx', out: 'receipts' },
    ],
    outdir: 'dist/media',
    loader: { '.ttf': 'file', '.svg': 'text' },
    assetNames: '[name]',
  },
];

async function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function copyIcons() {
  const from = join(root, 'node_modules/@vscode/codicons/dist');
  const to = join(root, 'dist/media');
  await mkdir(to, { recursive: true });
  await cp(join(from, 'codicon.css'), join(to, 'codicon.css'));
  await cp(join(from, 'codicon.ttf'), join(to, 'codicon.ttf'));
}

/** Chunk names carry a hash: what this build did not write is left over from an earlier one. */
async function removeStaleChunks(outputs) {
  const folder = join(root, 'dist/agent-core');
  if (!(await exists(folder))) return;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const output = relative(root, path).replaceAll('\\', '/');
    if (!(output in outputs)) await rm(path);
  }
}

/** Activation parses this file whole, so its size is a promise. */
function checkBudget(outputs) {
  const bytes = outputs['dist/extension.cjs']?.bytes ?? 0;
  if (production && bytes > EXTENSION_MAX_BYTES) {
    console.error(`dist/extension.cjs has ${bytes} bytes, more than ${EXTENSION_MAX_BYTES}`);
    process.exitCode = 1;
  }
}

function report(outputs) {
  const files = Object.entries(outputs).filter(([file]) => !file.endsWith('.map'));
  for (const [file, { bytes, inputs }] of files.sort(([, a], [, b]) => b.bytes - a.bytes)) {
    console.log(`${file}  ${(bytes / 1000).toFixed(1)} kB`);
    const parts = Object.entries(inputs).sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput);
    for (const [input, { bytesInOutput }] of parts.slice(0, 8)) {
      console.log(`    ${(bytesInOutput / 1000).toFixed(1)} kB  ${input}`);
    }
  }
}

async function buildOnce() {
  const results = await Promise.all(bundles.map((bundle) => esbuild.build(bundle)));
  const outputs = Object.assign({}, ...results.map((result) => result.metafile.outputs));
  await removeStaleChunks(outputs);
  checkBudget(outputs);
  if (flags.has('--meta')) {
    await writeFile(join(root, 'dist/meta.json'), JSON.stringify({ outputs }));
    report(outputs);
  }
}

async function watch() {
  for (const bundle of bundles) {
    const context = await esbuild.context({ ...bundle, logLevel: 'info' });
    await context.watch();
  }
  console.log('esbuild: watching');
}

await generate();
// What stands in dist/ from here on is no longer what an earlier set-up recorded.
await rm(join(root, 'dist/.stamp'), { force: true });
await copyIcons();
await (flags.has('--watch') ? watch() : buildOnce());
