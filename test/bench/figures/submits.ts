import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Client, LiveSession } from '../../../src/core/host/api.ts';
import { openHost, type RunningHost } from '../../../src/core/host/compose/open-host.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import { type OpenJournal, openJournal } from '../../../src/core/journal/open-journal.ts';
import type { NewRecord } from '../../../src/core/session/ports.ts';
import { actor } from '../../support/journal/events.ts';
import { elapsed, inFolder, median } from '../measure.ts';
import type { Figure } from '../report.ts';

const ROUNDS = 10;
const SUBMITS = 20;

const client: Client = {
  key: 'test',
  actor,
  canReadFiles: false,
  canWriteFiles: false,
  readTextFile: async () => null,
  writeTextFile: async () => false,
};

/**
 * Submits to a live session one after another, from the prompt to the sealed turn: the engine as it is, with a model
 * that answers at once. The bare thing commits the same bodies in as many transactions, each synced.
 */
export async function benchSubmits(): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const log = createLog({ file: null, level: 'error', stderr: process.stderr });
    const journal = await openJournal({ dataFolder: folder, log, clock: Date });
    const batches = batchesOf(journal);
    const running = openHost({
      journal,
      dataFolder: folder,
      environment: { ...process.env, PILOTHOUSE_BENCH: '1', PILOTHOUSE_SANDBOX: 'off' },
      defaultModel: 'rehearsal/instant',
      version: '0.0.0',
      log,
    });
    try {
      return await measured(running, folder, batches);
    } finally {
      await running.close();
      log.dispose();
    }
  });
}

async function measured(
  { host }: RunningHost,
  folder: string,
  batches: (readonly NewRecord[])[],
): Promise<readonly Figure[]> {
  const session = await host.create(
    { cwd: folder, additionalDirectories: [], mcpServers: [] },
    client,
  );
  const submit = async (index: number): Promise<void> => {
    await prompt(session, host.admit(), `say ${index}`);
  };
  for (let index = 0; index < 10; index += 1) await submit(index);
  const database = bareDatabase(join(folder, 'bare.db'));
  let commits = 0;
  // In turns, so that a busy disk is as bad to both.
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    batches.length = 0;
    const span = await elapsed(async () => {
      for (let index = 0; index < SUBMITS; index += 1) await submit(index);
    });
    ours.push(span);
    bare.push(bareCommits(database, batches));
    commits += batches.length;
  }
  database.close();
  const each = (commits / SUBMITS / ROUNDS).toFixed(1);
  const rate = (span: number): number => (SUBMITS / span) * 1000;
  return [
    {
      name: 'durable submits to the sealed turn',
      ours: rate(median(ours)),
      unit: '/s',
      baseline: { name: `bare commits, ${each} a submit`, value: rate(median(bare)) },
      aim: null,
    },
  ];
}

async function prompt(
  session: LiveSession,
  admission: ReturnType<RunningHost['host']['admit']>,
  text: string,
): Promise<void> {
  const content = [{ type: 'text', text } as const];
  const { stopReason } = await session.prompt({ admission, content, actor });
  if (stopReason !== 'end_turn') throw new Error(`A turn of the bench ended with ${stopReason}.`);
}

/** Every batch that is appended from now on. */
function batchesOf(journal: OpenJournal): (readonly NewRecord[])[] {
  const batches: (readonly NewRecord[])[] = [];
  const append = journal.append.bind(journal);
  journal.append = (sessionId, records) => {
    batches.push(records);
    return append(sessionId, records);
  };
  return batches;
}

function bareDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
    CREATE TABLE records (seq INTEGER PRIMARY KEY, body TEXT)`);
  return database;
}

function bareCommits(database: DatabaseSync, batches: readonly (readonly NewRecord[])[]): number {
  const insert = database.prepare('INSERT INTO records (body) VALUES (?)');
  const bodies = batches.map((records) => records.map(({ event }) => JSON.stringify(event)));
  const started = performance.now();
  for (const batch of bodies) {
    database.exec('BEGIN');
    for (const body of batch) insert.run(body);
    database.exec('COMMIT');
  }
  return performance.now() - started;
}
