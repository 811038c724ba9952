import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleWatch, idleMs } from '../../../../../src/core/host/process/idle.ts';

describe('a host that nobody needs', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('ends after the idle time, once', () => {
    const ended = vi.fn();
    new IdleWatch(10_000, () => false, ended);
    vi.advanceTimersByTime(9_999);
    expect(ended).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50_000);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it.each([0, 1, 4_999])('waits for its first client longer than %s ms', (ms) => {
    const ended = vi.fn();
    let isNeeded = false;
    const watch = new IdleWatch(ms, () => isNeeded, ended);
    vi.advanceTimersByTime(4_999);
    expect(ended).not.toHaveBeenCalled();
    isNeeded = true;
    watch.look();
    vi.advanceTimersByTime(10_000);
    isNeeded = false;
    watch.look();
    vi.advanceTimersByTime(ms);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('begins to wait anew when it was needed meanwhile', () => {
    const ended = vi.fn();
    let isNeeded = false;
    const watch = new IdleWatch(1_000, () => isNeeded, ended);
    vi.advanceTimersByTime(900);
    isNeeded = true;
    watch.look();
    vi.advanceTimersByTime(10_000);
    expect(ended).not.toHaveBeenCalled();
    isNeeded = false;
    watch.look();
    vi.advanceTimersByTime(999);
    expect(ended).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('does not end where nobody said that it is needed again', () => {
    const ended = vi.fn();
    let isNeeded = false;
    new IdleWatch(1_000, () => isNeeded, ended);
    isNeeded = true;
    vi.advanceTimersByTime(6_000);
    expect(ended).not.toHaveBeenCalled();
    // Nor does anybody say that it is not any more.
    isNeeded = false;
    vi.advanceTimersByTime(2_000);
    expect(ended).toHaveBeenCalledTimes(1);
  });
});

it.each([
  [undefined, 300_000],
  ['', 300_000],
  ['0', 0],
  [' 1500 ', 1_500],
  ['soon', 300_000],
  ['-1', 300_000],
  ['9999999999', 2 ** 31 - 1],
])('PILOTHOUSE_IDLE_MS=%s waits %s ms', (text, ms) => {
  expect(idleMs(text === undefined ? {} : { PILOTHOUSE_IDLE_MS: text })).toBe(ms);
});
