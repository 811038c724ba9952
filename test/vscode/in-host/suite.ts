import { writeFile } from 'node:fs/promises';

interface InHostTest {
  readonly name: string;
  readonly body: () => Promise<void> | void;
}

const tests: InHostTest[] = [];
const limit = 60_000;

/** Adds a test that runs inside VS Code's extension host, with the `vscode` module at hand. */
export function inHostTest(name: string, body: () => Promise<void> | void): void {
  tests.push({ name, body });
}

async function failure({ body }: InHostTest): Promise<string | undefined> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Not done after ${limit} ms.`)), limit);
  try {
    await Promise.race([body(), late.promise]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What VS Code calls in the module named by `--extensionTestsPath`. Runs the tests in order; the
 * counts go to the file named by `PILOTHOUSE_IN_HOST_RESULT`. Rejects when a test failed.
 */
export async function run(): Promise<void> {
  let failed = 0;
  for (const test of tests) {
    const why = await failure(test);
    if (why !== undefined) failed += 1;
    // The extension host's console is how a suite reports.
    console.log(why === undefined ? `  ✓ ${test.name}` : `  ✗ ${test.name}\n${why}`); // oxlint-disable-line no-console
  }
  const result = process.env['PILOTHOUSE_IN_HOST_RESULT'];
  if (result) await writeFile(result, JSON.stringify({ passed: tests.length - failed, failed }));
  if (failed > 0) throw new Error(`${failed} of ${tests.length} in-host tests failed`);
}
