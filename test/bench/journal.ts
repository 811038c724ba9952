import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type OpenJournal, openJournal } from '../../src/core/journal/open-journal.ts';
import type { Log, NewRecord } from '../../src/core/session/ports.ts';
import type { SessionId } from '../../src/core/session/words.ts';
import { created, delta, prompted, replied, sessionId, titled } from '../support/journal/events.ts';

import { interleaved } from './measure.ts';

/** One measured figure and what the bare thing costs in the same run. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 'per second';
  readonly baseline: number;
  readonly baselineName: string;
  /** How many times the cost of the baseline: below 1 is cheaper. */
  readonly ratio: number;
};

const silent = (): void => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-bench-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withJournal<T>(
  folder: string,
  run: (journal: OpenJournal) => Promise<T>,
): Promise<T> {
  const journal = await openJournal({ dataFolder: folder, log, clock: Date });
  try {
    return await run(journal);
  } finally {
    await journal.close();
  }
}

async function elapsed(run: () => unknown): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

async function median(times: number, run: () => unknown): Promise<number> {
  const spans: number[] = [];
  for (let round = 0; round < times; round += 1) spans.push(await elapsed(run));
  return spans.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN;
}

/** A bare table with the same durability: write-ahead log, every commit synced. */
function bareDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
    CREATE TABLE records (n INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (n, seq)) WITHOUT ROWID`);
  return database;
}

const text = 'A streamed piece of a reply, as long as most are. '.repeat(4);

const PARALLEL = 64;

/**
 * Durable appends: one after another, and 64 sessions at once, against bare inserts that commit one by one; in turns,
 * so that a busy disk is as bad to each.
 */
export async function benchAppends(rounds = 15, appends = 128): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const bare = bareDatabase(join(folder, 'bare.db'));
    const insert = bare.prepare('INSERT INTO records VALUES (1, ?, ?)');
    const body = JSON.stringify(delta(text).event);
    let seq = 0;
    const bareInserts = (): void => {
      for (let index = 0; index < appends; index += 1) {
        seq += 1;
        insert.run(seq, body);
      }
    };
    const spans = await withJournal(join(folder, 'home'), async (journal) => {
      const ids = Array.from({ length: PARALLEL }, (_, index) => sessionId(`s${index}`));
      for (const id of ids) await journal.append(id, [created()]);
      const one = ids[0] ?? sessionId('s0');
      const append = async (id: SessionId, times: number): Promise<void> => {
        for (let index = 0; index < times; index += 1) await journal.append(id, [delta(text)]);
      };
      return await interleaved(rounds, {
        bare: () => elapsed(bareInserts),
        serial: () => elapsed(() => append(one, appends)),
        parallel: () => elapsed(() => Promise.all(ids.map((id) => append(id, appends / PARALLEL)))),
      });
    });
    bare.close();
    const figure = (name: string, span: number): Figure => ({
      name,
      value: (appends / span) * 1000,
      unit: 'per second',
      baseline: (appends / spans.bare) * 1000,
      baselineName: 'bare inserts, each synced',
      ratio: span / spans.bare,
    });
    return [
      figure('durable appends, one after another', spans.serial),
      figure('durable appends, 64 sessions at once', spans.parallel),
    ];
  });
}

/** Reading a whole session against reading and parsing the same rows in place. */
export async function benchLoad(events = 10_000): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const id = sessionId('long');
    const home = join(folder, 'home');
    const [whole, first] = await withJournal(home, async (journal) => {
      const records: NewRecord[] = Array.from({ length: events - 1 }, (_, index) =>
        index % 10 === 9 ? replied(`m${index}`) : delta(text, `m${index - (index % 10) + 9}`),
      );
      await journal.append(id, [created()]);
      for (let at = 0; at < records.length; at += 500) {
        await journal.append(id, records.slice(at, at + 500));
      }
      // Indexing is over once a search was answered.
      await journal.sessions({ limit: 1, text: 'nothing' });
      return [
        await median(7, () => journal.readHistory(id, { limit: events })),
        await median(7, () => journal.readHistory(id, { limit: 100, newestFirst: true })),
      ] as const;
    });
    const database = new DatabaseSync(join(home, 'sessions.db'));
    const select = database.prepare(
      "SELECT seq, at, v, hash, body FROM records WHERE n = 1 AND stream = 'history' ORDER BY seq",
    );
    const bare = await median(7, () =>
      select.all().map((row) => JSON.parse(String(row['body'])) as unknown),
    );
    const page = database.prepare(
      "SELECT seq, at, v, hash, body FROM records WHERE n = 1 AND stream = 'history' ORDER BY seq DESC LIMIT 100",
    );
    const barePage = await median(7, () =>
      page.all().map((row) => JSON.parse(String(row['body'])) as unknown),
    );
    database.close();
    return [
      {
        name: `load of ${events} events`,
        value: whole,
        unit: 'ms',
        baseline: bare,
        baselineName: 'bare select and JSON.parse',
        ratio: whole / bare,
      },
      {
        name: 'newest 100 events',
        value: first,
        unit: 'ms',
        baseline: barePage,
        baselineName: 'bare select and JSON.parse',
        ratio: first / barePage,
      },
    ];
  });
}

/** One page of the list, the first and one in the middle, and one found by a word. */
export async function benchList(sessions = 10_000, limit = 50): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const home = join(folder, 'home');
    const spans = await withJournal(home, async (journal) => {
      await Promise.all(
        Array.from({ length: sessions }, (_, index) =>
          journal.append(sessionId(`session-${index}`), [
            created(`/work/${index % 20}`),
            titled(`Title number ${index}`),
            prompted(`Please do thing ${index} for me`),
          ]),
        ),
      );
      const first = await journal.sessions({ limit });
      let cursor = first.nextCursor ?? '';
      for (let page = 1; page < 100; page += 1) {
        cursor = (await journal.sessions({ limit, cursor })).nextCursor ?? cursor;
      }
      await journal.sessions({ limit, text: 'thing' });
      return {
        'first page of the list': await median(15, () => journal.sessions({ limit })),
        'page 101 of the list': await median(15, () => journal.sessions({ limit, cursor })),
        'first page in one folder': await median(15, () =>
          journal.sessions({ limit, cwd: '/work/7' }),
        ),
        'first page of a common word': await median(15, () =>
          journal.sessions({ limit, text: 'thing' }),
        ),
        'first page of a rare word': await median(15, () =>
          journal.sessions({ limit, text: '7777' }),
        ),
      };
    });
    const database = new DatabaseSync(join(home, 'sessions.db'));
    const select = database.prepare(
      'SELECT * FROM sessions WHERE deleting = 0 ORDER BY last_message_at DESC, session_id LIMIT ?',
    );
    const bare = await median(15, () => select.all(limit));
    database.close();
    return Object.entries(spans).map(([name, value]) => ({
      name: `${name} (${sessions} sessions)`,
      value,
      unit: 'ms',
      baseline: bare,
      baselineName: 'bare select of a page',
      ratio: value / bare,
    }));
  });
}

/** How long an append waits while a session of 100,000 events is read and verified, against an idle store. */
export async function benchAppendDuringReads(events = 100_000): Promise<readonly Figure[]> {
  return await inFolder(async (folder) =>
    withJournal(join(folder, 'home'), async (journal) => {
      const [long, short] = [sessionId('long'), sessionId('short')];
      await journal.append(long, [created()]);
      await journal.append(short, [created()]);
      for (let at = 0; at < events; at += 1000) {
        await journal.append(
          long,
          Array.from({ length: 1000 }, () => delta(text)),
        );
      }
      const append = (): Promise<unknown> => journal.append(short, [delta(text)]);
      const idle = await median(200, append);
      let reading = true;
      const reads = Promise.all([
        journal.readHistory(long, { limit: events }),
        journal.verify(long, 'history'),
      ]).finally(() => {
        reading = false;
      });
      const spans: number[] = [];
      while (reading) spans.push(await elapsed(append));
      await reads;
      spans.sort((a, b) => a - b);
      const at = (part: number): number => spans[Math.floor(spans.length * part)] ?? Number.NaN;
      const figure = (name: string, value: number): Figure => ({
        name: `${name} append while ${events} events are read and verified`,
        value,
        unit: 'ms',
        baseline: idle,
        baselineName: 'median append of an idle store',
        ratio: value / idle,
      });
      return [figure('median', at(0.5)), figure('95th percentile of', at(0.95))];
    }),
  );
}

/** Everything about the store. */
export async function benchJournal(): Promise<readonly Figure[]> {
  return [
    ...(await benchAppends()),
    ...(await benchLoad()),
    ...(await benchList()),
    ...(await benchAppendDuringReads()),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, value, unit, baseline, baselineName, ratio } of await benchJournal()) {
    console.log(
      `${name}: ${value.toFixed(2)} ${unit}; ${baselineName}: ${baseline.toFixed(2)}; ratio ${ratio.toFixed(2)}`,
    );
  }
}
