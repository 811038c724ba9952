import { describe, expect, test } from 'vitest';
import type { OpenJournal } from '../../../src/core/journal/open-journal.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import {
  attached,
  created,
  delta,
  prompted,
  replied,
  sessionId,
  titled,
} from '../../support/journal/events.ts';
import { occurrences } from '../../support/journal/in-folder.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const MARKER = 'zqxmarker';

/** Sizes that make SQLite split and merge pages: most are small, some spill over. */
const SIZES = [5, 900, 40, 3000, 300, 12, 60, 1500, 7, 2200];

async function write(
  journal: OpenJournal,
  id: SessionId,
  word: string,
  round: number,
): Promise<void> {
  const size = SIZES[(round * 7 + id.length) % SIZES.length] ?? 1;
  await journal.append(id, [
    titled(`${word} title ${round}`),
    prompted(`${word}${round} `.repeat(1 + size / 10)),
    delta(`${word} reply `, `m${round}`),
    replied(`m${round}`),
    attached(`${word}-client`),
  ]);
}

describe('a deleted session', () => {
  test('leaves no byte in any file, however it was mixed with others, and takes nothing of theirs', {
    timeout: 30_000,
  }, async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    const ids = Array.from({ length: 24 }, (_, index) => sessionId(`sess-${index}`));
    const wordOf = (index: number): string => (index % 3 === 0 ? MARKER : 'keepword');
    const big = delta(`${MARKER} `.repeat(80_000), 'big');
    for (const [index, id] of ids.entries())
      await journal.append(id, [created(`/w/${wordOf(index)}${index}`)]);
    for (let round = 0; round < 60; round += 1) {
      await Promise.all(ids.map((id, index) => write(journal, id, wordOf(index), round)));
      if (round % 20 === 0) await journal.sessions({ limit: 5, text: 'keepword' });
    }
    for (const id of ids.slice(0, 4)) await journal.append(id, [big]);
    await journal.append(ids[1] ?? sessionId(''), [delta('last')]);
    expect((await journal.sessions({ limit: 100, text: MARKER })).rows).toHaveLength(8);
    expect(occurrences(folder, MARKER)).toBeGreaterThan(1000);

    // Appends go on while deletions run.
    const others = ids.filter((_, index) => index % 3 !== 0);
    const gone = ids.filter((_, index) => index % 3 === 0);
    const removed = await Promise.all([
      ...gone.map((id) => journal.deleteSession(id)),
      ...others.slice(3).map(async (id) => {
        for (let round = 60; round < 70; round += 1) await write(journal, id, 'keepword', round);
      }),
    ]);
    expect(removed.slice(0, gone.length)).toEqual(gone.map(() => true));
    // A blob shared with a session that stays is still there: this is the only marker left.
    for (const id of ids.slice(1, 3)) {
      expect((await journal.readHistory(id, all)).at(id === ids[1] ? -2 : -1)?.event).toEqual(
        big.event,
      );
      expect(await journal.verify(id, 'history')).toMatchObject({ ok: true });
      expect(await journal.deleteSession(id)).toBe(true);
    }
    expect(occurrences(folder, MARKER)).toBe(0);
    expect(occurrences(folder, 'xmarker')).toBe(0);
    expect(occurrences(folder, 'sess-0')).toBe(0);
    expect(occurrences(folder, 'keepword')).toBeGreaterThan(1000);

    // Nothing comes back from a cache either.
    for (let round = 70; round < 90; round += 1) {
      await Promise.all(others.slice(3).map((id) => write(journal, id, 'keepword', round)));
    }
    expect((await journal.sessions({ limit: 100, text: MARKER })).rows).toEqual([]);
    for (const id of others.slice(2)) {
      expect(await journal.verify(id, 'history')).toMatchObject({ ok: true });
      expect(await journal.verify(id, 'control')).toMatchObject({ ok: true });
    }
    await journal.close();
    expect(occurrences(folder, MARKER)).toBe(0);
  });

  test('is unknown at once, to appends too, and deleting it again says that there is none', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const id = sessionId('s1');
    await journal.append(id, [created(), titled('A title')]);
    const deleting = journal.deleteSession(id);
    const late = journal.append(id, [delta('late')]);
    await expect(late).rejects.toMatchObject({ code: 'journal.unknown_session' });
    expect(await deleting).toBe(true);
    expect(await journal.deleteSession(id)).toBe(false);
    expect(await journal.session(id)).toBeNull();
    expect(await journal.readHistory(id, all)).toEqual([]);
    expect((await journal.sessions({ limit: 10 })).rows).toEqual([]);
    await journal.append(id, [created('/again')]);
    expect(await journal.session(id)).toMatchObject({ title: null, lastEventId: 1 });
  });

  test('is removed at the next start if the process died while it was being removed', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    const id = sessionId('s1');
    await journal.append(id, [
      created(),
      ...Array.from({ length: 3000 }, (_, i) => delta(`${MARKER}${i}`)),
    ]);
    // The close cuts the removal off between two slices: it was asked and not waited for.
    const deleting = journal.deleteSession(id).catch(() => 'cut off');
    await expect(journal.append(id, [delta('late')])).rejects.toMatchObject({
      code: 'journal.unknown_session',
    });
    await journal.close({ deadlineMs: 0 });
    expect(await deleting).toBe('cut off');
    const again = await openTestJournal(folder);
    await again.append(sessionId('s2'), [created()]);
    expect(await again.session(id)).toBeNull();
    await again.close();
    expect(occurrences(folder, MARKER)).toBe(0);
  });
});
