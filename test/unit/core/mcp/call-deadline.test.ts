import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { CallDeadline } from '../../../../src/core/mcp/tools/call-deadline.ts';
import { ManualClock } from '../../../support/engine/a-session.ts';

async function ticks(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await Promise.resolve();
}

describe('the deadline of a call', () => {
  it('ends a call that stays silent', async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 100);
    clock.advance(99);
    await ticks();
    expect(deadline.signal.aborted).toBe(false);
    clock.advance(1);
    await ticks();
    expect(deadline.signal.aborted).toBe(true);
  });

  it('starts anew with each sign of life', async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 100);
    clock.advance(60);
    deadline.extend();
    clock.advance(60);
    await ticks();
    expect(deadline.signal.aborted).toBe(false);
    clock.advance(40);
    await ticks();
    expect(deadline.signal.aborted).toBe(true);
  });

  it('stands still while a person is asked', async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 100);
    const answer = new Deferred<string>();
    const asked = deadline.during(() => answer.promise);
    clock.advance(10_000);
    deadline.extend();
    clock.advance(10_000);
    await ticks();
    expect(deadline.signal.aborted).toBe(false);
    answer.resolve('yes');
    expect(await asked).toBe('yes');
    clock.advance(100);
    await ticks();
    expect(deadline.signal.aborted).toBe(true);
  });

  it('is over with its call', async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 100);
    deadline.dispose();
    deadline.extend();
    clock.advance(1_000);
    await ticks();
    expect(deadline.signal.aborted).toBe(false);
  });
});
