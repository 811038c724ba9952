// The host tests: set-up, tests that drive VS Code from outside, and the suite inside its extension host.
// Arguments filter the former by file name. The last line is {"passed": n, "failed": n}.
import { ensureBuilt, ensureInstalled } from '../run/setup.mjs';

await ensureInstalled();
await ensureBuilt();
const { runHostTests } = await import('./host-tests.ts');
process.exit(await runHostTests(process.argv.slice(2)));
