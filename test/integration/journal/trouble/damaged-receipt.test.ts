import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { SessionId } from '../../../../src/core/session/words.ts';
import { actor, attached, created, sessionId } from '../../../support/journal/events.ts';
import { hostClient, openTestHost, promptHost } from '../../../support/journal/host.ts';
import { openTestJournal, temporaryFolder } from '../../../support/journal/open.ts';

const id = sessionId('s1');

function change(folder: string, sql: string, ...values: (string | number)[]): void {
  const database = new DatabaseSync(join(folder, 'sessions.db'));
  database.prepare(sql).run(...values);
  database.close();
}

const receipt = (count: number) =>
  ({
    stream: 'control',
    event: {
      type: 'control_outcome',
      receipt: {
        session_id: 's1',
        control_id: `c${count}`,
        method: 'session/cancel',
        outcome: 'cancelled',
        status: 'accepted',
        actor,
        target: { sessionId: 's1' },
        metadata: {},
      },
    },
  }) as const;

/** What one flipped byte of a body can do to it. */
const DAMAGE = [
  ['no JSON any more', `replace(body, '"metadata":{}', '"metadata":{')`],
  ['an unknown word', `replace(body, '"accepted"', '"acceptee"')`],
  ['a key of another name', `replace(body, '"receipt"', '"receiqt"')`],
] as const;

describe('a damaged receipt', () => {
  test.each(DAMAGE)('is left out where it may be, an error elsewhere: %s', async (_what, set) => {
    const folder = await temporaryFolder();
    const before = await openTestJournal(folder);
    await before.append(id, [created()]);
    for (let count = 1; count <= 9; count += 1)
      await before.append(id, [receipt(count), attached()]);
    await before.close();
    change(folder, `UPDATE records SET body = ${set} WHERE stream = 'control' AND seq IN (5, 17)`);
    const journal = await openTestJournal(folder);
    await expect(journal.readControl(id, { limit: 100 })).rejects.toMatchObject({
      code: 'journal.bad_record',
      data: { stream: 'control', seq: 5 },
    });
    const damaged: number[] = [];
    const damagedReceipt = (seq: number): void => {
      damaged.push(seq);
    };
    const seqs = async (range: object): Promise<number[]> =>
      (await journal.readControl(id, { limit: 100, damagedReceipt, ...range })).map(
        ({ seq }) => seq,
      );
    expect(await seqs({})).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18]);
    expect(damaged).toEqual([5, 17]);
    // A page is as long as it was asked for while there is more: who reads in pages misses nothing.
    expect(await seqs({ limit: 5 })).toEqual([1, 2, 3, 4, 6]);
    expect(await seqs({ limit: 5, newestFirst: true })).toEqual([18, 16, 15, 14, 13]);
    expect(await seqs({ after: 4, limit: 1 })).toEqual([6]);
    expect(await journal.verify(id, 'control')).toMatchObject({ ok: false, seq: 5 });
  });

  test('never lets another damaged record pass for one', async () => {
    const folder = await temporaryFolder();
    const before = await openTestJournal(folder);
    await before.append(id, [created(), receipt(1), attached()]);
    await before.close();
    change(folder, `UPDATE records SET body = replace(body, 'actor', 'acter') WHERE seq = 2`);
    const journal = await openTestJournal(folder);
    await expect(
      journal.readControl(id, { limit: 9, damagedReceipt: () => undefined }),
    ).rejects.toMatchObject({ code: 'journal.bad_record', data: { seq: 2 } });
  });

  test('keeps no session from being opened, and the rest of its receipts from being listed', async () => {
    const folder = await temporaryFolder();
    const first = openTestHost(await openTestJournal(folder));
    const session = await first.host.create(
      { cwd: folder, additionalDirectories: [], mcpServers: [] },
      hostClient,
    );
    await promptHost(first, session, 'say hello');
    const { sessionId: stored } = session;
    for (let round = 0; round < 3; round += 1)
      await first.host.cancel(stored, first.host.admit(), actor).receipt;
    await first.close();

    change(
      folder,
      `UPDATE records SET body = replace(body, '"metadata"', '"metaxata"')
       WHERE type = 'control_outcome' AND seq = (SELECT min(seq) FROM records WHERE type = 'control_outcome')`,
    );
    const journal = await openTestJournal(folder);
    const again = openTestHost(journal);
    const opened = await again.host.open(stored as SessionId, { cwd: folder }, hostClient);
    expect(await promptHost(again, opened, 'say again')).toMatchObject({
      terminal: { kind: 'natural' },
    });
    const list = await again.host.controls.receipts({ sessionId: stored, after: 0 });
    expect(list.receipts.length).toBeGreaterThanOrEqual(2);
    expect(list.damaged).toHaveLength(1);
    expect(await journal.verify(stored, 'control')).toMatchObject({ ok: false });
    expect(await journal.verify(stored, 'history')).toMatchObject({ ok: true });
  });
});
