import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { isObject } from '../../../base/json.ts';
import { JournalError } from '../errors.ts';
import type { MoveColumns, RangeQuery, RecordColumns, SessionColumns } from '../worker-protocol.ts';
import { OpenGates } from './open-gates.ts';

/** Work that gives way to appends after each slice. */
export type Sliced<Part, Result> = Generator<Part, Result, undefined>;

/** A slice of a read ends after this many records or characters: well below a millisecond of work at each end. */
const SLICE_RECORDS = 256;
const SLICE_CHARACTERS = 256 * 1024;

const RECORD_COLUMNS = 'r.seq, r.at, r.v, r.hash, coalesce(r.body, CAST(b.bytes AS TEXT)) AS body';
const RECORD_TABLES = 'records r LEFT JOIN blobs b ON b.hash = r.blob';

/** The columns of `sessions` that the list shows. */
export const SESSION_COLUMNS = `session_id, cwd, additional_directories, title, created_at, last_message_at, history_seq, history_hash,
   (SELECT of.session_id FROM sessions of WHERE of.n = sessions.root) AS root_id`;

/** Reads streams and sessions. */
export class Reader {
  readonly #number;
  readonly #session;
  readonly #delegates;
  readonly #hashAt;
  readonly #openGates: OpenGates;
  readonly #moves;
  readonly #range: (order: Order) => StatementSync;
  readonly #ranges: Record<Order, StatementSync>;

  constructor(database: DatabaseSync) {
    this.#openGates = new OpenGates(database);
    this.#number = database.prepare('SELECT n FROM sessions WHERE session_id = ? AND deleting = 0');
    this.#session = database.prepare(
      `SELECT ${SESSION_COLUMNS} FROM sessions WHERE session_id = ? AND deleting = 0`,
    );
    this.#delegates = database.prepare(
      `SELECT ${SESSION_COLUMNS} FROM sessions WHERE root = ? AND deleting = 0 ORDER BY n`,
    );
    this.#hashAt = database.prepare(
      "SELECT hash FROM records WHERE n = ? AND stream = 'history' AND seq = ?",
    );
    this.#moves = database.prepare(
      `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES}
       WHERE r.n = ? AND r.stream = 'history' AND r.type = 'history_moved' ORDER BY r.seq`,
    );
    this.#range = (order) => {
      const statement = database.prepare(
        `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES}
         WHERE r.n = ? AND r.stream = ? AND r.seq > ? AND r.seq < ? ORDER BY r.seq ${order}`,
      );
      statement.setReturnArrays(true);
      return statement;
    };
    this.#ranges = { ASC: this.#range('ASC'), DESC: this.#range('DESC') };
  }

  /** The number that stands for the session in the tables, or null. */
  numberOf(sessionId: string): number | null {
    const row = this.#number.get(sessionId);
    return row === undefined ? null : Number(row['n']);
  }

  session(sessionId: string): SessionColumns | null {
    const row = this.#session.get(sessionId);
    if (row === undefined) return null;
    const n = this.numberOf(sessionId);
    return { ...sessionColumns(row), ...(n === null ? {} : this.#openGates.of(n)) };
  }

  /** The streams of a session's delegates, oldest first. */
  delegates(rootId: string): readonly SessionColumns[] {
    const n = this.numberOf(rootId);
    return n === null ? [] : this.#delegates.all(n).map(sessionColumns);
  }

  hashAt(sessionId: string, seq: number): string | null {
    const n = this.numberOf(sessionId);
    const row = n === null ? undefined : this.#hashAt.get(n, seq);
    return row === undefined ? null : String(row['hash']);
  }

  /** Every move of a history, oldest first. Throws `journal.bad_record` for one that can't be read. */
  moves(sessionId: string): readonly MoveColumns[] {
    const n = this.numberOf(sessionId);
    if (n === null) return [];
    return this.#moves.all(n).map((row) => {
      const seq = Number(row['seq']);
      const to = targetOf(row['body']);
      if (to !== null && to < seq) return { seq, to };
      throw new JournalError(
        'journal.bad_record',
        `Record ${seq} of the history of session ${sessionId} can't be read: it does not say behind which earlier event the history goes on.`,
        { data: { session: sessionId, stream: 'history', seq } },
      );
    });
  }

  /** A range of a stream, slice by slice. An unknown session has no records. */
  *read(query: RangeQuery): Sliced<RecordColumns, RecordColumns> {
    const n = this.numberOf(query.sessionId);
    let after = query.after ?? 0;
    let before = query.before ?? Number.MAX_SAFE_INTEGER;
    let left = query.limit;
    while (n !== null && left > 0) {
      const order = query.newestFirst ? 'DESC' : 'ASC';
      const slice = this.#slice(order, left, [n, query.stream, after, before]);
      left -= slice.seqs.length;
      const last = slice.seqs.at(-1);
      if (last === undefined) return slice;
      if (query.newestFirst) before = last;
      else after = last;
      if (left <= 0) return slice;
      yield slice;
    }
    return noRecords();
  }

  #slice(order: Order, limit: number, values: readonly SQLInputValue[]): RecordColumns {
    try {
      return takeSlice(this.#ranges[order].iterate(...values), limit);
    } catch (error) {
      // A statement that failed between two rows tells of that failure again when it is used next.
      this.#ranges[order] = this.#range(order);
      throw error;
    }
  }
}

type Order = 'ASC' | 'DESC';

function targetOf(body: SQLOutputValue | undefined): number | null {
  if (typeof body !== 'string') return null;
  try {
    const event: unknown = JSON.parse(body);
    const to = isObject(event) ? event['to'] : null;
    return typeof to === 'number' && Number.isInteger(to) && to > 0 ? to : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function noRecords(): RecordColumns {
  return { seqs: [], ats: [], versions: [], hashes: [], bodies: [] };
}

function takeSlice(rows: Iterable<unknown>, limit: number): RecordColumns {
  const slice = noRecords();
  let characters = 0;
  for (const row of rows) {
    if (!Array.isArray(row)) throw new TypeError('A row is not an array.');
    const [seq, at, version, hash, body] = row as SQLOutputValue[];
    slice.seqs.push(Number(seq));
    slice.ats.push(Number(at));
    slice.versions.push(Number(version));
    slice.hashes.push(String(hash));
    slice.bodies.push(typeof body === 'string' ? body : null);
    characters += typeof body === 'string' ? body.length : 0;
    const count = slice.seqs.length;
    if (count >= limit || count >= SLICE_RECORDS || characters >= SLICE_CHARACTERS) break;
  }
  return slice;
}

/** A row of `SESSION_COLUMNS` as the list shows it. */
export function sessionColumns(row: Record<string, SQLOutputValue>): SessionColumns {
  const directories: unknown = JSON.parse(String(row['additional_directories']));
  return {
    sessionId: String(row['session_id']),
    cwd: String(row['cwd']),
    additionalDirectories: Array.isArray(directories) ? directories.map(String) : [],
    title: row['title'] === null ? null : String(row['title']),
    createdAt: Number(row['created_at']),
    lastMessageAt: Number(row['last_message_at']),
    lastEventId: Number(row['history_seq']),
    prefixHash: String(row['history_hash']),
    ...(typeof row['root_id'] === 'string' ? { rootId: row['root_id'] } : {}),
  };
}
