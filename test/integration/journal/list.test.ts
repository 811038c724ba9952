import { describe, expect, test } from 'vitest';
import type { OpenJournal } from '../../../src/core/journal/open-journal.ts';
import type { SessionRow } from '../../../src/core/session/ports.ts';
import {
  created,
  delta,
  prompted,
  replied,
  sessionId,
  titled,
} from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder, tickingClock } from '../../support/journal/open.ts';

async function everyPage(
  journal: OpenJournal,
  query: { cwd?: string; text?: string; limit: number },
  between: (page: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  let cursor: string | undefined;
  for (let page = 0; ; page += 1) {
    const result = await journal.sessions({
      ...query,
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...result.rows);
    if (result.nextCursor === undefined) return rows;
    cursor = result.nextCursor;
    await between(page);
  }
}

const ids = (rows: readonly SessionRow[]): string[] => rows.map((row) => row.sessionId);

describe('the session list', () => {
  test('is paged without gap or repeat while sessions come and move', async () => {
    const clock = tickingClock(1000);
    const journal = await openTestJournal(await temporaryFolder(), { clock });
    for (let index = 0; index < 50; index += 1) {
      // Groups of five share a time: the id decides.
      clock.set(1000 + Math.floor(index / 5));
      await journal.append(sessionId(`s${String(index).padStart(2, '0')}`), [created()]);
    }
    clock.set(9000);
    const before = ids(await everyPage(journal, { limit: 100 }));
    expect(before.slice(0, 6)).toEqual(['s45', 's46', 's47', 's48', 's49', 's40']);
    const paged = await everyPage(journal, { limit: 7 }, async (page) => {
      await journal.append(sessionId(`new${page}`), [created()]);
      await journal.append(sessionId('s47'), [prompted('again')]);
    });
    expect(ids(paged)).toEqual(before);
    expect(ids((await journal.sessions({ limit: 2 })).rows)).toEqual(['s47', 'new6']);
  });

  test('of ten thousand sessions holds each once, through all pages', {
    timeout: 30_000,
  }, async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const names = Array.from({ length: 10_000 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => journal.append(sessionId(name), [created()])));
    const listed = await everyPage(journal, { limit: 500 });
    expect(ids(listed)).toEqual(names.toReversed());
  });

  test('filters by folder and refuses cursors that it did not give out', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    for (let index = 0; index < 9; index += 1) {
      await journal.append(sessionId(`s${index}`), [created(index % 3 ? '/a' : '/b')]);
    }
    expect(ids(await everyPage(journal, { cwd: '/b', limit: 2 }))).toEqual(['s6', 's3', 's0']);
    for (const cursor of ['', '???', 'bm9wZQ', Buffer.from('[2,1,"s"]').toString('base64url')]) {
      await expect(journal.sessions({ limit: 1, cursor })).rejects.toMatchObject({
        code: 'journal.bad_cursor',
      });
    }
  });

  test.each(['fts5', 'like'] as const)(
    'finds words of titles, prompts and replies (%s)',
    async (search) => {
      const folder = await temporaryFolder();
      const journal = await openTestJournal(folder, { search });
      const say = async (
        name: string,
        title: string,
        prompt: string,
        reply: string[],
      ): Promise<void> => {
        await journal.append(sessionId(name), [
          created(),
          titled(title),
          prompted(prompt),
          ...reply.map((text) => delta(text)),
          replied(),
        ]);
      };
      await say('a', 'Fix the login page', 'Please mend "it"', ['The but', 'ton is green now']);
      await say('b', 'Draw a chart', 'Make it 50% bigger', ['A_b is done']);
      await say('c', '日本語の題名', 'これは長い文章です', ['全部できました']);
      const find = async (text: string): Promise<string[]> =>
        ids((await journal.sessions({ text, limit: 10 })).rows);
      expect(await find('LOGIN')).toEqual(['a']);
      expect(await find('button')).toEqual(['a']);
      expect(await find('butt')).toEqual(['a']);
      expect(await find('green button')).toEqual(['a']);
      expect(await find('the')).toEqual(['a']);
      expect(await find('50%')).toEqual(['b']);
      expect(await find('長い文')).toEqual(['c']);
      expect(await find('題名')).toEqual(['c']);
      expect(await find('nowhere')).toEqual([]);
      for (const odd of ['"', '%', "a' OR 1=1", 'NEAR(', '*', '', ' ', '\0', 'title:x', '\ud800']) {
        expect(await find(odd)).toEqual([]);
      }
      // A title that changed is found by its new words only; a page of one goes on.
      await journal.append(sessionId('a'), [titled('Second chart')]);
      expect(await find('login')).toEqual([]);
      expect(ids(await everyPage(journal, { text: 'chart', limit: 1 }))).toEqual(
        ['b', 'a'].sort((x, y) => (x === 'a' ? 1 : -1) - (y === 'a' ? 1 : -1)),
      );
      await journal.close();
      const again = await openTestJournal(folder);
      expect(ids((await again.sessions({ text: 'second', limit: 10 })).rows)).toEqual(['a']);
      expect(await again.deleteSession(sessionId('a'))).toBe(true);
      expect(ids((await again.sessions({ text: 'chart', limit: 10 })).rows)).toEqual(['b']);
    },
  );

  test('finds a common word among many sessions page by page', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const texts = Array.from({ length: 60 }, (_, index) => prompted(`common ${index}`));
    for (let index = 0; index < 100; index += 1) {
      await journal.append(sessionId(`s${index}`), [created(), ...texts]);
    }
    await journal.append(sessionId('other'), [created(), prompted('different')]);
    const found = await everyPage(journal, { text: 'common', limit: 30 });
    expect(ids(found)).toEqual(Array.from({ length: 100 }, (_, index) => `s${99 - index}`));
    expect(ids(await everyPage(journal, { text: 'common', cwd: '/none', limit: 30 }))).toEqual([]);
  });

  test('text that is still being streamed is found once its message is over', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const id = sessionId('s');
    await journal.append(id, [created(), prompted('go'), delta('first half ')]);
    const find = async (text: string): Promise<number> =>
      (await journal.sessions({ text, limit: 10 })).rows.length;
    expect(await find('go')).toBe(1);
    expect(await find('half')).toBe(0);
    await journal.append(id, [delta('second'), replied()]);
    expect(await find('half second')).toBe(1);
  });
});
