import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/core/journal/store/database.ts';
import { MIGRATIONS } from '../../../src/core/journal/store/schema.ts';
import type { NewRecord, SessionHits } from '../../../src/core/session/ports.ts';
import type { CommandId, LoopId, MessageId } from '../../../src/core/session/words.ts';
import {
  actor,
  config,
  created,
  delta,
  prompted,
  replied,
  sessionId,
  titled,
  turnId,
} from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

function steered(text: string): NewRecord {
  return {
    stream: 'history',
    event: {
      type: 'inject_delivered',
      turnId,
      messageId: 'i1' as MessageId,
      mode: 'steer',
      content: [{ type: 'text', text }],
      seam: 'post_tool_dispatch',
      actor,
    },
  };
}

const root = sessionId('root');
const child: NewRecord = {
  stream: 'history',
  event: {
    type: 'session_created',
    cwd: '/work/folder',
    additionalDirectories: [],
    config,
    delegate: {
      rootId: root,
      parentId: root as string as LoopId,
      requestId: 'r1' as CommandId,
      name: 'scout',
      depth: 1,
    },
  },
};

const marked = (found: SessionHits | undefined): readonly unknown[] =>
  (found?.hits ?? []).map(({ eventId, role, snippet, ranges, loopId }) => [
    eventId,
    role,
    ranges.map(([start, end]) => snippet.slice(start, end)).join('|'),
    ...(loopId === undefined ? [] : [loopId]),
  ]);

describe.each(['fts5', 'like'] as const)('a search (%s)', (search) => {
  test('says where, who said it, and how often', async () => {
    const journal = await openTestJournal(await temporaryFolder(), { search });
    await journal.append(root, [
      created(),
      titled('Harbour works'),
      prompted('Paint the harbour'),
      delta('The har'),
      delta('bour is painted.'),
      replied(),
      steered('Not the old harbour!'),
      delta('Then only the new harbour.', 'm2'),
      replied('m2'),
    ]);
    await journal.append(sessionId('child'), [child, prompted('look at the harbour')]);
    for (const text of ['harbour ', 'harbour', 'harb']) {
      const { found, rows } = await journal.sessions({ text, limit: 10 });
      expect(rows.map((row) => row.sessionId)).toEqual(['root']);
      expect(found).toHaveLength(1);
      expect(found?.[0]).toMatchObject({ hitCount: 6, isCountExact: true });
      expect(marked(found?.[0])).toEqual([
        [null, 'title', 'Harbour'],
        [8, 'assistant', 'harbour'],
        [7, 'user', 'harbour'],
      ]);
    }
    const one = await journal.sessions({ text: 'look harbour', limit: 10 });
    expect(marked(one.found?.[0])).toEqual([[2, 'user', 'look|harbour', 'child']]);
    expect((await journal.sessions({ text: 'old', limit: 1 })).found?.[0]?.hits[0]?.snippet).toBe(
      'Not the old harbour!',
    );
    expect((await journal.sessions({ text: 'nowhere', limit: 1 })).found).toEqual([]);
    expect(await journal.sessions({ limit: 1 })).not.toHaveProperty('found');
  });

  test('finds the same sessions in the same order, whatever way it takes', async () => {
    const journal = await openTestJournal(await temporaryFolder(), { search });
    const filler = Array.from({ length: 90 }, (_, index) => prompted(`filler number ${index}`));
    // Old sessions hold what new ones do not: reading in list order gives up before it gets there.
    for (let index = 0; index < 60; index += 1) {
      const odd = index < 30 ? [prompted(`quarry stone ${index}`), prompted('quarry again')] : [];
      await journal.append(sessionId(`s${String(index).padStart(2, '0')}`), [
        created(),
        ...odd,
        ...filler,
      ]);
    }
    const wanted = Array.from(
      { length: 30 },
      (_, index) => `s${String(29 - index).padStart(2, '0')}`,
    );
    for (const text of ['quarry ', 'quarry', 'quarr', 'quarry ston']) {
      const pages: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await journal.sessions({
          text,
          limit: 7,
          ...(cursor === undefined ? {} : { cursor }),
        });
        expect(page.found).toHaveLength(page.rows.length);
        for (const found of page.found ?? []) {
          expect(found.hitCount).toBe(text.includes('ston') ? 1 : 2);
          expect(found.hits.length).toBe(found.hitCount);
        }
        pages.push(...page.rows.map((row) => row.sessionId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(pages).toEqual(wanted);
    }
    const common = await journal.sessions({ text: 'filler', limit: 100 });
    expect(common.rows).toHaveLength(60);
    for (const found of common.found ?? []) expect(found.hitCount).toBeGreaterThanOrEqual(5);
  });
});

test('finds what was steered in a database of before steers were indexed', async () => {
  const folder = await temporaryFolder();
  const old = openDatabase(folder, { migrations: MIGRATIONS.slice(0, 2) });
  const insert = old.prepare(
    "INSERT INTO records (n, stream, seq, v, at, type, body, hash) VALUES (1, 'history', ?, 1, 5, ?, ?, '')",
  );
  const records = [created(), prompted('go on'), steered('to the harbour'), replied()];
  old.exec(`INSERT INTO sessions (session_id, cwd, additional_directories, created_at, last_message_at, history_seq,
    history_hash, control_seq, control_hash, indexed_seq) VALUES ('old', '/', '[]', 5, 5, 4, '', 0, '', 4)`);
  old.exec(`INSERT INTO documents (id, text) VALUES (${2 ** 32 + 2}, 'go on')`);
  for (const [index, { event }] of records.entries())
    insert.run(index + 1, event.type, JSON.stringify(event));
  old.close();
  const journal = await openTestJournal(folder);
  for (const text of ['harbour ', 'go '])
    expect((await journal.sessions({ text, limit: 5 })).found?.[0]).toMatchObject({ hitCount: 1 });
});
