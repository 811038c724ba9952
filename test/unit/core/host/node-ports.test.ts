import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/host/node-ports.ts';

it.each([2 ** 31, 2 ** 33, Number.MAX_SAFE_INTEGER])(
  'a wait of %s milliseconds, longer than a timer may be, is not over at once',
  async (ms) => {
    const over = new AbortController();
    const slept = systemClock.sleep(ms, over.signal).then(
      () => 'slept',
      (reason: unknown) => reason,
    );
    // A timer that is too long fires after a millisecond.
    await delay(20);
    over.abort('stopped');
    expect(await slept).toBe('stopped');
  },
);

it.each([0, 1, -1])('a wait of %s milliseconds is over', async (ms) => {
  await expect(systemClock.sleep(ms)).resolves.toBeUndefined();
});

it.each([0, 60_000])('a wait of %s whose signal aborted before is not begun', async (ms) => {
  const over = new AbortController();
  over.abort('stopped');
  await expect(systemClock.sleep(ms, over.signal)).rejects.toBe('stopped');
});
