import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runInHostSuite } from './in-host/run.ts';
import { preferHeadlessShell } from './install/debian.ts';
import { checkout } from './install/paths.ts';
import { SetUpError, say } from './install/run.ts';
import { ensureVsCode } from './install/vscode.ts';
import { endWithUs } from './serve/end-with-us.ts';

/** How many tests passed and failed. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numFailedTestSuites: z.number(),
});

/** Runs a program of Node with its output shown; resolves with its exit code. */
function runNode(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: checkout, stdio: 'inherit' });
    const owned = endWithUs(() => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('close', (code) => {
      owned.dispose();
      resolve(code ?? 1);
    });
  });
}

async function runVitest(filters: readonly string[], scratch: string): Promise<Counts> {
  const report = join(scratch, 'vitest.json');
  const code = await runNode([
    'node_modules/vitest/vitest.mjs',
    ...['run', '--config', 'test/vscode/vitest.config.ts'],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ...filters,
  ]);
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1 };
  const counts = vitestReport.parse(JSON.parse(text));
  const failed = counts.numFailedTests;
  // A file that could not even be loaded has no failed test, but it failed.
  return { passed: counts.numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed };
}

/** Runs everything (with filters: only the tests from outside) and resolves with the exit code. */
export async function runHostTests(filters: readonly string[]): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), 'pilothouse-host-tests-'));
  const results: Counts[] = [];
  try {
    await preferHeadlessShell();
    const { version } = await ensureVsCode();
    say(`Host tests in VS Code ${version}`);
    await mkdir(scratch, { recursive: true });
    results.push(await runVitest(filters, scratch));
    if (filters.length === 0) results.push(await runInHostSuite(scratch));
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    say(error.message);
    results.push({ passed: 0, failed: 1 });
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  const sum = (key: keyof Counts) => results.reduce((total, counts) => total + counts[key], 0);
  const total = { passed: sum('passed'), failed: sum('failed') };
  process.stdout.write(`${JSON.stringify(total)}\n`);
  return total.failed === 0 ? 0 : 1;
}
