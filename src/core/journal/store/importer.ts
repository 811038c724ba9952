import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { isObject } from '../../../base/json.ts';
import { chainHash, GENESIS_HASH } from '../chain.ts';
import { RECORD_VERSION, STREAMS, type StreamName } from '../codec/canonical.ts';
import type { EncodedRecord } from '../codec/codec.ts';
import { JournalError } from '../errors.ts';
import type { ImportAnswer, ImportedRecord, ImportedRow, ImportStep } from '../worker-protocol.ts';
import { BLOB_THRESHOLD_BYTES } from './appender.ts';
import { rollBack } from './schema.ts';

type Head = { readonly seq: number; readonly hash: string };

/** Streams that are being taken in; `n` is null where they are there already and are only compared. */
type Loop = {
  readonly loopId: string;
  readonly n: number | null;
  readonly createdAt: number;
  title: string | null;
  lastMessageAt: number;
  readonly heads: { [S in StreamName]: Head };
};

type Import = {
  readonly sessionId: string;
  /** The session is here already: nothing is written. */
  readonly exists: boolean;
  readonly loops: Map<string, Loop>;
  /** Where the history of a loop stood before records were added to it here. */
  readonly sealed: Map<string, Head | null>;
};

/**
 * Takes a session in from outside. Every record's hash is computed before the record is written; what is written is
 * hidden, in no list and no search, until the last step makes all of it visible in one commit. Whatever an import left
 * behind that came to no end is removed when the store is opened.
 */
export class Importer {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #imports = new Map<number, Import>();
  #lastTicket = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepare(database);
    database.exec('UPDATE sessions SET deleting = 1 WHERE deleting = 2');
  }

  /** Throws `journal.bad_record` for the first record that does not fit, and `journal.exists`. */
  step(step: ImportStep): ImportAnswer {
    if (step.step === 'begin') return { ticket: this.#begin(step.sessionId) };
    const found = this.#imports.get(step.ticket);
    if (found === undefined) throw new JournalError('journal.closed', 'The import is over.');
    switch (step.step) {
      case 'records':
        this.#inTransaction('NORMAL', () => this.#take(found, step));
        return {};
      case 'seal':
        found.sealed.set(step.loopId, found.loops.get(step.loopId)?.heads.history ?? null);
        this.#inTransaction('NORMAL', () => this.#seal(found, step));
        return {};
      case 'abort':
        this.#imports.delete(step.ticket);
        this.#inTransaction('FULL', () => this.#discard(found));
        return {};
      case 'finish': {
        checkRow(found, step.row);
        if (found.exists) this.#compare(found);
        if (!found.exists) this.#inTransaction('FULL', () => this.#show(found, step.cwd));
        this.#imports.delete(step.ticket);
        const loops = [...found.loops.values()].flatMap(({ n }) => n ?? []);
        return { alreadyThere: found.exists, loops };
      }
    }
  }

  #begin(sessionId: string): number {
    const row = this.#statements.find.get(sessionId);
    if (row !== undefined && row['deleting'] !== 0) throw busy(sessionId);
    if (row !== undefined && row['root'] !== null) throw taken(sessionId);
    this.#lastTicket += 1;
    const exists = row !== undefined;
    this.#imports.set(this.#lastTicket, {
      sessionId,
      exists,
      loops: new Map(),
      sealed: new Map(),
    });
    return this.#lastTicket;
  }

  #take(of: Import, { loopId, stream, records }: Extract<ImportStep, { step: 'records' }>): void {
    for (const record of records) {
      const loop = of.loops.get(loopId) ?? this.#beginLoop(of, loopId, stream, record);
      const head = loop.heads[stream];
      if (record.type === 'session_created' && head.seq > 0)
        throw misfit(loopId, stream, head.seq + 1, 'the session is created only once');
      const hash = expectedHash(loopId, stream, head, record);
      if (hash !== record.hash)
        throw misfit(loopId, stream, head.seq + 1, 'its content does not match its hash');
      this.#write(loop, stream, record);
    }
  }

  #write(loop: Loop, stream: StreamName, record: ImportedRecord): void {
    loop.heads[stream] = { seq: record.seq, hash: record.hash };
    if (stream === 'history') derive(loop, record);
    if (loop.n === null) return;
    const { seq, at, v, type, body, hash } = record;
    const big = Buffer.byteLength(body) > BLOB_THRESHOLD_BYTES;
    const blob = big ? this.#storeBlob(body) : null;
    this.#statements.insert.run(loop.n, stream, seq, v, at, type, big ? null : body, blob, hash);
  }

  #storeBlob(body: string): string {
    const bytes = Buffer.from(body, 'utf8');
    const hash = createHash('sha256').update(bytes).digest('hex');
    this.#statements.blob.run(hash, bytes);
    return hash;
  }

  #beginLoop(of: Import, loopId: string, stream: StreamName, first: ImportedRecord): Loop {
    const event: unknown = JSON.parse(first.body);
    if (stream !== 'history' || !isObject(event) || event['type'] !== 'session_created')
      throw misfit(loopId, stream, 1, 'a history begins with the creation of its session');
    const { delegate } = event;
    const rootId = isObject(delegate) ? delegate['rootId'] : null;
    const isRoot = of.loops.size === 0;
    if (isRoot ? loopId !== of.sessionId || rootId !== null : rootId !== of.sessionId)
      throw misfit(loopId, stream, 1, 'it belongs to another session');
    const n = of.exists ? null : this.#create(of, loopId, event, first.at);
    const genesis = { seq: 0, hash: GENESIS_HASH };
    const loop: Loop = {
      loopId,
      n,
      createdAt: first.at,
      title: null,
      lastMessageAt: first.at,
      heads: { history: genesis, control: genesis },
    };
    of.loops.set(loopId, loop);
    return loop;
  }

  #create(of: Import, loopId: string, event: Record<string, unknown>, at: number): number {
    if (this.#statements.find.get(loopId) !== undefined) throw taken(loopId);
    const root = of.loops.get(of.sessionId)?.n ?? null;
    const { lastInsertRowid } = this.#statements.create.run(
      loopId,
      String(event['cwd']).toWellFormed(),
      JSON.stringify(event['additionalDirectories']),
      at,
      at,
      GENESIS_HASH,
      GENESIS_HASH,
      root,
    );
    return Number(lastInsertRowid);
  }

  /** Records that this store adds behind what was taken in. */
  #seal(of: Import, { loopId, at, records }: Extract<ImportStep, { step: 'seal' }>): void {
    const loop = of.loops.get(loopId);
    if (loop === undefined || loop.n === null) return;
    for (const { stream, type, body } of records satisfies readonly EncodedRecord[]) {
      const head = loop.heads[stream];
      const place = { seq: head.seq + 1, at, v: RECORD_VERSION, type, body };
      const hash = expectedHash(loopId, stream, head, place);
      this.#write(loop, stream, { ...place, hash });
    }
  }

  /** Every record must be here already; there may be newer ones. */
  #compare(of: Import): void {
    for (const loop of of.loops.values()) {
      for (const stream of STREAMS) {
        const { seq, hash } = loop.heads[stream];
        if (seq === 0) continue;
        const stored = this.#statements.hash.get(loop.loopId, stream, seq);
        if (stored?.['hash'] !== hash) throw taken(of.sessionId);
      }
    }
  }

  #show(of: Import, cwd: string | undefined): void {
    for (const loop of of.loops.values()) {
      const { history, control } = loop.heads;
      this.#statements.show.run(
        loop.title,
        loop.lastMessageAt,
        history.seq,
        history.hash,
        control.seq,
        control.hash,
        cwd ?? null,
        loop.n,
      );
    }
  }

  #discard(of: Import): void {
    for (const { n } of of.loops.values()) if (n !== null) this.#statements.discard.run(n);
  }

  /** What is hidden needs no sync of its own: the last commit brings all before it to the disk. */
  #inTransaction(synchronous: 'NORMAL' | 'FULL', work: () => void): void {
    this.#database.exec(`PRAGMA synchronous = ${synchronous}; BEGIN IMMEDIATE`);
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      rollBack(this.#database);
      throw error;
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL');
    }
  }
}

/** What the document says of itself must be what its records say, without those that were added here. */
function checkRow({ sessionId, loops, sealed }: Import, row: ImportedRow): void {
  const root = loops.get(sessionId);
  if (root === undefined) throw misfit(sessionId, 'history', 1, 'it is missing');
  const { seq, hash } = sealed.get(sessionId) ?? root.heads.history;
  const same =
    row.title === root.title &&
    row.createdAt === root.createdAt &&
    row.lastMessageAt === root.lastMessageAt &&
    row.lastEventId === seq &&
    row.prefixHash === hash;
  if (!same) throw misfit(sessionId, 'history', seq, 'the head of the file says something else');
}

function expectedHash(
  session: string,
  stream: StreamName,
  head: Head,
  { seq, at, v, body }: Omit<ImportedRecord, 'hash'>,
): string {
  if (seq !== head.seq + 1) throw misfit(session, stream, head.seq + 1, 'it is missing');
  return chainHash(head.hash, { session, stream, seq, at, version: v, body });
}

function derive(loop: Loop, { type, at, body }: ImportedRecord): void {
  if (type === 'turn_started' || type === 'model_replied') loop.lastMessageAt = at;
  if (type !== 'title_changed') return;
  const event: unknown = JSON.parse(body);
  const title = isObject(event) ? event['title'] : null;
  loop.title = typeof title === 'string' ? title.toWellFormed() : null;
}

function misfit(session: string, stream: StreamName, seq: number, what: string): JournalError {
  return new JournalError(
    'journal.bad_record',
    `Record ${seq} of the ${stream} of ${session} does not fit: ${what}. Nothing was imported.`,
    { data: { session, stream, seq } },
  );
}

function busy(sessionId: string): JournalError {
  return new JournalError(
    'journal.exists',
    `The session ${sessionId} is just being removed or imported. Try again when that is over. Nothing was imported.`,
    { data: { session: sessionId }, retryable: true },
  );
}

function taken(sessionId: string): JournalError {
  return new JournalError(
    'journal.exists',
    `There is a session ${sessionId} here already, and its history is another one. Delete it first, or import into another data folder. Nothing was imported.`,
    { data: { session: sessionId } },
  );
}

function prepare(database: DatabaseSync) {
  return {
    find: database.prepare('SELECT root, deleting FROM sessions WHERE session_id = ?'),
    hash: database.prepare(
      `SELECT r.hash FROM records r JOIN sessions s ON s.n = r.n
       WHERE s.session_id = ? AND s.deleting = 0 AND r.stream = ? AND r.seq = ?`,
    ),
    create: database.prepare(
      `INSERT INTO sessions (session_id, cwd, additional_directories, created_at, last_message_at,
         history_seq, history_hash, control_seq, control_hash, root, deleting)
       VALUES (?, ?, ?, ?, ?, 0, ?, 0, ?, ?, 2)`,
    ),
    insert: database.prepare(
      'INSERT INTO records (n, stream, seq, v, at, type, body, blob, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    blob: database.prepare(
      'INSERT INTO blobs (hash, bytes, refs) VALUES (?, ?, 1) ON CONFLICT (hash) DO UPDATE SET refs = refs + 1',
    ),
    show: database.prepare(
      `UPDATE sessions SET title = ?, last_message_at = ?, history_seq = ?, history_hash = ?, control_seq = ?,
         control_hash = ?, cwd = coalesce(?, cwd), deleting = 0 WHERE n = ?`,
    ),
    discard: database.prepare('UPDATE sessions SET deleting = 1 WHERE n = ?'),
  };
}
