import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isObject } from '../../../base/json.ts';
import { HOST_STREAM } from '../../session/ports.ts';
import { chainHash, GENESIS_HASH } from '../chain.ts';
import { RECORD_VERSION, type StreamName } from '../codec/canonical.ts';
import type { EncodedRecord } from '../codec/codec.ts';
import { JournalError } from '../errors.ts';
import type { Placed } from '../worker-protocol.ts';
import { rollBack } from './schema.ts';

/** Bodies past this many bytes are kept as blobs. */
export const BLOB_THRESHOLD_BYTES = 512 * 1024;

const MAX_CACHED_HEADS = 1024;

export type Append = {
  readonly kind: 'append';
  readonly sessionId: string;
  /** How many failures of this session the sender knows of; see `Committer`. */
  readonly generation: number;
  readonly at: number;
  readonly records: readonly EncodedRecord[];
};

/** Takes a session out of sight; its records are removed later. */
export type Hide = { readonly kind: 'hide'; readonly sessionId: string };

/** What a group is made of. */
export type Change = Append | Hide;

/** What came of one change of a group. */
export type ChangeResult =
  | { readonly ok: true; readonly placed: readonly Placed[] }
  | { readonly ok: false; readonly error: JournalError };

/** What came of one transaction. */
export type Attempt =
  | { readonly kind: 'committed'; readonly results: readonly ChangeResult[] }
  /** It broke before its commit: nothing of it is kept. `broken`: it could not even be rolled back. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly broken: boolean }
  /** The commit itself broke; if it reached the disk all the same, these are the results. */
  | { readonly kind: 'unsure'; readonly error: unknown; readonly results: readonly ChangeResult[] };

type Head = { readonly seq: number; readonly hash: string };

/** What the next record of a session builds on. */
type Heads = {
  readonly n: number;
  readonly streams: { readonly [S in StreamName]: Head };
};

/** Writes records and what is derived from them. */
export class Appender {
  readonly #database: DatabaseSync;
  readonly #heads = new Map<string, Heads>();
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepare(database);
  }

  /**
   * Commits the changes in one transaction, in their order. One that is refused does not touch the others; what
   * breaks the store breaks them all, since nothing of the transaction is kept.
   */
  attempt(group: readonly Change[]): Attempt {
    let results: readonly ChangeResult[] | null = null;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      results = group.map((change) => this.#changeOne(change));
      this.#database.exec('COMMIT');
      return { kind: 'committed', results };
    } catch (error) {
      this.#heads.clear();
      const broken = !this.#undo();
      return results === null
        ? { kind: 'failed', error, broken }
        : { kind: 'unsure', error, results };
    }
  }

  /** True if what a commit was to bring is there. Throws what the database says if it can't be read. */
  hasLanded(group: readonly Change[], results: readonly ChangeResult[]): boolean {
    return group.every((change, index) => {
      const result = results[index];
      if (result?.ok !== true) return true;
      if (change.kind === 'hide') {
        return this.#statements.heads.get(change.sessionId) === undefined;
      }
      return change.records.every(({ stream }, place) => {
        const { seq = 0, hash } = result.placed[place] ?? {};
        return this.#statements.hash.get(change.sessionId, stream, seq)?.['hash'] === hash;
      });
    });
  }

  /** False if the transaction can't be ended: then only a new connection can go on. */
  #undo(): boolean {
    try {
      rollBack(this.#database);
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return false;
    }
  }

  #changeOne(change: Change): ChangeResult {
    this.#database.exec('SAVEPOINT one');
    try {
      const placed = change.kind === 'append' ? this.#write(change) : this.#hide(change);
      this.#database.exec('RELEASE one');
      return { ok: true, placed };
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      this.#heads.delete(change.sessionId);
      this.#database.exec('ROLLBACK TO one; RELEASE one');
      return { ok: false, error };
    }
  }

  #write({ sessionId, at, records }: Append): readonly Placed[] {
    const known = this.#headsOf(sessionId);
    const heads = known ?? this.#begin(sessionId, at, records[0]);
    if (sessionId === HOST_STREAM) refuseHistory(records);
    const streams: { [S in StreamName]: Head } = { ...heads.streams };
    const placed: Placed[] = [];
    for (const [index, record] of records.entries()) {
      if (record.type === 'session_created' && (known !== null || index > 0)) {
        throw new JournalError(
          'journal.bad_record',
          `The session ${sessionId} exists already, so it can't be created.`,
          { data: { session: sessionId, stream: record.stream, type: record.type } },
        );
      }
      const previous = streams[record.stream];
      const head = this.#insert(heads.n, sessionId, at, record, previous);
      streams[record.stream] = head;
      placed.push(head);
    }
    this.#derive(heads.n, at, records, streams);
    this.#remember(sessionId, { n: heads.n, streams });
    return placed;
  }

  #hide({ sessionId }: Hide): readonly Placed[] {
    if (sessionId === HOST_STREAM) throw unknownSession(sessionId);
    const row = this.#statements.root.get(sessionId);
    if (row === undefined) throw unknownSession(sessionId);
    const n = Number(row['n']);
    // Nothing may be appended to what is hidden: what is known of its heads goes too.
    for (const { session_id: id } of this.#statements.family.all(n, n))
      this.#heads.delete(String(id));
    this.#statements.hide.run(n, n);
    return [];
  }

  #headsOf(sessionId: string): Heads | null {
    const cached = this.#heads.get(sessionId);
    if (cached !== undefined) return cached;
    const row = this.#statements.heads.get(sessionId);
    if (row === undefined) return null;
    return {
      n: Number(row['n']),
      streams: {
        history: { seq: Number(row['history_seq']), hash: String(row['history_hash']) },
        control: { seq: Number(row['control_seq']), hash: String(row['control_hash']) },
      },
    };
  }

  #remember(sessionId: string, heads: Heads): void {
    this.#heads.delete(sessionId);
    this.#heads.set(sessionId, heads);
    if (this.#heads.size <= MAX_CACHED_HEADS) return;
    const oldest = this.#heads.keys().next();
    if (oldest.done !== true) this.#heads.delete(oldest.value);
  }

  #begin(sessionId: string, at: number, first: EncodedRecord | undefined): Heads {
    // The host's own stream begins with its first record.
    if (sessionId === HOST_STREAM) return this.#create(sessionId, at, '', [], null);
    if (first === undefined || first.stream !== 'history' || first.type !== 'session_created') {
      throw unknownSession(sessionId);
    }
    const event: unknown = JSON.parse(first.body);
    const { cwd, additionalDirectories, delegate } = isObject(event) ? event : {};
    if (this.#statements.taken.get(sessionId) !== undefined) throw unknownSession(sessionId);
    const root = isObject(delegate) ? this.#rootOf(String(delegate['rootId'])) : null;
    return this.#create(sessionId, at, String(cwd).toWellFormed(), additionalDirectories, root);
  }

  /** Streams of a delegate can only be of a session that is there. */
  #rootOf(rootId: string): number {
    const row = this.#statements.root.get(rootId);
    if (row === undefined) throw unknownSession(rootId);
    return Number(row['n']);
  }

  #create(
    sessionId: string,
    at: number,
    cwd: string,
    additionalDirectories: unknown,
    root: number | null,
  ): Heads {
    const { lastInsertRowid } = this.#statements.create.run(
      sessionId,
      cwd,
      JSON.stringify(additionalDirectories),
      at,
      at,
      GENESIS_HASH,
      GENESIS_HASH,
      root,
    );
    const genesis = { seq: 0, hash: GENESIS_HASH };
    return { n: Number(lastInsertRowid), streams: { history: genesis, control: genesis } };
  }

  #insert(
    n: number,
    sessionId: string,
    at: number,
    { stream, type, body }: EncodedRecord,
    previous: Head,
  ): Head {
    const seq = previous.seq + 1;
    const hash = chainHash(previous.hash, {
      session: sessionId,
      stream,
      seq,
      at,
      version: RECORD_VERSION,
      body,
    });
    // A UTF-16 unit is at most three bytes of UTF-8: most bodies need no count.
    const big =
      body.length > BLOB_THRESHOLD_BYTES / 3 && Buffer.byteLength(body) > BLOB_THRESHOLD_BYTES;
    const blob = big ? this.#storeBlob(body) : null;
    const kept = big ? null : body;
    this.#statements.insert.run(n, stream, seq, RECORD_VERSION, at, type, kept, blob, hash);
    return { seq, hash };
  }

  #storeBlob(body: string): string {
    const bytes = Buffer.from(body, 'utf8');
    const hash = createHash('sha256').update(bytes).digest('hex');
    this.#statements.blob.run(hash, bytes);
    return hash;
  }

  #derive(
    n: number,
    at: number,
    records: readonly EncodedRecord[],
    { history, control }: { readonly [S in StreamName]: Head },
  ): void {
    const { advance, moved, title } = this.#statements;
    advance.run(history.seq, history.hash, control.seq, control.hash, n);
    for (const record of records) {
      if (record.stream !== 'history') continue;
      if (record.type === 'turn_started' || record.type === 'model_replied') moved.run(at, n);
      if (record.type === 'title_changed') title.run(titleOf(record.body), n);
    }
  }
}

function refuseHistory(records: readonly EncodedRecord[]): void {
  if (records.every(({ stream }) => stream === 'control')) return;
  throw new JournalError('journal.bad_record', 'The stream of the host has no history.', {
    data: { session: HOST_STREAM, stream: 'history' },
  });
}

/** SQLite's text is UTF-8, which has no lone surrogates; the event itself keeps them, escaped. */
function titleOf(body: string): string | null {
  const event: unknown = JSON.parse(body);
  return isObject(event) && typeof event['title'] === 'string'
    ? event['title'].toWellFormed()
    : null;
}

function prepare(database: DatabaseSync) {
  const statement = (sql: string): StatementSync => database.prepare(sql);
  return {
    heads: statement(
      'SELECT n, history_seq, history_hash, control_seq, control_hash FROM sessions WHERE session_id = ? AND deleting = 0',
    ),
    root: statement(
      'SELECT n FROM sessions WHERE session_id = ? AND root IS NULL AND deleting = 0',
    ),
    family: statement('SELECT session_id FROM sessions WHERE n = ? OR root = ?'),
    hide: statement('UPDATE sessions SET deleting = 1 WHERE n = ? OR root = ?'),
    hash: statement(
      'SELECT r.hash FROM records r JOIN sessions s ON s.n = r.n WHERE s.session_id = ? AND r.stream = ? AND r.seq = ?',
    ),
    taken: statement('SELECT n FROM sessions WHERE session_id = ?'),
    create: statement(
      `INSERT INTO sessions (session_id, cwd, additional_directories, created_at, last_message_at,
         history_seq, history_hash, control_seq, control_hash, root) VALUES (?, ?, ?, ?, ?, 0, ?, 0, ?, ?)`,
    ),
    insert: statement(
      'INSERT INTO records (n, stream, seq, v, at, type, body, blob, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    blob: statement(
      'INSERT INTO blobs (hash, bytes, refs) VALUES (?, ?, 1) ON CONFLICT (hash) DO UPDATE SET refs = refs + 1',
    ),
    advance: statement(
      'UPDATE sessions SET history_seq = ?, history_hash = ?, control_seq = ?, control_hash = ? WHERE n = ?',
    ),
    moved: statement('UPDATE sessions SET last_message_at = ? WHERE n = ?'),
    title: statement('UPDATE sessions SET title = ? WHERE n = ?'),
  };
}

function unknownSession(sessionId: string): JournalError {
  return new JournalError(
    'journal.unknown_session',
    `There is no session ${sessionId}; it may have been deleted.`,
    { data: { session: sessionId } },
  );
}
