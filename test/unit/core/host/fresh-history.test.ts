import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FreshHistory } from '../../../../src/core/host/fresh-history.ts';
import type { HistoryEvent, Stored } from '../../../../src/core/session/events.ts';
import type { SessionId } from '../../../../src/core/session/words.ts';

const id = 's' as SessionId;
const record = (seq: number): Stored<HistoryEvent> => ({
  sessionId: id,
  seq,
  at: 0,
  cause: { command_ids: [] },
  hash: '',
  event: { type: 'title_changed', title: String(seq) },
});

function kept(count: number): FreshHistory {
  const fresh = new FreshHistory();
  const gathering = fresh.gather(id);
  for (let seq = 1; seq <= count; seq += 1) gathering.take(record(seq));
  gathering.done();
  return fresh;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the history a session was just rebuilt from', () => {
  test('answers whole pages that read forward, and nothing else', () => {
    const fresh = kept(10);
    expect(fresh.page(id, { limit: 3 })?.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(fresh.page(id, { after: 7, limit: 3 })?.map(({ seq }) => seq)).toEqual([8, 9, 10]);
    expect(fresh.page(id, { after: 8, limit: 3 })).toBeNull();
    expect(fresh.page(id, { limit: 3, newestFirst: true })).toBeNull();
    expect(fresh.page(id, { before: 5, limit: 3 })).toBeNull();
    expect(fresh.page('other' as SessionId, { limit: 3 })).toBeNull();
  });

  test('is kept for a moment only, and not at all when it is large', () => {
    const fresh = kept(10);
    vi.advanceTimersByTime(1_999);
    expect(fresh.page(id, { limit: 3 })).not.toBeNull();
    vi.advanceTimersByTime(1);
    expect(fresh.page(id, { limit: 3 })).toBeNull();
    expect(kept(20_000).page(id, { limit: 3 })).not.toBeNull();
    expect(kept(20_001).page(id, { limit: 3 })).toBeNull();
  });
});
