import { describe, expect, test } from 'vitest';
import type { NewRecord } from '../../../src/core/session/ports.ts';
import {
  attached,
  created,
  delta,
  everyControlEvent,
  everyHistoryEvent,
  prompted,
  replied,
  sessionId,
  titled,
} from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder, tickingClock } from '../../support/journal/open.ts';

const all = { limit: 1_000_000 };

describe('append and read', () => {
  test('what was appended is read back, in order, before and after a restart', async () => {
    const folder = await temporaryFolder();
    const id = sessionId('s1');
    const journal = await openTestJournal(folder);
    const rest: NewRecord[] = everyHistoryEvent
      .slice(1)
      .map((event) => ({ stream: 'history', event }));
    const control: NewRecord[] = everyControlEvent.map((event) => ({ stream: 'control', event }));
    const stored = await journal.append(id, [created('/w'), ...rest, ...control]);

    const history = await journal.readHistory(id, all);
    expect(history.map(({ event }) => event).slice(1)).toEqual(everyHistoryEvent.slice(1));
    expect(history.map(({ seq }) => seq)).toEqual(everyHistoryEvent.map((_, index) => index + 1));
    const controls = await journal.readControl(id, all);
    expect(controls.map(({ event }) => event)).toEqual(everyControlEvent);
    expect([...history, ...controls]).toEqual(stored.map(({ record }) => record));
    await journal.close();

    const again = await openTestJournal(folder);
    expect(await again.readHistory(id, all)).toEqual(history);
    expect(await again.readControl(id, all)).toEqual(controls);
    expect(await again.verify(id, 'history')).toEqual({
      ok: true,
      records: history.length,
      hash: history.at(-1)?.hash,
    });
    expect(await again.verify(id, 'control')).toMatchObject({
      ok: true,
      records: everyControlEvent.length,
    });
  });

  test('ranges are exclusive, limited and go both ways', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const id = sessionId('s1');
    await journal.append(id, [created(), ...Array.from({ length: 9 }, (_, i) => delta(`${i}`))]);
    const seqs = async (range: object): Promise<number[]> =>
      (await journal.readHistory(id, { limit: 100, ...range })).map(({ seq }) => seq);
    expect(await seqs({ after: 3, before: 7 })).toEqual([4, 5, 6]);
    expect(await seqs({ after: 3, before: 7, newestFirst: true })).toEqual([6, 5, 4]);
    expect(await seqs({ after: 3, limit: 2 })).toEqual([4, 5]);
    expect(await seqs({ before: 7, limit: 2, newestFirst: true })).toEqual([6, 5]);
    expect(await seqs({ after: 10 })).toEqual([]);
    expect(await seqs({ limit: 0 })).toEqual([]);
  });

  test('one refused append does not touch the others of its group, and order is kept', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const [a, b, none] = [sessionId('a'), sessionId('b'), sessionId('none')];
    const results = await Promise.allSettled([
      journal.append(a, [created()]),
      journal.append(none, [delta('lost')]),
      journal.append(b, [created()]),
      journal.append(a, [delta('1')]),
      journal.append(a, [delta('2'), created()]),
      journal.append(a, [delta('3')]),
      journal.append(none, [attached()]),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect(results[1]).toMatchObject({ reason: { code: 'journal.unknown_session' } });
    expect(results[4]).toMatchObject({ reason: { code: 'journal.bad_record' } });
    const texts = (await journal.readHistory(a, all)).map(({ event }) =>
      event.type === 'message_delta' ? event.text : event.type,
    );
    expect(texts).toEqual(['session_created', '1', '3']);
    expect(await journal.verify(a, 'history')).toMatchObject({ ok: true, records: 3 });
    expect(await journal.session(none)).toBeNull();
    expect(journal.fault).toBeNull();
  });

  test('the row of a session follows its events', async () => {
    const clock = tickingClock(1000);
    const journal = await openTestJournal(await temporaryFolder(), { clock });
    const id = sessionId('s1');
    await journal.append(id, [created('/w')]);
    expect(await journal.session(id)).toMatchObject({
      cwd: '/w',
      title: null,
      createdAt: 1001,
      lastMessageAt: 1001,
      lastEventId: 1,
    });
    await journal.append(id, [titled('One'), attached()]);
    expect(await journal.session(id)).toMatchObject({ title: 'One', lastMessageAt: 1001 });
    await journal.append(id, [prompted('Go')]);
    const [reply] = await journal.append(id, [replied()]);
    expect(await journal.session(id)).toMatchObject({
      lastMessageAt: 1004,
      lastEventId: 4,
      prefixHash: reply?.record.hash,
    });
    expect(await journal.hashAt(id, 4)).toBe(reply?.record.hash);
    expect(await journal.hashAt(id, 5)).toBeNull();
  });

  test('ten thousand events are read in order while appends and other reads go on', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const [long, short] = [sessionId('long'), sessionId('short')];
    await journal.append(long, [
      created(),
      ...Array.from({ length: 9_999 }, (_, index) => delta(`${index}`)),
    ]);
    await journal.append(short, [created()]);
    const order: string[] = [];
    const note = (what: string) => (): void => {
      order.push(what);
    };
    const [read, newest] = await Promise.all([
      journal.readHistory(long, all),
      journal.readHistory(long, { limit: 3, newestFirst: true }),
      journal.append(short, [delta('overtakes')]).then(note('append')),
      journal.readHistory(long, all).then(note('long read')),
    ]);
    expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    expect(newest.map(({ seq }) => seq)).toEqual([10_000, 9_999, 9_998]);
    expect(order).toEqual(['append', 'long read']);
  });

  test('a large body is restored from its blob', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    const id = sessionId('s1');
    const text = '\u00e9\ud800x'.repeat(400_000);
    const [, stored] = await journal.append(id, [created(), delta(text)]);
    const [read] = await journal.readHistory(id, { after: 1, limit: 1 });
    expect(read).toEqual(stored?.record);
    expect(await journal.verify(id, 'history')).toMatchObject({ ok: true, records: 2 });
  });
});
