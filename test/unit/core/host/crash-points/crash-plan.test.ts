import { describe, expect, it } from 'vitest';
import { CrashPlan } from '../../../../../src/core/host/crash-points/crash-plan.ts';
import { crashingJournal } from '../../../../../src/core/host/crash-points/crashing-journal.ts';
import { crashPointNames } from '../../../../../src/core/host/crash-points/point-names.ts';
import { tapped } from '../../../../../src/core/host/crash-points/tapped.ts';
import type { NewRecord } from '../../../../../src/core/session/ports.ts';

const NAMES = ['before:append/title_changed', 'after:append/title_changed', 'after:effect/run'];

function planOf(text: string, names: readonly string[] = NAMES) {
  const deaths: string[] = [];
  let at = '';
  const plan = new CrashPlan(text, names, () => deaths.push(at));
  return {
    deaths,
    plan,
    pass: (point: string) => {
      at = point;
      plan.pass(point);
    },
  };
}

describe('a crash plan', () => {
  it('dies at the first passing of a point, and at no other point', () => {
    const { deaths, pass } = planOf('after:effect/run');
    pass('before:append/title_changed');
    expect(deaths).toEqual([]);
    pass('after:effect/run');
    expect(deaths).toEqual(['after:effect/run']);
  });

  it('counts the passings where it is told to, for each of several points', () => {
    const { deaths, pass } = planOf('after:effect/run#3, before:append/title_changed#2');
    for (const point of ['after:effect/run', 'after:effect/run', 'before:append/title_changed'])
      pass(point);
    expect(deaths).toEqual([]);
    pass('before:append/title_changed');
    pass('after:effect/run');
    expect(deaths).toEqual(['before:append/title_changed', 'after:effect/run']);
  });

  it.each(['', 'run', 'after:effect/run#0', 'after:effect/run#x', 'after:effect/run,,'])(
    'refuses "%s" and lists what there is',
    (text) => {
      expect(() => new CrashPlan(text, NAMES)).toThrow(
        expect.objectContaining({
          code: 'host.unknown_crash_point',
          message: expect.stringContaining(NAMES.join('\n')),
        }),
      );
    },
  );
});

describe('the names of crash points', () => {
  it('have a before and an after for records of both streams, commands, tools and effects', () => {
    const names = crashPointNames();
    for (const step of [
      'append/turn_started',
      'append/command_issued',
      'append/command/process_notification',
      'effect/run',
      'effect/policy.remember',
    ])
      expect(names).toEqual(expect.arrayContaining([`before:${step}`, `after:${step}`]));
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a journal with crash points', () => {
  const record: NewRecord = {
    stream: 'history',
    event: { type: 'title_changed', title: 'x' },
  };

  it('dies in the tick of the call before the store sees anything', () => {
    const seen: string[] = [];
    const plan = new CrashPlan('before:append/title_changed', NAMES, () => seen.push('died'));
    const journal = crashingJournal(
      {
        append: async (_session: string, _records: readonly NewRecord[]) => {
          seen.push('stored');
        },
        deleteSession: async (_session: string) => true,
      },
      plan,
    );
    void journal.append('s', [record]);
    expect(seen).toEqual(['died', 'stored']);
  });

  it('dies after the store answered and before its caller knows', async () => {
    const seen: string[] = [];
    const plan = new CrashPlan('after:append/title_changed', NAMES, () => seen.push('died'));
    const journal = crashingJournal(
      {
        append: async (_session: string, _records: readonly NewRecord[]) => {
          seen.push('stored');
        },
        deleteSession: async (_session: string) => true,
      },
      plan,
    );
    await journal.append('s', [record]);
    seen.push('told');
    expect(seen).toEqual(['stored', 'died', 'told']);
  });
});

describe('an object with crash points', () => {
  it('keeps its private fields, its getters and what is no effect', async () => {
    class Counter {
      #count = 0;
      get count(): number {
        return this.#count;
      }
      add(): void {
        this.#count += 1;
      }
      async later(): Promise<number> {
        this.add();
        return this.#count;
      }
    }
    const seen: string[] = [];
    const names = ['before:effect/process.stop', 'after:effect/process.stop'];
    const plan = new CrashPlan(names.join(','), names, () => seen.push('died'));
    const counter = tapped(new Counter(), { count: null, add: null, later: 'process.stop' }, plan);
    counter.add();
    expect(seen).toEqual([]);
    expect(await counter.later()).toBe(2);
    expect(seen).toEqual(['died', 'died']);
    expect(counter.count).toBe(2);
  });
});
