import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { NewRecord } from '../../../src/core/session/ports.ts';
import type { CommandId, LoopId } from '../../../src/core/session/words.ts';
import {
  attached,
  config,
  created,
  prompted,
  sessionId,
  titled,
} from '../../support/journal/events.ts';
import { occurrences } from '../../support/journal/in-folder.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const root = sessionId('root');
const all = { limit: 1000 };

/** The first record of a delegate's streams. */
function delegated(rootId = root): NewRecord {
  return {
    stream: 'history',
    event: {
      type: 'session_created',
      cwd: '/work/folder',
      additionalDirectories: [],
      config,
      delegate: {
        rootId,
        parentId: rootId as string as LoopId,
        requestId: 'r1' as CommandId,
        name: 'scout',
        depth: 1,
      },
    },
  };
}

describe('the streams of a delegate', () => {
  test('are in no list, and a hit in them finds the session they work for', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    await journal.append(root, [created(), titled('Parent'), prompted('go')]);
    await journal.append(sessionId('other'), [created(), prompted('nothing')]);
    await journal.append(sessionId('child'), [delegated(), prompted('find the zebra'), attached()]);
    await journal.append(sessionId('grandchild'), [delegated(), prompted('a giraffe')]);
    const ids = async (query: { text?: string; cwd?: string }) =>
      (await journal.sessions({ limit: 10, ...query })).rows.map((row) => row.sessionId);
    expect(await ids({})).toEqual(['other', 'root']);
    expect(await ids({ cwd: '/work/folder' })).toEqual(['other', 'root']);
    expect(await ids({ text: 'zebra' })).toEqual(['root']);
    expect(await ids({ text: 'giraffe' })).toEqual(['root']);
    expect(await ids({ text: 'go' })).toEqual(['root']);
    const delegates = await journal.delegates(root);
    expect(delegates.map((row) => [row.sessionId, row.rootId])).toEqual([
      ['child', 'root'],
      ['grandchild', 'root'],
    ]);
    expect((await journal.session(sessionId('child')))?.rootId).toBe('root');
    expect(await journal.session(root)).not.toHaveProperty('rootId');
    expect(await journal.verify(sessionId('child'), 'history')).toMatchObject({ records: 2 });
    expect(await journal.readControl(sessionId('child'), all)).toHaveLength(1);
  });

  test('go with their session, byte by byte, and take nothing more', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await journal.append(root, [created(), prompted('parent word')]);
    const child = sessionId('child');
    await journal.append(child, [delegated(), prompted('topsecretzebra '.repeat(60_000))]);
    expect((await journal.sessions({ limit: 5, text: 'topsecretzebra' })).rows).toHaveLength(1);
    // A delegate alone is nothing that can be deleted.
    expect(await journal.deleteSession(child)).toBe(false);
    expect(await journal.deleteSession(root)).toBe(true);
    for (const id of [root, child]) {
      expect(await journal.session(id)).toBeNull();
      expect(await journal.readHistory(id, all)).toEqual([]);
      await expect(journal.append(id, [prompted('late')])).rejects.toMatchObject({
        code: 'journal.unknown_session',
      });
    }
    expect(await journal.delegates(root)).toEqual([]);
    expect(occurrences(folder, 'topsecretzebra')).toBe(0);
    await journal.close();
    const database = new DatabaseSync(`${folder}/sessions.db`);
    for (const table of ['records', 'blobs', 'documents'])
      expect(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
    database.close();
  });

  test('begin only below a session that is there', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    await expect(journal.append(sessionId('orphan'), [delegated()])).rejects.toMatchObject({
      code: 'journal.unknown_session',
    });
    await journal.append(root, [created()]);
    await journal.append(sessionId('child'), [delegated()]);
    await expect(
      journal.append(sessionId('nested'), [delegated(sessionId('child'))]),
    ).rejects.toMatchObject({ code: 'journal.unknown_session' });
    await journal.append(sessionId('talk'), [created()]);
    expect((await journal.sessions({ limit: 5 })).rows).toHaveLength(2);
  });
});
