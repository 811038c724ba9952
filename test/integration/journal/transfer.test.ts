import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/base/canonical-json.ts';
import { exportSession } from '../../../src/core/host/export/export-session.ts';
import { intoFile, intoText } from '../../../src/core/host/export/export-target.ts';
import { type Imported, importSession } from '../../../src/core/host/import/import-session.ts';
import { bytesOf } from '../../../src/core/host/import/import-source.ts';
import { chainHash, GENESIS_HASH } from '../../../src/core/journal/chain.ts';
import type { OpenJournal } from '../../../src/core/journal/open-journal.ts';
import type { NewRecord } from '../../../src/core/session/ports.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import {
  attached,
  created,
  delegateCreated as delegateEvent,
  delta,
  everyControlEvent,
  everyHistoryEvent,
  prompted,
  replied,
  sessionId,
  titled,
  turnId,
} from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';
import { randomFrom } from '../../support/random.ts';

const id = sessionId('session-1');
const all = { limit: 1_000_000 };

const exported = async (journal: OpenJournal, of: SessionId = id): Promise<string> =>
  (await intoText((sink) => exportSession(journal, of, 'json', sink))).text;

const imported = (journal: OpenJournal, text: string, cwd?: string): Promise<Imported> =>
  importSession(journal, bytesOf({ text }), cwd === undefined ? {} : { cwd });

/** The first record of a delegate's streams. */
function delegated(rootId: SessionId): NewRecord {
  if (delegateEvent.type !== 'session_created' || delegateEvent.delegate === undefined)
    throw new TypeError('It is of a delegate.');
  return {
    stream: 'history',
    event: { ...delegateEvent, delegate: { ...delegateEvent.delegate, rootId } },
  };
}

/** A session that is at rest, with a large body, odd texts and a delegate. */
async function fill(journal: OpenJournal): Promise<void> {
  await journal.append(id, [
    created(),
    titled('A “quoted” title,\n日本 \ud800'),
    prompted('Find the lighthouse'),
    delta('half \u2028 line\nnext', 'm1'),
    replied('m1'),
    { stream: 'history', event: ended },
    attached(),
  ]);
  await journal.append(sessionId('loop-1'), [
    delegated(id),
    prompted('look for it'),
    delta('blob '.repeat(110_000), 'm2'),
    replied('m2'),
    { stream: 'history', event: ended },
    attached('other'),
  ]);
}

const ended = {
  type: 'turn_ended',
  turnId,
  terminal: { kind: 'natural', owner: 'agent', reason: 'done' },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1 },
  iterations: 1,
} as const;

/** Nothing that an import tried is left, seen or unseen. */
async function expectNothing(journal: OpenJournal, folder: string): Promise<void> {
  expect((await journal.sessions({ limit: 10 })).rows).toEqual([]);
  await journal.close();
  await (await openTestJournal(folder)).close();
  const database = new DatabaseSync(join(folder, 'sessions.db'), { readOnly: true });
  for (const table of ['sessions', 'records', 'blobs'])
    expect(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
  database.close();
}

describe('an exported session', () => {
  test('comes back in another folder with the same records, hashes and place in the list', async () => {
    const from = await openTestJournal(await temporaryFolder());
    await fill(from);
    const text = await exported(from);
    const to = await openTestJournal(await temporaryFolder());
    const result = await imported(to, text);
    const row = await from.session(id);
    expect(result).toEqual({
      sessionId: id,
      events: row?.lastEventId,
      prefixHash: row?.prefixHash,
      alreadyThere: false,
    });
    expect((await to.sessions({ limit: 5 })).rows).toEqual(
      (await from.sessions({ limit: 5 })).rows,
    );
    expect(await to.delegates(id)).toEqual(await from.delegates(id));
    for (const loop of [id, sessionId('loop-1')]) {
      expect(await to.readHistory(loop, all)).toEqual(await from.readHistory(loop, all));
      expect(await to.readControl(loop, all)).toEqual(await from.readControl(loop, all));
      for (const stream of ['history', 'control'] as const)
        expect(await to.verify(loop, stream)).toEqual(await from.verify(loop, stream));
    }
    expect(await exported(to)).toBe(text);
    expect((await to.sessions({ limit: 5, text: 'lighthouse' })).rows).toHaveLength(1);
    await to.append(id, [prompted('and on')]);
    expect(await to.verify(id, 'history')).toMatchObject({ ok: true });
    expect(await to.deleteSession(id)).toBe(true);
    expect(await to.session(sessionId('loop-1'))).toBeNull();
  });

  test('is one JSON document whose hashes anybody can compute again', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    await fill(journal);
    const document: {
      loops: {
        loopId: string;
        history: { seq: number; at: number; v: number; hash: string; event: object }[];
      }[];
    } = JSON.parse(await exported(journal));
    expect(document).toMatchObject({ format: 'pilothouse-session', version: 1 });
    for (const { loopId, history } of document.loops) {
      let hash = GENESIS_HASH;
      for (const { seq, at, v, event, hash: claimed } of history) {
        const body = JSON.stringify(event);
        hash = chainHash(hash, { session: loopId, stream: 'history', seq, at, version: v, body });
        expect(hash).toBe(claimed);
      }
    }
  });

  test('holds every kind of event', async () => {
    const from = await openTestJournal(await temporaryFolder());
    const [first, ...rest] = everyHistoryEvent;
    if (first === undefined) throw new Error('missing');
    await from.append(id, [created()]);
    await from.append(id, [
      ...rest.flatMap((event) =>
        event.type === 'session_created' ? [] : [{ stream: 'history', event } as const],
      ),
      ...everyControlEvent.map((event) => ({ stream: 'control', event }) as const),
      { stream: 'history', event: ended },
    ]);
    const text = await exported(from);
    const to = await openTestJournal(await temporaryFolder());
    await imported(to, text);
    expect(await exported(to)).toBe(text);
  });

  test('works in another folder here if one is given, and is there already the second time', async () => {
    const from = await openTestJournal(await temporaryFolder());
    await fill(from);
    const text = await exported(from);
    const folder = await temporaryFolder();
    const to = await openTestJournal(folder);
    await imported(to, text, '/here');
    expect((await to.session(id))?.cwd).toBe('/here');
    expect(await imported(to, text)).toMatchObject({ alreadyThere: true });
    // It went on here: what is in the file is still all there.
    await to.append(id, [prompted('more')]);
    expect(await imported(to, text)).toMatchObject({ alreadyThere: true });
    expect(await imported(from, text)).toMatchObject({ alreadyThere: true });
    // It went on there: the two are not one history any more.
    await from.append(id, [prompted('something else')]);
    await expect(imported(to, await exported(from))).rejects.toMatchObject({
      code: 'import.exists',
      data: { session: id },
    });
    expect((await to.sessions({ limit: 5 })).rows).toHaveLength(1);
  });

  test('brings no open turn to life: it is ended behind the records of the file', async () => {
    const from = await openTestJournal(await temporaryFolder());
    await from.append(id, [created(), prompted('go'), delta('half')]);
    const text = await exported(from);
    const to = await openTestJournal(await temporaryFolder());
    const { events, prefixHash } = await imported(to, text);
    expect(events).toBe(3);
    expect(await to.hashAt(id, 3)).toBe(prefixHash);
    const history = await to.readHistory(id, all);
    expect(history.map(({ event }) => event.type).slice(3)).toEqual([
      'model_replied',
      'turn_ended',
    ]);
    expect(await to.verify(id, 'history')).toMatchObject({ ok: true, records: 5 });
    expect(await imported(to, text)).toMatchObject({ alreadyThere: true });
  });

  test('is written piece by piece to a file that is there whole or not at all', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await fill(journal);
    const path = join(folder, 'out.json');
    let longest = 0;
    const { bytes } = await intoFile(path, (sink) =>
      exportSession(journal, id, 'json', async (text) => {
        longest = Math.max(longest, text.length);
        await sink(text);
      }),
    );
    expect(bytes).toBe(Buffer.byteLength(await exported(journal)));
    expect(longest).toBeLessThan(600_000);
    const again = await openTestJournal(await temporaryFolder());
    await importSession(again, bytesOf({ path }));
    await expect(
      intoFile(join(folder, 'no', 'out.json'), async () => undefined),
    ).rejects.toMatchObject({ code: 'export.unwritable' });
    await expect(importSession(again, bytesOf({ path: folder }))).rejects.toMatchObject({
      code: 'import.unreadable',
    });
    await expect(exported(journal, sessionId('nobody'))).rejects.toMatchObject({
      code: 'host.unknown_session',
    });
  });

  test('reads as Markdown with the hash that proves it, its delegates behind it', async () => {
    const journal = await openTestJournal(await temporaryFolder());
    await fill(journal);
    const { text } = await intoText((sink) => exportSession(journal, id, 'markdown', sink));
    const row = await journal.session(id);
    expect(text).toContain(`prefix hash \`${row?.prefixHash}\``);
    expect(text).toContain('Find the lighthouse');
    expect(text.indexOf('# Delegate loop-1')).toBeGreaterThan(text.indexOf('Find the lighthouse'));
    expect(text).toContain('look for it');
  });
});

describe('a file that is not as it was exported', () => {
  test('is refused with any byte changed, gone or doubled, and leaves nothing', {
    timeout: 120_000,
  }, async () => {
    const from = await openTestJournal(await temporaryFolder());
    await from.append(id, [
      created(),
      titled('T'),
      prompted('go'),
      replied(),
      { stream: 'history', event: ended },
      attached(),
    ]);
    await from.append(sessionId('loop-1'), [delegated(id)]);
    const bytes = Buffer.from(await exported(from));
    const folder = await temporaryFolder();
    const to = await openTestJournal(folder);
    const random = randomFrom(4);
    const refused = async (changed: Buffer): Promise<void> => {
      await expect(
        importSession(
          to,
          (async function* () {
            yield changed;
          })(),
        ),
        changed.toString(),
      ).rejects.toMatchObject({ code: expect.stringMatching(/^import\.(?!exists)/) });
    };
    for (let round = 0; round < 250; round += 1) {
      const at = Math.floor(random() * bytes.length);
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      await refused(flipped);
      await refused(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]));
      await refused(Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)]));
      await refused(bytes.subarray(0, at));
    }
    // Untouched it is taken.
    await imported(to, bytes.toString());
    expect(await to.deleteSession(id)).toBe(true);
    await expectNothing(to, folder);
  });

  test('names the first record that does not fit', async () => {
    const from = await openTestJournal(await temporaryFolder());
    await fill(from);
    const text = await exported(from);
    const to = await openTestJournal(await temporaryFolder());
    await expect(imported(to, text.replace('Find the', 'Lose the'))).rejects.toMatchObject({
      code: 'import.bad_record',
      data: { session: id, stream: 'history', seq: 3 },
    });
    const lines = text.split('\n');
    const without = lines.toSpliced(4, 1).join('\n');
    await expect(imported(to, without)).rejects.toMatchObject({
      code: 'import.bad_record',
      data: { session: id, stream: 'history', seq: 3 },
    });
    for (const [what, code] of [
      ['', 'import.not_an_export'],
      ['{}', 'import.not_an_export'],
      ['\ufeff'.concat(text), 'import.not_an_export'],
      [`${text}{}`, 'import.not_an_export'],
      [JSON.stringify(JSON.parse(text)), 'import.not_an_export'],
      [text.replace('"version":1', '"version":2'), 'import.newer_version'],
      [text.replaceAll('"session-1"', '"../../etc"'), 'import.not_an_export'],
      [text.replaceAll('"session-1"', '"host"'), 'import.not_an_export'],
      [`${'['.repeat(3_000_000)}\n`, 'import.not_an_export'],
    ] as const)
      await expect(imported(to, what), what.slice(0, 40)).rejects.toMatchObject({ code });
  });

  test('is refused where its chain is whole but an event is none, twice or out of place', async () => {
    const to = await openTestJournal(await temporaryFolder());
    const good = { type: 'title_changed', title: 'x', cause: { command_ids: [] } };
    const first = {
      ...created().event,
      cause: { command_ids: [] },
    };
    for (const [events, seq] of [
      [[first, { ...good, more: 1 }], 2],
      [[first, { ...good, type: 'made_up' }], 2],
      [[first, { title: 'x' }], 2],
      [[good], 1],
      [[first, first], 2],
      [
        [
          {
            ...first,
            delegate: { rootId: 'x', parentId: 'x', requestId: 'x', name: 'x', depth: 1 },
          },
        ],
        1,
      ],
      ['{"cause":{"command_ids":[]},"title":"x","title":"x","type":"title_changed"}', 2],
      ['{"cause":{"command_ids":[]}, "title":"x","type":"title_changed"}', 2],
      [
        `{"cause":{"command_ids":[]},"title":${'['.repeat(100_000)}${']'.repeat(100_000)},"type":"title_changed"}`,
        2,
      ],
    ] as const) {
      const bodies = typeof events === 'string' ? [sorted(first), events] : events.map(sorted);
      await expect(imported(to, forged(bodies)), String(bodies)).rejects.toMatchObject({
        code: 'import.bad_record',
        data: { seq },
      });
    }
    await imported(to, forged([sorted(first), sorted(good)]));
  });

  test('leaves nothing behind when the process ends in the middle', async () => {
    const from = await openTestJournal(await temporaryFolder());
    await fill(from);
    const lines = (await exported(from)).split('\n');
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'note'), '');
    const to = await openTestJournal(folder);
    const begun = await to.beginImport(id);
    const record = JSON.parse(lines[2]?.replace(/,$/, '') ?? '') as {
      seq: number;
      at: number;
      v: number;
      hash: string;
      event: object;
    };
    await begun.records(id, 'history', [{ ...record, body: JSON.stringify(record.event) }]);
    expect(await to.session(id)).toBeNull();
    await expect(to.append(id, [created()])).rejects.toMatchObject({
      code: 'journal.unknown_session',
    });
    await expectNothing(to, folder);
  });
});

const sorted = (event: object): string => canonicalJson(event);

/** An export whose chain fits whatever its events are. */
function forged(bodies: readonly string[]): string {
  let hash = GENESIS_HASH;
  const lines = bodies.map((body, index) => {
    hash = chainHash(hash, {
      session: id,
      stream: 'history',
      seq: index + 1,
      at: 5,
      version: 1,
      body,
    });
    return `{"seq":${index + 1},"at":5,"v":1,"hash":"${hash}","event":${body}}`;
  });
  const title = bodies.length > 1 ? '"x"' : 'null';
  return `{"format":"pilothouse-session","version":1,"session":{"createdAt":5,"lastEventId":${bodies.length},"lastMessageAt":5,"prefixHash":"${hash}","sessionId":"${id}","title":${title}},"loops":[
{"loopId":"${id}","history":[
${lines.join(',\n')}
],"control":[
],"controlHash":null,"controlRecords":0,"historyHash":"${hash}","historyRecords":${bodies.length}}
]}
`;
}
