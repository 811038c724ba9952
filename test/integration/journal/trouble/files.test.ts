import { appendFile, copyFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../../../src/core/journal/open-journal.ts';
import { startChild } from '../../../support/journal/children.ts';
import { attached, created, delta, prompted, sessionId } from '../../../support/journal/events.ts';
import {
  openTestJournal,
  recordingLog,
  temporaryFolder,
  tickingClock,
} from '../../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const [one, other] = [sessionId('one'), sessionId('other')];
const PAGE_BYTES = 4096;

const refusal = (dataFolder: string): Promise<unknown> =>
  openJournal({ dataFolder, log: recordingLog(), clock: tickingClock() }).then(
    () => null,
    (error: unknown) => error,
  );

async function filledFolder(): Promise<string> {
  const folder = await temporaryFolder();
  const journal = await openTestJournal(folder);
  await journal.append(one, [created()]);
  await journal.append(other, [created()]);
  for (let index = 0; index < 60; index += 1)
    await journal.append(one, [delta(`text-${index}-${'x'.repeat(500)}`), attached()]);
  await journal.append(other, [delta('is whole')]);
  await journal.close();
  return folder;
}

/** The first leaf page of an index (records are kept in one) that holds the text. Source: SQLite file format. */
function leafWith(bytes: Buffer, text: string): number {
  for (let page = 1; page * PAGE_BYTES < bytes.length; page += 1) {
    const content = bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
    if (content[0] === 0x0a && content.includes(text)) return page;
  }
  throw new Error('There is no such page.');
}

const isDamage = { code: 'journal.fault', message: expect.stringMatching(/is damaged.*backup/) };

describe('a damaged database file', () => {
  test('with a page overwritten: what it held is an error that says so, the rest can be read, and nothing is written', async () => {
    const folder = await filledFolder();
    const path = join(folder, 'sessions.db');
    const bytes = await readFile(path);
    const page = leafWith(bytes, 'text-30-');
    bytes.fill(0xff, page * PAGE_BYTES, page * PAGE_BYTES + 16);
    await writeFile(path, bytes);
    const journal = await openTestJournal(folder);
    expect((await journal.readHistory(other, all)).at(-1)?.event).toMatchObject({
      text: 'is whole',
    });
    await expect(journal.readHistory(one, all)).rejects.toMatchObject(isDamage);
    expect(journal.fault?.code).toBe('journal.fault');
    await expect(journal.append(other, [delta('no')])).rejects.toBe(journal.fault);
    expect(await journal.readHistory(one, { limit: 3 })).toHaveLength(3);
    await journal.close();
    expect((await readFile(path)).equals(bytes)).toBe(true);
  });

  test.each([0.3, 0.7])(
    'cut off at %f of its length is refused or read as damaged, and kept as it is',
    async (part) => {
      const folder = await filledFolder();
      const path = join(folder, 'sessions.db');
      const { length } = await readFile(path);
      await truncate(path, Math.floor((length * part) / PAGE_BYTES) * PAGE_BYTES + 100);
      const before = await readFile(path);
      const refused = await refusal(folder);
      if (refused === null) throw new Error('A file without its end was taken.');
      expect(refused).toMatchObject(isDamage);
      expect((await readFile(path)).equals(before)).toBe(true);
    },
  );

  test('cut off to nothing but its first bytes is refused, and kept as it is', async () => {
    const folder = await filledFolder();
    const path = join(folder, 'sessions.db');
    await truncate(path, 50);
    const before = await readFile(path);
    expect(await refusal(folder)).toMatchObject(isDamage);
    expect((await readFile(path)).equals(before)).toBe(true);
  });
});

/** A folder as a crash left it: the log holds what was acknowledged, and the database none of it. */
async function crashedFolder(): Promise<{ folder: string; hashes: Map<string, string[]> }> {
  const folder = await temporaryFolder();
  const child = startChild('append', folder);
  for (let count = 0; count < 60; count += 1) await child.next();
  await child.kill();
  const hashes = new Map<string, string[]>();
  for (const { session, stored } of child.said as {
    session: string;
    stored: [string, string][];
  }[]) {
    const own = stored.flatMap(([stream, hash]) => (stream === 'history' ? [hash] : []));
    hashes.set(session, [...(hashes.get(session) ?? []), ...own]);
  }
  return { folder, hashes };
}

async function copyOf(folder: string): Promise<string> {
  const copy = join(await temporaryFolder(), 'copy');
  await mkdir(copy);
  for (const name of ['sessions.db', 'sessions.db-wal'])
    await copyFile(join(folder, name), join(copy, name));
  return copy;
}

describe('a torn log', () => {
  test('every cut leaves a whole beginning of each session, and the uncut log all that was acknowledged', {
    timeout: 120_000,
  }, async () => {
    const { folder, hashes } = await crashedFolder();
    const { length } = await readFile(join(folder, 'sessions.db-wal'));
    const tear = async (change: (path: string) => Promise<void>, isWhole = false) => {
      const copy = await copyOf(folder);
      await change(join(copy, 'sessions.db-wal'));
      const journal = await openTestJournal(copy);
      let records = 0;
      for (const [session, said] of hashes) {
        const found = await journal.readHistory(sessionId(session), all);
        records += found.length;
        for (const stream of ['history', 'control'] as const)
          expect(await journal.verify(sessionId(session), stream)).toMatchObject({ ok: true });
        const shared = Math.min(found.length, said.length);
        expect(found.slice(0, shared).map(({ hash }) => hash)).toEqual(said.slice(0, shared));
        if (isWhole) expect(found.length).toBeGreaterThanOrEqual(said.length);
        if (found.length > 0) await journal.append(sessionId(session), [delta('goes on')]);
      }
      await journal.close();
      return records;
    };
    const whole = await tear(async () => undefined, true);
    for (const part of [0.99, 0.5, 0.1])
      expect(await tear((path) => truncate(path, Math.floor(length * part)))).toBeLessThan(whole);
    // Bytes behind the end that were never part of a commit, and a log of nothing.
    expect(await tear((path) => appendFile(path, Buffer.alloc(5000, 0xab)), true)).toBe(whole);
    expect(await tear((path) => truncate(path, 17))).toBe(0);
  });
});

describe('a clock that goes backwards', () => {
  test('a little: no record is older than the one before it', async () => {
    const clock = tickingClock(1_700_000_000_000);
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder, { clock });
    await journal.append(one, [created(), prompted('first')]);
    clock.set(1_699_999_990_000);
    await journal.append(other, [created(), prompted('second')]);
    await journal.append(one, [delta('third')]);
    const ats = (await journal.readHistory(one, all)).map(({ at }) => at);
    expect(ats).toEqual([...ats].sort((a, b) => a - b));
    const { rows } = await journal.sessions({ limit: 5 });
    expect(rows.map(({ sessionId: id }) => id)).toEqual([one, other]);
    for (const { createdAt, lastMessageAt } of rows)
      expect(lastMessageAt).toBeGreaterThanOrEqual(createdAt);
  });

  test('a lot, as when somebody sets it right: order and chains are whole, and lists can be paged', async () => {
    const clock = tickingClock(1_900_000_000_000);
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder, { clock });
    for (const id of ['a', 'b', 'c'])
      await journal.append(sessionId(id), [created(), prompted(`in ${id}`)]);
    clock.set(1_700_000_000_000);
    await journal.append(sessionId('a'), [prompted('after it')]);
    await journal.append(sessionId('d'), [created(), prompted('in d')]);
    const read = await journal.readHistory(sessionId('a'), all);
    expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(read[2]?.at).toBeLessThan(1_800_000_000_000);
    expect(await journal.verify(sessionId('a'), 'history')).toMatchObject({ ok: true });
    const seen: string[] = [];
    for (let cursor: string | undefined, page = 0; page < 9; page += 1) {
      const { rows, nextCursor } = await journal.sessions({
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...rows.map(({ sessionId: id }) => id));
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    expect([...seen].sort()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a second process on the data folder', () => {
  test('is told which process has it, and takes nothing from it', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await journal.append(one, [created()]);
    const child = startChild('race', folder);
    await child.next();
    child.send('go\n');
    expect(await child.next()).toMatchObject({
      won: false,
      code: 'journal.locked',
      data: { pid: process.pid },
      message: expect.stringMatching(new RegExp(`process ${process.pid}.*PILOTHOUSE_HOME`)),
    });
    await child.kill();
    expect(await journal.append(one, [delta('still mine')])).toHaveLength(1);
  });
});
