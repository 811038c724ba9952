import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../../src/core/journal/open-journal.ts';
import { attached, created, delta, sessionId, titled } from '../../support/journal/events.ts';
import { filesIn, occurrences } from '../../support/journal/in-folder.ts';
import {
  openTestJournal,
  recordingLog,
  temporaryFolder,
  tickingClock,
} from '../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const id = sessionId('s1');

async function filledFolder(): Promise<string> {
  const folder = await temporaryFolder();
  const journal = await openTestJournal(folder);
  await journal.append(id, [created(), titled('One')]);
  for (let index = 0; index < 20; index += 1) {
    await journal.append(id, [delta(`text-${index}-end`), attached(`client-${index}`)]);
  }
  await journal.append(id, [delta('blob '.repeat(150_000))]);
  await journal.close();
  return folder;
}

function tamper(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, 'sessions.db'));
  database.exec('PRAGMA foreign_keys = OFF');
  database.exec(sql);
  database.close();
}

describe('verify', () => {
  test.each<[string, string, 'history' | 'control', number, RegExp]>([
    ['a body', "body = replace(body, 'text-7-', 'text-8-')", 'history', 10, /content/],
    ['a time', 'at = at + 1', 'history', 10, /content/],
    ['a hash', "hash = replace(hash, substr(hash, 1, 1), 'f')", 'history', 10, /content/],
    ['a number', 'seq = 1000', 'history', 10, /missing/],
    ['a control body', "body = replace(body, 'client-4', 'client-5')", 'control', 5, /content/],
  ])('names the record in which %s was changed', async (_what, change, stream, seq, reason) => {
    const folder = await filledFolder();
    tamper(folder, `UPDATE records SET ${change} WHERE stream = '${stream}' AND seq = ${seq}`);
    const journal = await openTestJournal(folder);
    const found = await journal.verify(id, stream);
    expect(found).toMatchObject({ ok: false, seq, reason: expect.stringMatching(reason) });
    expect(await journal.verify(id, stream === 'history' ? 'control' : 'history')).toMatchObject({
      ok: true,
    });
  });

  test('notices a blob that was changed and records cut off at the end', async () => {
    const folder = await filledFolder();
    tamper(
      folder,
      "UPDATE blobs SET bytes = CAST(replace(CAST(bytes AS TEXT), 'blob b', 'blub b') AS BLOB)",
    );
    tamper(folder, "DELETE FROM records WHERE stream = 'control' AND seq > 15");
    const journal = await openTestJournal(folder);
    expect(await journal.verify(id, 'history')).toMatchObject({ ok: false, seq: 23 });
    expect(await journal.verify(id, 'control')).toMatchObject({ ok: false, seq: 16 });
  });

  test.each<[string, string, 'history' | 'control', number]>([
    ['a record of the history', 'text-13-end', 'history', 16],
    ['a record of the control stream', 'client-7', 'control', 8],
    ['a record that is kept as a blob', 'blob blob', 'history', 23],
  ])('finds one flipped bit in %s in the file', async (_what, text, stream, seq) => {
    const folder = await filledFolder();
    const path = join(folder, 'sessions.db');
    const bytes = await readFile(path);
    const at = bytes.indexOf(text);
    expect(at).toBeGreaterThan(0);
    bytes[at + 6] = (bytes[at + 6] ?? 0) ^ 1;
    await writeFile(path, bytes);
    const journal = await openTestJournal(folder);
    expect(await journal.verify(id, stream)).toMatchObject({ ok: false, seq });
    expect(await journal.verify(id, stream === 'history' ? 'control' : 'history')).toMatchObject({
      ok: true,
    });
  });
});

describe('reading', () => {
  test.each<[string, string, RegExp]>([
    ['an unknown type', `body = '{"type":"sung"}'`, /"sung" is unknown/],
    ['a bad shape', `body = '{"title":5,"type":"title_changed"}'`, /title_changed/],
    ['an unknown property', `body = '{"title":"x","type":"title_changed","x":1}'`, /title_changed/],
    ['no JSON', `body = '{"type'`, /not JSON/],
    ['a newer version', 'v = 99', /version 99/],
    ['no blob', "body = NULL, blob = 'gone'", /body is missing/],
  ])(
    'a record with %s is an error that names it; other sessions can be read',
    async (_w, set, message) => {
      const folder = await filledFolder();
      tamper(folder, `UPDATE records SET ${set} WHERE stream = 'history' AND seq = 2`);
      const journal = await openTestJournal(folder);
      await expect(journal.readHistory(id, all)).rejects.toMatchObject({
        code: 'journal.bad_record',
        message: expect.stringMatching(message),
        data: { session: 's1', stream: 'history', seq: 2 },
      });
      expect(await journal.readHistory(id, { after: 2, limit: 1 })).toHaveLength(1);
      expect(await journal.readControl(id, all)).toHaveLength(20);
      expect(journal.fault).toBeNull();
    },
  );
});

describe('opening', () => {
  const refused = async (dataFolder: string): Promise<unknown> => {
    try {
      await openJournal({ dataFolder, log: recordingLog(), clock: tickingClock() });
      return null;
    } catch (error) {
      return error;
    }
  };

  test("refuses a newer format, another program's file and a damaged one, and touches none", async () => {
    for (const [sql, code, message] of [
      ['PRAGMA user_version = 99', 'journal.too_new', /newer Pilothouse/],
      ['PRAGMA application_id = 7', 'journal.fault', /another program/],
    ] as const) {
      const folder = await filledFolder();
      tamper(folder, sql);
      const before = await readFile(join(folder, 'sessions.db'));
      expect(await refused(folder)).toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
      expect((await readFile(join(folder, 'sessions.db'))).equals(before)).toBe(true);
      expect(filesIn(folder)).not.toContain('host.json');
    }
    const folder = await filledFolder();
    await writeFile(
      join(folder, 'sessions.db'),
      'this is no database, as anybody can see. '.repeat(200),
    );
    expect(await refused(folder)).toMatchObject({
      code: 'journal.fault',
      message: expect.stringMatching(/is damaged.*backup/),
    });
  });

  test("says what is wrong with a folder that is a file or that can't be written", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    expect(await refused(join(folder, 'file'))).toMatchObject({
      code: 'journal.fault',
      message: expect.stringMatching(/can't write to/),
    });
    await expect(openTestJournal('relative')).rejects.toThrow(/absolute/);
  });

  test('narrows permissions to the owner', async () => {
    const folder = join(await temporaryFolder(), 'deep', 'home');
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'sessions.db'), '', { mode: 0o644 });
    const journal = await openTestJournal(folder);
    await journal.append(id, [created()]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of filesIn(folder)) {
      expect([name, (await stat(join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(filesIn(folder)).toEqual([
      'host.json',
      'host.lock',
      'sessions.db',
      'sessions.db-shm',
      'sessions.db-wal',
    ]);
    await journal.close();
    expect(filesIn(folder)).toEqual(['host.lock', 'sessions.db']);
  });

  test('works with a rollback journal too, and goes back to the log where it can', async () => {
    const folder = await filledFolder();
    const journal = await openTestJournal(folder, { journalMode: 'delete' });
    await journal.append(id, [delta('in rollback mode')]);
    expect(filesIn(folder)).toEqual(['host.json', 'host.lock', 'sessions.db']);
    expect(await journal.verify(id, 'history')).toMatchObject({ ok: true, records: 24 });
    expect(await journal.deleteSession(id)).toBe(true);
    expect(occurrences(folder, 'client-')).toBe(0);
    await journal.append(id, [created()]);
    await journal.close();
    const again = await openTestJournal(folder);
    expect(filesIn(folder)).toContain('sessions.db-wal');
    expect(await again.session(id)).toMatchObject({ lastEventId: 1 });
  });
});

describe('closing', () => {
  test('finishes what was asked, can be called again, and rejects what comes later', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    const appends = [
      journal.append(id, [created()]),
      journal.append(id, [delta('one')]),
      journal.append(id, [delta('two')]),
    ];
    const closing = journal.close();
    expect(journal.close()).toBe(closing);
    await expect(journal.append(id, [delta('late')])).rejects.toMatchObject({
      code: 'journal.closed',
    });
    await expect(journal.session(id)).rejects.toMatchObject({ code: 'journal.closed' });
    await closing;
    expect((await Promise.allSettled(appends)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    const again = await openTestJournal(folder);
    expect(await again.readHistory(id, all)).toHaveLength(3);
  });

  test('past its deadline it cuts the store off: what hangs is of unknown outcome, and the folder is free', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await journal.append(id, [created()]);
    const appends = Array.from({ length: 50 }, () =>
      journal.append(id, [delta('x'.repeat(100_000))]),
    );
    const settled = Promise.allSettled(appends);
    await journal.close({ deadlineMs: 0 });
    const results = await settled;
    const kept = results.filter(({ status }) => status === 'fulfilled').length;
    for (const result of results.slice(kept)) {
      expect(result).toMatchObject({ reason: { code: 'journal.outcome_unknown' } });
    }
    const again = await openTestJournal(folder);
    expect((await again.readHistory(id, all)).length).toBeGreaterThanOrEqual(1 + kept);
    expect(await again.verify(id, 'history')).toMatchObject({ ok: true });
  });

  test('a worker that dies rejects what waits with an unknown outcome and latches', async () => {
    const folder = await temporaryFolder();
    const worker = join(folder, 'dying-worker.mjs');
    await writeFile(
      worker,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', () => { throw new Error('boom'); });
       parentPort.postMessage({ kind: 'ready' });`,
    );
    const log = recordingLog();
    const journal = await openTestJournal(folder, { workerUrl: new URL(`file://${worker}`), log });
    const append = journal.append(id, [created()]);
    const read = journal.readHistory(id, all);
    await expect(append).rejects.toMatchObject({ code: 'journal.outcome_unknown' });
    await expect(read).rejects.toMatchObject({ code: 'journal.fault' });
    await expect(journal.append(id, [created()])).rejects.toMatchObject({
      code: 'journal.fault',
      message: expect.stringContaining('boom'),
    });
    expect(log.lines).toEqual(['error The session store takes no more records.']);
    await journal.close();
  });
});
