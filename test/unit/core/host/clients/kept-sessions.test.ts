import { describe, expect, it } from 'vitest';
import { KeptSessions } from '../../../../../src/core/host/clients/kept-sessions.ts';
import { ManualClock } from '../../../../support/engine/a-session.ts';

type Kept = { name: string; isUnused: boolean };

function rig() {
  const clock = new ManualClock();
  const freed: string[] = [];
  const kept = new KeptSessions<Kept>({
    clock,
    graceMs: 30_000,
    isUnused: (session) => session.isUnused,
    free: async ({ name }) => {
      freed.push(name);
    },
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    // What the clock woke runs.
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { kept, freed, pass };
}

describe('a session that nobody follows', () => {
  it('is freed when nothing runs in it for the whole grace, and not a moment earlier', async () => {
    const { kept, freed, pass } = rig();
    kept.look({ name: 's', isUnused: true });
    await pass(29_999);
    expect(freed).toEqual([]);
    await pass(1);
    expect(freed).toEqual(['s']);
  });

  it('stays while something runs in it; the grace begins when that ends, and is not begun anew by a second look', async () => {
    const { kept, freed, pass } = rig();
    const session = { name: 's', isUnused: false };
    kept.look(session);
    await pass(100_000);
    session.isUnused = true;
    kept.look(session);
    await pass(20_000);
    kept.look(session);
    await pass(9_999);
    expect(freed).toEqual([]);
    await pass(1);
    expect(freed).toEqual(['s']);
  });

  it('is found warm by a client that comes within the grace', async () => {
    const { kept, freed, pass } = rig();
    const session = { name: 's', isUnused: true };
    const other = { name: 'other', isUnused: true };
    kept.look(session);
    kept.look(other);
    await pass(29_999);
    kept.forget(session);
    await pass(100_000);
    expect(freed).toEqual(['other']);
  });

  it('is not freed if it began to work without a word, nor once the host ends', async () => {
    const { kept, freed, pass } = rig();
    const session = { name: 's', isUnused: true };
    kept.look(session);
    session.isUnused = false;
    await pass(30_000);
    session.isUnused = true;
    kept.look(session);
    kept.dispose();
    kept.look(session);
    await pass(30_000);
    expect(freed).toEqual([]);
  });
});
