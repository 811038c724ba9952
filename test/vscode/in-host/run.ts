import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { z } from 'zod';
import { cacheFolder, checkout } from '../install/paths.ts';
import { say } from '../install/run.ts';
import { ensureSample } from '../sample.ts';
import { stopHost } from '../serve/session-hosts.ts';

const counts = z.object({ passed: z.number(), failed: z.number() });

/** The stand-in for desktop VS Code: the cached server and Chromium. */
export const launcher = join(checkout, 'test/vscode/launcher.sh');

/** Bundles test files and their runner into one module for `--extensionTestsPath`. */
export async function bundleSuite(files: readonly string[], outfile: string): Promise<void> {
  const imports = files.map((file) => `import ${JSON.stringify(file)};`);
  const runner = JSON.stringify(join(import.meta.dirname, 'suite.ts'));
  await build({
    stdin: {
      contents: [...imports, `export { run } from ${runner};`].join('\n'),
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['vscode'],
    sourcemap: 'inline',
    outfile,
  });
}

/** Whether Microsoft's download service answers; asked only where a desktop window could show. */
async function canDownload(): Promise<boolean> {
  const screen = process.platform !== 'linux' || process.env['DISPLAY'];
  if (!screen || !process.env['PILOTHOUSE_DESKTOP_TESTS']) return false;
  const url = 'https://update.code.visualstudio.com/api/releases/stable';
  return fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(3000) }).then(
    (response) => response.ok,
    () => false,
  );
}

/** The program that runs the suite: a desktop VS Code where there is one, else our launcher. */
async function executable(): Promise<string> {
  const named = process.env['VSCODE_EXECUTABLE'];
  if (named) return named;
  if (!(await canDownload())) return launcher;
  return downloadAndUnzipVSCode({ version: 'stable', cachePath: join(cacheFolder(), 'desktop') });
}

/** Runs `test/host/in-host/*.ts` inside an extension host, with the extension under development. */
export async function runInHostSuite(
  scratch: string,
): Promise<{ readonly passed: number; readonly failed: number }> {
  const folder = join(checkout, 'test/host/in-host');
  const names = existsSync(folder) ? await readdir(folder) : [];
  const files = names.filter((name) => name.endsWith('.test.ts')).sort();
  if (files.length === 0) return { passed: 0, failed: 0 };
  const suite = join(scratch, 'suite.cjs');
  const result = join(scratch, 'in-host.json');
  const workspace = join(scratch, 'workspace');
  const home = join(scratch, 'home');
  await mkdir(home, { recursive: true });
  await ensureSample(workspace);
  await bundleSuite(
    files.map((name) => join(folder, name)),
    suite,
  );
  const program = await executable();
  say(`In-host suite (${files.length} files) by ${program}`);
  const code = await runTests({
    vscodeExecutablePath: program,
    extensionDevelopmentPath: checkout,
    extensionTestsPath: suite,
    extensionTestsEnv: { PILOTHOUSE_IN_HOST_RESULT: result, PILOTHOUSE_HOME: home },
    launchArgs: [
      workspace,
      `--user-data-dir=${join(scratch, 'user')}`,
      `--extensions-dir=${join(scratch, 'extensions')}`,
    ],
  }).catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  });
  await stopHost(home);
  const text = await readFile(result, 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1 };
  const found = counts.parse(JSON.parse(text));
  return code !== 0 && found.failed === 0 ? { ...found, failed: 1 } : found;
}
