import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../src/extension/chat/model/conversation.ts';
import {
  foundSession,
  isRolledBack,
  oneLine,
} from '../../../../src/extension/durable/found-sessions.ts';
import type { SessionUpdate } from '../../../../src/protocol/acp.ts';
import type { HistoryPageParams } from '../../../../src/protocol/pilothouse.ts';

describe('a condensed conversation', () => {
  const apply = (...updates: [SessionUpdate, unknown?][]) => {
    const conversation = new Conversation();
    for (const [update, pilothouse] of updates)
      conversation.apply({ ...update, _meta: { pilothouse } } as SessionUpdate, undefined, 0);
    return conversation.items();
  };
  const text = (words: string) => ({ type: 'text' as const, text: words });

  it('is one row from its beginning to its end, and keeps what an update leaves out', () => {
    const begun: SessionUpdate = {
      sessionUpdate: 'compaction_update',
      compactionId: 'c1',
      status: 'in_progress',
    };
    expect(apply([begun])).toMatchObject([{ kind: 'compaction', state: 'running', summary: '' }]);
    const chunk = (words: string): SessionUpdate => ({
      sessionUpdate: 'compaction_summary_chunk',
      compactionId: 'c1',
      content: text(words),
    });
    const done: SessionUpdate = { ...begun, status: 'completed' };
    const items = apply(
      [begun],
      [chunk('It was ')],
      [chunk('about tea.')],
      [done, { compacted: { before: 12, after: 3 } }],
    );
    expect(items).toMatchObject([
      { state: 'done', before: 12, after: 3, summary: 'It was about tea.' },
    ]);
  });

  it('says why nothing came of it', () => {
    const failed = (status: string, error?: string): SessionUpdate => ({
      sessionUpdate: 'compaction_update',
      compactionId: 'c1',
      status,
      ...(error === undefined ? {} : { error }),
    });
    expect(apply([failed('failed', 'too short')])).toMatchObject([
      { state: 'failed', reason: 'too short' },
    ]);
    expect(apply([failed('cancelled')])).toMatchObject([
      { state: 'failed', reason: 'it was stopped' },
    ]);
  });
});

describe('a place that a search found', () => {
  /** Events 3 to 5 were rolled back; event 4 shows nothing. */
  const page = async ({ before = 0, all = false }: HistoryPageParams) => ({
    entries: (all ? [1, 2, 3, 5, 6, 8] : [1, 2, 6, 8])
      .filter((eventId) => eventId < before)
      .slice(-1)
      .map((eventId) => ({ eventId, at: '2026-01-01T00:00:00Z', updates: [] })),
  });

  it('is rolled back where the conversation goes past it no more', async () => {
    const places = [1, 2, 3, 4, 5, 6, 7, 8];
    const answers = await Promise.all(places.map((event) => isRolledBack(page, 's', event)));
    expect(places.filter((_, index) => answers[index])).toEqual([3, 4, 5]);
  });
});

describe('a session that a search found', () => {
  const session = { sessionId: 's1', cwd: '/home/ada', title: 'Tea' };

  const hit = { eventId: 7, role: 'user', snippet: 'a cup\n of tea', ranges: [[9, 12]] };

  it('brings the places where the words stand, but not its title again', () => {
    const title = { ...hit, eventId: null, role: 'title' };
    const found = foundSession({ ...session, hits: [title, hit], hitCount: 5 });
    expect(found).toMatchObject({
      count: 4,
      hits: [{ eventId: 7, role: 'user', snippet: hit.snippet }],
    });
    expect(found?.hits).toHaveLength(1);
    expect(oneLine('a cup\n of  tea ')).toBe('a cup of tea');
  });

  it('names no place of a delegate, which the session does not show', () => {
    const found = foundSession({ ...session, hits: [{ ...hit, loopId: 'l1' }], hitCount: 1 });
    expect(found?.hits).toMatchObject([{ eventId: null }]);
  });

  it('is told alone by an agent that knows no places, or by malformed ones', () => {
    expect(foundSession(session)).toMatchObject({ row: { title: 'Tea' }, hits: [] });
    expect(foundSession({ ...session, hits: [{ eventId: 'x' }], hitCount: 1 })?.hits).toEqual([]);
    expect(foundSession({ cwd: '/' })).toBeNull();
  });
});
