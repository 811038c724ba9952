import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { HOST_STREAM, type NewRecord } from '../../../src/core/session/ports.ts';
import { actor, attached, created, delta, sessionId } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const id = sessionId('s1');

const moved = (to: number, restored: readonly string[] = []): NewRecord => ({
  stream: 'history',
  event: {
    type: 'history_moved',
    reason: 'rollback',
    to,
    checkpointId: null,
    beforeMessageCount: 2,
    afterMessageCount: 0,
    files: { undo: 'u', restored, skipped: [] },
    actor,
  },
});

const receipt = (session: string): NewRecord => ({
  stream: 'control',
  event: {
    type: 'control_outcome',
    receipt: {
      session_id: session,
      control_id: `c-${session}`,
      method: 'session/cancel',
      outcome: 'unknown_session',
      status: 'rejected',
      actor,
      target: { sessionId: session },
      reason: 'unknown_session',
      metadata: {},
    },
  },
});

describe('the moves of a history', () => {
  test('are found in their order, also one kept as a blob, and after a restart', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    expect(await journal.moves(id)).toEqual([]);
    await journal.append(id, [created(), delta('one'), delta('two')]);
    await journal.append(sessionId('other'), [created(), moved(1)]);
    expect(await journal.moves(id)).toEqual([]);
    const paths = Array.from({ length: 9_000 }, (_, index) => `/w/${'x'.repeat(60)}${index}`);
    await journal.append(id, [moved(2), delta('three'), moved(1, paths), moved(5)]);
    const expected = [
      { seq: 4, to: 2 },
      { seq: 6, to: 1 },
      { seq: 7, to: 5 },
    ];
    expect(await journal.moves(id)).toEqual(expected);
    await journal.close();
    const again = await openTestJournal(folder);
    expect(await again.moves(id)).toEqual(expected);
    expect(await again.verify(id, 'history')).toMatchObject({ ok: true, records: 7 });
    await again.deleteSession(id);
    expect(await again.moves(id)).toEqual([]);
  });

  test.each(['"x"', '2', '7', '0'])('one to %s is an error that names it', async (to) => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await journal.append(id, [created(), moved(1)]);
    await journal.close();
    const database = new DatabaseSync(join(folder, 'sessions.db'));
    database.exec(`UPDATE records SET body = '{"to":${to},"type":"history_moved"}' WHERE seq = 2`);
    database.close();
    const again = await openTestJournal(folder);
    await expect(again.moves(id)).rejects.toMatchObject({
      code: 'journal.bad_record',
      data: { session: 's1', stream: 'history', seq: 2 },
    });
  });
});

describe("the host's own stream", () => {
  test('keeps receipts that belong to no session, chained, and is nowhere else to be seen', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await journal.append(id, [created(), attached()]);
    await journal.append(HOST_STREAM, [receipt('gone')]);
    await journal.append(HOST_STREAM, [receipt('never')]);
    const check = async (open: typeof journal): Promise<void> => {
      const records = await open.readControl(HOST_STREAM, all);
      expect(
        records.map(({ event }) => event.type === 'control_outcome' && event.receipt.session_id),
      ).toEqual(['gone', 'never']);
      expect(await open.verify(HOST_STREAM, 'control')).toMatchObject({ ok: true, records: 2 });
      expect(await open.session(HOST_STREAM)).toBeNull();
      expect(
        (await open.sessions({ limit: 10 })).rows.map(({ sessionId: found }) => found),
      ).toEqual(['s1']);
      expect((await open.sessions({ limit: 10, text: 'host' })).rows).toEqual([]);
      expect((await open.sessions({ limit: 10, cwd: '' })).rows).toEqual([]);
      expect(await open.readHistory(HOST_STREAM, all)).toEqual([]);
    };
    await check(journal);
    await journal.close();
    const again = await openTestJournal(folder);
    await check(again);
    await again.deleteSession(id);
    expect(await again.readControl(HOST_STREAM, all)).toHaveLength(2);
  });

  test('can neither be created, nor told history, nor be deleted', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    await expect(journal.append(HOST_STREAM, [created()])).rejects.toMatchObject({
      code: 'journal.bad_record',
    });
    expect(await journal.deleteSession(HOST_STREAM)).toBe(false);
    await journal.append(HOST_STREAM, [receipt('x')]);
    expect(await journal.deleteSession(HOST_STREAM)).toBe(false);
    await expect(journal.append(HOST_STREAM, [receipt('y'), delta('no')])).rejects.toMatchObject({
      code: 'journal.bad_record',
    });
    expect(await journal.readControl(HOST_STREAM, all)).toHaveLength(1);
  });
});
