// `npm run bench`: what agent-core costs, each figure beside a bare baseline measured in the same run.
// Names of parts measure only those; --agent FILE measures a build that is already there.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { agent: { type: 'string' } },
});

await ensureInstalled();
if (values.agent === undefined) await ensureBuilt({ production: true });
const { PART_NAMES, runBench } = await import('../bench/run.ts');
const agent = resolve(values.agent ?? join(root, 'dist/agent-core.mjs'));
const missed = await runBench(agent, positionals.length > 0 ? positionals : PART_NAMES);
console.log(missed === 0 ? '\nAll aims are met.' : `\nMissed aims: ${missed}.`);
console.log(
  'The activation of the extension is not measured here: the host tests print it (npm run host).',
);
process.exitCode = missed === 0 ? 0 : 1;
