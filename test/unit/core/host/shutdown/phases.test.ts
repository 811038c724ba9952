import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import {
  Phases,
  SHUTDOWN_DEADLINES,
  SHUTDOWN_PHASES,
  sessionEndMs,
  shutdownMs,
} from '../../../../../src/core/host/shutdown/phases.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import { ManualClock } from '../../../../support/engine/a-session.ts';

function aShutdown() {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, error: silent, warn: (m: string) => warnings.push(m) };
  const phases = new Phases({ clock, log, deadlines: SHUTDOWN_DEADLINES }, 's1' as SessionId);
  return { clock, phases, warnings };
}

const forever = (): Promise<void> => new Promise(() => undefined);

describe('the phases of an end', () => {
  it('leave behind what hangs at its own deadline, say which it was, and go on', async () => {
    const { clock, phases, warnings } = aShutdown();
    const wedged = phases.run('processes', forever);
    await clock.whenSleeping();
    clock.advance(SHUTDOWN_DEADLINES.processes - 1);
    let isOver = false;
    void wedged.then(() => {
      isOver = true;
    });
    await Promise.resolve();
    expect(isOver).toBe(false);
    clock.advance(1);
    expect(await wedged).toBe(false);
    expect(await phases.run('external', async () => undefined)).toBe(true);
    expect(phases.timeouts).toMatchObject([
      { code: 'host.shutdown_timeout', phase: 'processes', sessionId: 's1' },
    ]);
    expect(warnings).toEqual([expect.stringContaining('processes')]);
  });

  it('take a failure as an end, and name it in the log', async () => {
    const { phases, warnings } = aShutdown();
    expect(await phases.run('external', () => Promise.reject(new Error('broken')))).toBe(true);
    expect(phases.timeouts).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('mind a failure no more that comes behind the deadline', async () => {
    const { clock, phases } = aShutdown();
    const late = new Deferred<void>();
    const wedged = phases.run('journal', () => late.promise);
    await clock.whenSleeping();
    clock.advance(SHUTDOWN_DEADLINES.journal);
    expect(await wedged).toBe(false);
    late.reject(new Error('too late'));
    await expect(late.promise).rejects.toThrow('too late');
    expect(phases.timeouts).toHaveLength(1);
  });

  it('have deadlines that the end of the process leaves room for', () => {
    const { admission, feeds, journal, lock, ...ofSession } = SHUTDOWN_DEADLINES;
    const session = Object.values(ofSession).reduce((sum, ms) => sum + ms, 0);
    expect(sessionEndMs(SHUTDOWN_DEADLINES)).toBeGreaterThan(session);
    expect(shutdownMs(SHUTDOWN_DEADLINES)).toBeGreaterThan(
      admission + sessionEndMs(SHUTDOWN_DEADLINES) + feeds + journal + lock,
    );
    expect(SHUTDOWN_PHASES).toEqual(expect.arrayContaining(Object.keys(SHUTDOWN_DEADLINES)));
  });
});
