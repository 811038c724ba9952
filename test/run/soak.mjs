// `npm run soak`: the crash tests at full length. `npm test` runs a sample of the same files.
// The tests read PILOTHOUSE_SOAK (`sample` or `full`) and PILOTHOUSE_SEED (a whole number).
import { randomInt } from 'node:crypto';
import { runPart, vitestPart } from './parts.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

await ensureInstalled();
await ensureBuilt();
process.env.PILOTHOUSE_SOAK = 'full';
process.env.PILOTHOUSE_SEED ??= String(randomInt(2 ** 31));
console.log(`[soak] PILOTHOUSE_SEED=${process.env.PILOTHOUSE_SEED}`);
const { failed } = await runPart(vitestPart('soak', { minutes: 600 }));
process.exitCode = failed === 0 ? 0 : 1;
