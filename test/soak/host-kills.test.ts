import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../support/agent-core/agent-core.ts';
import { randomFrom } from '../support/random.ts';
import { HostKillDrive } from '../support/soak/host-kills/drive.ts';
import { HostWatch } from '../support/soak/host-kills/host-watch.ts';
import { hostPlanOf } from '../support/soak/host-kills/plan.ts';

const FULL = process.env['PILOTHOUSE_SOAK'] === 'full';
const KILLS = Number(process.env['PILOTHOUSE_HOST_KILLS'] ?? (FULL ? 200 : 20));
const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
/** After so many kills a data folder is brought to its end, and another one begins. */
const KILLS_A_FOLDER = FULL ? 10 : 20;

describe(`a session host with its doors and clients, one killed after another (seed ${SEED})`, () => {
  it(`loses nothing, leaves nothing behind and is never there twice over ${KILLS} kills`, {
    timeout: 3_600_000,
  }, async () => {
    const tally = new Map<string, number>();
    const count = (what: string, by = 1): void => {
      tally.set(what, (tally.get(what) ?? 0) + by);
    };
    const rounds = hostPlanOf(randomFrom(SEED), KILLS);
    const complaints: string[] = [];
    for (let from = 0; from < rounds.length; from += KILLS_A_FOLDER) {
      const drive = new HostKillDrive(count);
      try {
        for (const [index, round] of rounds.slice(from, from + KILLS_A_FOLDER).entries())
          for (const complaint of await drive.round(round))
            complaints.push(`kill ${from + index + 1} (${round.victim}): ${complaint}`);
        for (const complaint of await drive.finish())
          complaints.push(`after kill ${from + KILLS_A_FOLDER}: ${complaint}`);
      } finally {
        drive.dispose();
      }
    }
    const figures = [...tally]
      .map(([what, times]) => `${what}: ${times}`)
      .sort((a, b) => a.localeCompare(b));
    console.log(`host kills (seed ${SEED}): ${figures.join(', ')}`);
    expect(complaints.slice(0, 40)).toEqual([]);
    expect(tally.get('calls: completed')).toBeGreaterThan(0);
    expect(tally.get('looks for a second host')).toBeGreaterThan(KILLS);
  });

  it('would see a second host', async () => {
    const home = tempFolder('home');
    mkdirSync(join(home, 'run'));
    const watch = new HostWatch(home);
    onTestFinished(() => watch.dispose());
    for (const name of ['a.sock', 'b.sock']) {
      watch.look();
      expect(watch.seen.size).toBe(0);
      const server = createServer().listen(join(home, 'run', name));
      onTestFinished(() => void server.close());
      await once(server, 'listening');
    }
    watch.look();
    expect([...watch.seen]).toEqual([expect.stringContaining('a.sock')]);
  });

  it('does the same again with the same seed', () => {
    expect(hostPlanOf(randomFrom(SEED), 20)).toEqual(hostPlanOf(randomFrom(SEED), 20));
    expect(hostPlanOf(randomFrom(SEED), 20)).not.toEqual(hostPlanOf(randomFrom(SEED + 1), 20));
  });
});
