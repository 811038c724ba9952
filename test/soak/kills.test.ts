import { describe, expect, it } from 'vitest';
import { randomFrom } from '../support/random.ts';
import { KillDrive } from '../support/soak/kills/drive.ts';
import { planOf } from '../support/soak/kills/plan.ts';

const FULL = process.env['PILOTHOUSE_SOAK'] === 'full';
const KILLS = Number(process.env['PILOTHOUSE_KILLS'] ?? (FULL ? 300 : 30));
const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
/** After so many kills a data folder is brought to its end, and another one begins. */
const KILLS_A_FOLDER = FULL ? 15 : 10;

describe(`agent-core, killed at random moments and points (seed ${SEED})`, () => {
  it(`loses nothing that it accepted and runs nothing twice over ${KILLS} kills`, {
    timeout: 3_600_000,
  }, async () => {
    const tally = new Map<string, number>();
    const count = (what: string, by = 1): void => {
      tally.set(what, (tally.get(what) ?? 0) + by);
    };
    const rounds = planOf(randomFrom(SEED), KILLS);
    const complaints: string[] = [];
    for (let from = 0; from < rounds.length; from += KILLS_A_FOLDER) {
      const drive = new KillDrive(count);
      for (const [index, round] of rounds.slice(from, from + KILLS_A_FOLDER).entries())
        for (const complaint of await drive.round(round))
          complaints.push(`kill ${from + index + 1} (${JSON.stringify(round.kill)}): ${complaint}`);
      for (const complaint of await drive.finish())
        complaints.push(`after kill ${from + KILLS_A_FOLDER}: ${complaint}`);
    }
    const figures = [...tally]
      .map(([what, times]) => `${what}: ${times}`)
      .sort((a, b) => a.localeCompare(b));
    console.log(`kills (seed ${SEED}): ${figures.join(', ')}`);
    expect(complaints.slice(0, 40)).toEqual([]);
    expect(tally.get('calls: completed')).toBeGreaterThan(0);
    expect(tally.get('killed at a point')).toBeGreaterThan(0);
  });

  it('does the same again with the same seed', () => {
    expect(planOf(randomFrom(SEED), 20)).toEqual(planOf(randomFrom(SEED), 20));
    expect(planOf(randomFrom(SEED), 20)).not.toEqual(planOf(randomFrom(SEED + 1), 20));
  });
});
