import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { delta, everyControlEvent, sessionId, titled } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/journal/', import.meta.url));
const all = { limit: 1_000_000 };

describe('databases of earlier versions', async () => {
  const names = (await readdir(fixtures)).filter((name) => /^v\d+\.db$/u.test(name));

  test('are there', () => {
    expect(names).toContain('v1.db');
  });

  test.each(names)(
    '%s is opened, read, verified, searched and written by the newest code',
    async (name) => {
      const folder = await temporaryFolder();
      await copyFile(join(fixtures, name), join(folder, 'sessions.db'));
      const journal = await openTestJournal(folder);

      const { rows } = await journal.sessions({ limit: 10 });
      expect(rows.map(({ sessionId: id }) => id)).toEqual(['large', 'talk', 'every']);
      for (const { sessionId: id, lastEventId, prefixHash } of rows) {
        const history = await journal.readHistory(id, all);
        expect(history).toHaveLength(lastEventId);
        expect(await journal.verify(id, 'history')).toEqual({
          ok: true,
          records: lastEventId,
          hash: prefixHash,
        });
        expect(await journal.verify(id, 'control')).toMatchObject({ ok: true });
      }
      const controls = await journal.readControl(sessionId('every'), all);
      expect(controls.length).toBeGreaterThanOrEqual(8);
      expect(controls.map(({ event }) => event.type)).toEqual(
        everyControlEvent.slice(0, controls.length).map(({ type }) => type),
      );
      const [, large] = await journal.readHistory(sessionId('large'), all);
      expect(large?.event).toMatchObject({ text: 'blob '.repeat(110_000) });

      for (const text of ['lighthouse', '日本', 'quotes']) {
        expect((await journal.sessions({ limit: 10, text })).rows).toMatchObject([
          {
            sessionId: 'talk',
            title: 'A talk about “quotes”, \ufffd and 日本語',
            cwd: '/work/talk',
          },
        ]);
      }
      await journal.append(sessionId('talk'), [delta('more'), titled('Newer')]);
      expect(await journal.verify(sessionId('talk'), 'history')).toMatchObject({ ok: true });
      expect(await journal.deleteSession(sessionId('large'))).toBe(true);
    },
  );
});
