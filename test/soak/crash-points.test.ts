import { describe, expect, it } from 'vitest';
import { randomFrom } from '../support/random.ts';
import type { Scenario } from '../support/soak/sweep/scenario.ts';
import {
  assignment,
  dieAt,
  inPairs,
  SCENARIOS,
  stepsOf,
  type Verdict,
} from '../support/soak/sweep/sweep.ts';

const FULL = process.env['PILOTHOUSE_SOAK'] === 'full';
const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
/** A sample tries so many points of so many scenarios. */
const SAMPLE = { points: 8, scenarios: 3 };
/** For looking into something: only points that hold one of these texts, separated by commas. */
const ONLY = process.env['PILOTHOUSE_POINTS']?.split(',');

/** Records that nothing writes: two are only read, from older databases, and two are for a host of its own. */
const UNWRITTEN = [
  'append/command_accepted',
  'append/inject_accepted',
  'append/client_attached',
  'append/client_detached',
];

function shuffled<T>(from: readonly T[], random: () => number): readonly T[] {
  return from
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

describe(`agent-core, killed at its crash points (seed ${SEED})`, () => {
  const passed = new Map<Scenario, ReadonlySet<string>>();
  const random = randomFrom(SEED);
  const scenarios = FULL ? SCENARIOS : shuffled(SCENARIOS, random).slice(0, SAMPLE.scenarios);

  it('has nothing to complain of in scenarios that nobody kills', async () => {
    const untouched: string[] = [];
    await inPairs(scenarios, async (scenario) => {
      const { steps, complaints } = await stepsOf(scenario);
      passed.set(scenario, steps);
      untouched.push(...complaints.map((complaint) => `${scenario.name}: ${complaint}`));
    });
    expect(untouched).toEqual([]);
  });

  if (FULL)
    it('passes every point in some scenario', () => {
      const never = [...assignment(passed)]
        .filter(
          ([point, scenario]) =>
            scenario === null && !UNWRITTEN.some((step) => point.endsWith(step)),
        )
        .map(([point]) => point);
      expect(never).toEqual([]);
    });

  it('loses nothing and runs nothing twice, wherever it dies', { timeout: 3_600_000 }, async () => {
    const verdicts: Verdict[] = [];
    const reached = [...assignment(passed)]
      .flatMap(([point, scenario]) => (scenario === null ? [] : [{ point, scenario }]))
      .filter(({ point }) => ONLY === undefined || ONLY.some((text) => point.includes(text)));
    const isAll = FULL || ONLY !== undefined;
    const points = isAll ? reached : shuffled(reached, random).slice(0, SAMPLE.points);
    await inPairs(points, async ({ point, scenario }) => {
      verdicts.push(await dieAt(point, scenario));
    });
    const dead = verdicts.filter(({ died }) => died);
    console.log(`crash points: died at ${dead.length} of ${points.length}`);
    expect(dead.length).toBeGreaterThan(0);
    expect(
      verdicts
        .filter(({ died, complaints }) => !died || complaints.length > 0)
        .map(({ point, scenario, died, complaints }) => ({ point, scenario, died, complaints })),
    ).toEqual([]);
  });
});
