import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decodeControl, decodeHistory } from '../../../../src/core/journal/codec/codec.ts';
import { DATABASE_FILE } from '../../../../src/core/journal/store/database.ts';
import type { LoopJournal } from './evidence.ts';

/**
 * Reads every stream of a data folder whose process is dead, from a copy of its files, so that whoever opens it next
 * finds them as the kill left them. The chains are computed here once more, by other code than the product's.
 */
export function readJournal(dataFolder: string): readonly LoopJournal[] {
  const copy = mkdtempSync(join(tmpdir(), 'pilothouse-checked-'));
  try {
    for (const end of ['', '-wal', '-shm']) {
      const file = join(dataFolder, `${DATABASE_FILE}${end}`);
      if (existsSync(file)) cpSync(file, join(copy, `${DATABASE_FILE}${end}`));
    }
    return readAt(new DatabaseSync(join(copy, DATABASE_FILE)));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The same of a process that lives, as of one moment. */
export function readLiveJournal(dataFolder: string): readonly LoopJournal[] {
  return readAt(new DatabaseSync(join(dataFolder, DATABASE_FILE), { readOnly: true }));
}

function readAt(database: DatabaseSync): readonly LoopJournal[] {
  try {
    database.exec('BEGIN');
    return loopsOf(database);
  } finally {
    database.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

function loopsOf(database: DatabaseSync): readonly LoopJournal[] {
  if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'records'").get() === undefined)
    return [];
  const sessions: Row[] = database
    .prepare(
      'SELECT n, session_id, history_seq, history_hash, control_seq, control_hash FROM sessions WHERE deleting = 0 ORDER BY n',
    )
    .all();
  const rows = database.prepare(
    `SELECT r.seq, r.at, r.v, r.hash, coalesce(r.body, CAST(b.bytes AS TEXT)) AS body
     FROM records r LEFT JOIN blobs b ON b.hash = r.blob WHERE r.n = ? AND r.stream = ? ORDER BY r.seq`,
  );
  return sessions.map((session) => {
    const loopId = String(session['session_id']);
    const broken: string[] = [];
    const read = <E>(stream: 'history' | 'control', decode: Decode<E>): Read<E>[] => {
      const found: Row[] = rows.all(Number(session['n']), stream);
      broken.push(...brokenAt(loopId, stream, found, session));
      return found.map((row) => {
        const seq = Number(row['seq']);
        const place = { session: loopId, stream, seq };
        const { event, cause } = decode(place, Number(row['v']), String(row['body']));
        return {
          sessionId: loopId,
          seq,
          at: Number(row['at']),
          hash: String(row['hash']),
          event,
          cause,
        };
      });
    };
    return {
      loopId,
      history: read('history', decodeHistory),
      control: read('control', decodeControl),
      broken,
      // Ids are brands of strings.
    } as unknown as LoopJournal;
  });
}

type Decode<E> = (
  place: { session: string; stream: 'history' | 'control'; seq: number },
  version: number,
  body: string,
) => { readonly event: E; readonly cause: { readonly command_ids: readonly string[] } };

type Read<E> = {
  readonly sessionId: string;
  readonly seq: number;
  readonly at: number;
  readonly hash: string;
} & ReturnType<Decode<E>>;

function brokenAt(
  loopId: string,
  stream: 'history' | 'control',
  rows: readonly Row[],
  head: Row,
): readonly string[] {
  const broken: string[] = [];
  let previous = '0'.repeat(64);
  for (const [index, row] of rows.entries()) {
    const { seq, at, v, hash, body } = row;
    if (seq !== index + 1) broken.push(`${stream}: record ${index + 1} is missing`);
    const text = `{"at":${String(at)},"event":${String(body)},"seq":${String(seq)},"session":${JSON.stringify(loopId)},"stream":"${stream}","v":${String(v)}}`;
    const expected = createHash('sha256')
      .update(Buffer.from(previous, 'hex'))
      .update(text)
      .digest('hex');
    if (hash !== expected) broken.push(`${stream}: record ${String(seq)} does not fit its hash`);
    previous = String(hash);
  }
  if (head[`${stream}_seq`] !== rows.length)
    broken.push(
      `${stream}: the session says ${String(head[`${stream}_seq`])} records, there are ${rows.length}`,
    );
  if (rows.length > 0 && head[`${stream}_hash`] !== previous)
    broken.push(`${stream}: the session's hash is not that of the newest record`);
  return broken;
}
