import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { DATABASE_FILE } from '../../../src/core/journal/store/database.ts';
import { actor, created, sessionId, titled } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';
import { readJournal } from '../../support/soak/checker/read-journal.ts';

async function aFolder(): Promise<string> {
  const folder = await temporaryFolder();
  const journal = await openTestJournal(folder);
  const id = sessionId('one');
  await journal.append(id, [
    created(),
    titled('a'),
    { stream: 'control', event: { type: 'client_attached', actor } },
  ]);
  await journal.append(id, [titled('b')]);
  await journal.close();
  return folder;
}

function doctor(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, DATABASE_FILE));
  database.exec(sql);
  database.close();
}

describe('the reader of a dead data folder', () => {
  test('gives every record of every stream, and finds nothing wrong with whole chains', async () => {
    const [loop, ...others] = readJournal(await aFolder());
    expect(others).toEqual([]);
    expect(loop?.broken).toEqual([]);
    expect(loop?.history.map(({ event }) => event.type)).toEqual([
      'session_created',
      'title_changed',
      'title_changed',
    ]);
    expect(loop?.control.map(({ event, seq }) => `${seq} ${event.type}`)).toEqual([
      '1 client_attached',
    ]);
  });

  test.each([
    [
      'a changed body',
      `UPDATE records SET body = replace(body, '"a"', '"z"')`,
      'record 2 does not fit',
    ],
    ['a missing record', 'DELETE FROM records WHERE seq = 2', 'record 2 is missing'],
    ['a missing end', 'DELETE FROM records WHERE seq = 3', 'the session says 3 records'],
    ['another head', `UPDATE sessions SET history_hash = '00'`, 'is not that of the newest record'],
  ])('sees %s', async (_what, sql, complaint) => {
    const folder = await aFolder();
    doctor(folder, sql);
    expect(readJournal(folder)[0]?.broken.join('\n')).toContain(complaint);
  });
});
