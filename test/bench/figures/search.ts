import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type OpenJournal, openJournal } from '../../../src/core/journal/open-journal.ts';
import { searchable } from '../../../src/core/journal/store/search/search-text.ts';
import type { Log } from '../../../src/core/session/ports.ts';
import { created, delta, prompted } from '../../support/journal/events.ts';
import { randomFrom } from '../../support/random.ts';
import { elapsed, inFolder, interleaved } from '../measure.ts';
import type { Figure } from '../report.ts';

const SESSIONS = 5_000;
const MESSAGES = 200;
const PAGE = 50;
const ROUNDS = 9;
const ID_SPAN = 2 ** 32;
const WORDS = 40_000;

const silent = (): void => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };

/** What is looked for, and what it stands for. */
const SEARCHES: Readonly<Record<string, string>> = {
  'a word in 300,000 messages': 'harbour ',
  'that word, unfinished': 'harb',
  'one letter': 'h',
  'a word in 5 messages': 'needle ',
  'that word, unfinished ': 'needl',
  'two common words': 'harbour paint ',
  'two words, one unfinished': 'harbour pai',
  'a phrase in Chinese': '港口的灯塔',
  'a common word of old sessions only': 'quarry ',
  'that word, unfinished  ': 'quarr',
  'a word that is nowhere': 'zzzyx',
};

/** Nothing near the top of the list holds them: what that costs only informs. */
const INFORMS: ReadonlySet<string> = new Set(['quarry ', 'quarr']);

/** The first page of a search over a million messages. */
export async function benchSearch(): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    await withJournal(folder, async () => undefined);
    fill(join(folder, 'sessions.db'));
    return await withJournal(folder, measured);
  });
}

async function measured(journal: OpenJournal): Promise<readonly Figure[]> {
  const measures = Object.fromEntries(
    Object.entries(SEARCHES).map(([name, text]) => [
      name,
      () => elapsed(() => journal.sessions({ text, limit: PAGE })),
    ]),
  );
  const spans = await interleaved(ROUNDS, {
    ...measures,
    list: () => elapsed(() => journal.sessions({ limit: PAGE })),
  });
  return Object.entries(spans).flatMap(([name, ours]): Figure[] =>
    name === 'list'
      ? []
      : [
          {
            name: `search ${(SESSIONS * MESSAGES).toLocaleString('en')}: ${name.trim()}`,
            ours,
            unit: 'ms',
            baseline: { name: 'page of the list', value: spans['list'] ?? Number.NaN },
            aim: INFORMS.has(SEARCHES[name] ?? '') ? null : { kind: 'below', limit: 20 },
          },
        ],
  );
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

/** Rows as the store would have written them, without their hashes: nothing here reads those. */
function fill(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000');
  const session = database.prepare(
    `INSERT INTO sessions (session_id, cwd, additional_directories, title, created_at, last_message_at,
       history_seq, history_hash, control_seq, control_hash, indexed_seq)
     VALUES (?, '/work', '[]', ?, ?, ?, ?, '', 0, '', ?)`,
  );
  const record = database.prepare(
    "INSERT INTO records (n, stream, seq, v, at, type, body, hash) VALUES (?, 'history', ?, 1, 0, ?, ?, '')",
  );
  const document = database.prepare('INSERT INTO documents (id, text) VALUES (?, ?)');
  const text = textsFrom(randomFrom(7));
  database.exec('BEGIN');
  for (let n = 1; n <= SESSIONS; n += 1) {
    const last = MESSAGES + 1;
    session.run(`session-${n}`, `Session ${n}`, n, n, last, last);
    record.run(n, 1, 'session_created', JSON.stringify(created().event));
    document.run(n * ID_SPAN, `Session ${n}`);
    for (let message = 0; message < MESSAGES; message += 1) {
      const said = text(n, message);
      const { event } = message % 2 === 0 ? prompted(said) : delta(said, `m${message}`);
      record.run(n, message + 2, event.type, JSON.stringify(event));
      document.run(n * ID_SPAN + message + 2, searchable(said));
    }
  }
  database.exec('COMMIT');
  database.exec("INSERT INTO search (search) VALUES ('rebuild')");
  database.close();
}

/** Texts of words as unevenly common as those of a language. */
function textsFrom(random: () => number): (n: number, message: number) => string {
  const parts =
    'con com pre the in a er mes sage ing tion ta le ro de st ar ma lo vi po us al re un is'.split(
      ' ',
    );
  const words = Array.from({ length: WORDS }, () =>
    Array.from(
      { length: 2 + Math.floor(random() * 3) },
      () => parts[Math.floor(random() * parts.length)],
    ).join(''),
  );
  const word = (): string => words[Math.floor(Math.exp(random() * Math.log(WORDS))) - 1] ?? 'the';
  return (n, message) => {
    const said = Array.from({ length: 8 + Math.floor(random() * 20) }, word);
    if (random() < 0.3) said.push('harbour');
    if (random() < 0.2) said.push('paint');
    if (random() < 0.01) said.push('我看见港口的灯塔了');
    if (n % 1000 === 1 && message === 7) said.push('needle');
    if (n <= SESSIONS / 10) said.push('quarry');
    return said.join(' ');
  };
}
