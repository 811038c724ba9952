import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { OpenJournal } from '../../../../src/core/journal/open-journal.ts';
import { attached, created, delta, sessionId } from '../../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const [one, other] = [sessionId('one'), sessionId('other')];
const workerUrl = new URL('../../../support/journal/faulty-worker.ts', import.meta.url);

async function open(folder?: string): Promise<{ journal: OpenJournal; folder: string }> {
  const dataFolder = folder ?? (await temporaryFolder());
  const journal = await openTestJournal(dataFolder, { workerUrl });
  if (folder === undefined) {
    await journal.append(one, [created()]);
    await journal.append(other, [created()]);
  }
  return { journal, folder: dataFolder };
}

const textsOf = async (journal: OpenJournal, id = one): Promise<string[]> =>
  (await journal.readHistory(id, all)).flatMap(({ event }) =>
    event.type === 'message_delta' ? [event.text] : [],
  );

async function expectWhole(journal: OpenJournal): Promise<void> {
  for (const id of [one, other])
    for (const stream of ['history', 'control'] as const)
      expect(await journal.verify(id, stream)).toMatchObject({ ok: true });
}

describe('a commit that broke, read back', () => {
  test.each(['commit-landed', 'commit-landed-broken'])(
    'that had reached the disk is a success with its own place and hash: %s',
    async (kind) => {
      const { journal, folder } = await open();
      const [stored, beside] = await Promise.all([
        journal.append(one, [delta(`FAULT:${kind}`), attached(), delta('second')]),
        journal.append(other, [delta('beside it')]),
      ]);
      expect(stored.map(({ stream, record }) => [stream, record.seq])).toEqual([
        ['history', 2],
        ['control', 1],
        ['history', 3],
      ]);
      expect(beside[0]?.record.seq).toBe(2);
      const next = await journal.append(one, [delta('third')]);
      expect(next[0]?.record.seq).toBe(4);
      expect(journal.fault).toBeNull();
      const read = await journal.readHistory(one, all);
      expect(read.map(({ hash }) => hash).slice(1, 3)).toEqual([
        stored[0]?.record.hash,
        stored[2]?.record.hash,
      ]);
      await expectWhole(journal);
      await journal.close();
      const again = await openTestJournal(folder);
      expect(await textsOf(again)).toEqual([`FAULT:${kind}`, 'second', 'third']);
    },
  );

  test.each(['commit-lost', 'commit-lost-broken', 'commit-cut', 'commit-full'])(
    'that is not there is a definite failure of that session alone: %s',
    async (kind) => {
      const { journal, folder } = await open();
      const failed = journal.append(one, [delta(`FAULT:${kind}`)]);
      const behind = journal.append(one, [delta('behind it')]);
      const beside = journal.append(other, [delta('beside it')]);
      const [lost, refused, kept] = await Promise.allSettled([failed, behind, beside]);
      expect(lost).toMatchObject({
        reason: { code: 'journal.fault', retryable: true, data: { folder } },
      });
      // Sent before anybody knew: it may not stand where the lost one was to be.
      expect(refused).toMatchObject({ reason: { code: 'journal.fault' } });
      expect(kept).toMatchObject({ status: 'fulfilled' });
      expect(journal.fault).toBeNull();
      expect(await textsOf(journal)).toEqual([]);
      expect(await textsOf(journal, other)).toEqual(['beside it']);
      // Whoever knows of it may go on, as a session does that is opened again.
      await journal.append(one, [delta('goes on')]);
      expect(await textsOf(journal)).toEqual(['goes on']);
      await expectWhole(journal);
      await journal.close();
      const again = await openTestJournal(folder);
      expect(await textsOf(again)).toEqual(['goes on']);
    },
  );

  test('that nobody can read back is of unknown outcome, and latches the store', async () => {
    const { journal, folder } = await open();
    const [unknown, beside] = await Promise.allSettled([
      journal.append(one, [delta('FAULT:commit-unreadable')]),
      journal.append(other, [delta('beside it')]),
    ]);
    for (const result of [unknown, beside])
      expect(result).toMatchObject({
        reason: {
          code: 'journal.outcome_unknown',
          message: expect.stringMatching(/reported an error.*known only after that/),
        },
      });
    expect(journal.fault?.code).toBe('journal.outcome_unknown');
    await expect(journal.append(other, [delta('later')])).rejects.toBe(journal.fault);
    await journal.close();
    const again = await openTestJournal(folder);
    expect(await textsOf(again)).toEqual([]);
    expect(await again.append(one, [delta('goes on')])).toHaveLength(1);
  });

  test('takes a deletion for what it is, too', async () => {
    const { journal } = await open();
    const [, deleted] = await Promise.all([
      journal.append(one, [delta('FAULT:commit-landed')]),
      journal.deleteSession(other),
    ]);
    expect(deleted).toBe(true);
    expect(await journal.session(other)).toBeNull();
  });
});

describe('a failure before the commit', () => {
  test.each([
    ['full', /is full.*Free some space.*open it again/],
    ['readonly', /can't write to.*PILOTHOUSE_HOME/],
  ])('stops the session it hit, and no other: %s', async (kind, message) => {
    const { journal } = await open();
    const [lost, beside] = await Promise.allSettled([
      journal.append(one, [delta('first of it'), delta(`FAULT:${kind}`)]),
      journal.append(other, [delta('beside it')]),
    ]);
    expect(lost).toMatchObject({
      reason: { code: 'journal.fault', message: expect.stringMatching(message), retryable: true },
    });
    expect(beside).toMatchObject({ status: 'fulfilled' });
    expect(await textsOf(journal)).toEqual([]);
    // Until its writer had the time to learn of the failure, it takes nothing.
    await setImmediate();
    await journal.append(one, [delta('goes on')]);
    await expectWhole(journal);
  });

  test('damage stops everything, and says what can still be done', async () => {
    const { journal } = await open();
    const lost = journal.append(one, [delta('FAULT:corrupt')]);
    await expect(lost).rejects.toMatchObject({
      code: 'journal.fault',
      retryable: false,
      message: expect.stringMatching(/is damaged.*exported.*verifying.*backup/),
    });
    expect(journal.fault?.code).toBe('journal.fault');
    await expect(journal.append(other, [delta('later')])).rejects.toBe(journal.fault);
    expect(await journal.readHistory(other, all)).toHaveLength(1);
  });

  test('every append that was sent before the failure was known is refused, however many', async () => {
    const { journal } = await open();
    const sent = [
      journal.append(one, [delta('before')]),
      journal.append(one, [delta('FAULT:full')]),
      ...Array.from({ length: 50 }, (_, index) => journal.append(one, [delta(`late ${index}`)])),
    ];
    const results = await Promise.allSettled(sent);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      ...Array.from({ length: 51 }, () => 'rejected'),
    ]);
    expect(await textsOf(journal)).toEqual(['before']);
  });
});
