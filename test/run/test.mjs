// `npm test`: everything, from a fresh clone. A failed part stops nothing; the exit code says whether one did.
import { randomInt } from 'node:crypto';
import { jsonLinePart, runPart, stepPart, vitestPart } from './parts.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

await ensureInstalled();
const { ensurePrograms, preferHeadlessShell, toolNeeds } = await import(
  '../vscode/install/debian.ts'
);
await ensurePrograms(toolNeeds).catch((error) =>
  console.log(`${error.message}\nThe tests that need these are skipped.`),
);
await preferHeadlessShell();

// The sample of the crash tests differs from run to run; this repeats one.
process.env.PILOTHOUSE_SOAK = 'sample';
process.env.PILOTHOUSE_SEED ??= String(randomInt(2 ** 31));

async function build() {
  const start = performance.now();
  console.log('\n[build]');
  const failed = await ensureBuilt().then(
    () => 0,
    (error) => {
      console.log(error.message);
      return 1;
    },
  );
  return { name: 'build', passed: 1 - failed, failed, seconds: (performance.now() - start) / 1000 };
}

const results = [
  await runPart(stepPart('check', ['test/check/check.mjs'])),
  await build(),
  await runPart(vitestPart('unit')),
  await runPart(vitestPart('integration')),
  await runPart(jsonLinePart('host', ['test/vscode/run-host-tests.mjs'], { minutes: 30 })),
  await runPart(vitestPart('ui')),
  await runPart(vitestPart('soak')),
];

console.log('');
for (const { name, passed, failed, seconds } of results) {
  console.log(`${name.padEnd(12)} ${passed} passed, ${failed} failed, ${seconds.toFixed(1)} s`);
}
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
const failed = sum('failed');
if (failed > 0) console.log(`crash sample: PILOTHOUSE_SEED=${process.env.PILOTHOUSE_SEED}`);
console.log(`${sum('passed')} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
