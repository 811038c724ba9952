import type { DatabaseSync } from 'node:sqlite';
import { isObject } from '../../../../base/json.ts';
import type { Sliced } from '../reader.ts';
import { rollBack } from '../schema.ts';
import { promptText, searchable } from './search-text.ts';

/** Document ids of a session are n * 2^32 and up. */
export const ID_SPAN = 2 ** 32;
const SLICE_RECORDS = 256;

/** An indexed text: a title, or a message by the record it begins with. */
export type Document = { readonly id: number; readonly text: string };
type Batch = { readonly documents: readonly Document[]; readonly upTo: number };
type IndexedRecord = { readonly seq: number; readonly type: string; readonly event: unknown };

/**
 * Full text over titles and messages. It follows the records with its own commits, which are not synced: what a
 * crash of the machine takes is indexed again, since the position is part of the same commit.
 */
export class SearchIndex {
  readonly #database: DatabaseSync;
  readonly #fullText: boolean;
  readonly #behind = new Set<number>();
  readonly #statements: ReturnType<typeof prepare>;
  readonly #fts: ReturnType<typeof prepareFullText> | null;

  constructor(database: DatabaseSync, wanted: 'fts5' | 'like') {
    this.#database = database;
    this.#fullText = wanted === 'fts5' && setUpFullText(database);
    this.#statements = prepare(database);
    this.#statements.newest.setReturnArrays(true);
    this.#fts = this.#fullText ? prepareFullText(database) : null;
    for (const row of this.#statements.behind.all()) this.#behind.add(Number(row['n']));
  }

  /** True if words are looked up in an index, false if texts are read. */
  get usesFullText(): boolean {
    return this.#fullText;
  }

  get isBehind(): boolean {
    return this.#behind.size > 0;
  }

  /** Notes that the session has records worth indexing. */
  touch(n: number): void {
    this.#behind.add(n);
  }

  /** Indexes all that is not yet. */
  *catchUp(): Sliced<undefined, void> {
    for (const n of this.#behind) {
      while (this.#indexSlice(n)) yield;
      this.#behind.delete(n);
      yield;
    }
  }

  /**
   * The documents that match, by the number of their stream, oldest first; null if there are more than `limit` or no
   * index to ask.
   */
  gather(match: string, limit: number): ReadonlyMap<number, readonly number[]> | null {
    if (this.#fts === null) return null;
    const rows = this.#fts.gather.all(match, limit + 1);
    if (rows.length > limit) return null;
    const found = new Map<number, number[]>();
    for (const row of rows) {
      const id = Number(row['id']);
      const n = Math.floor(id / ID_SPAN);
      const ids = found.get(n);
      if (ids === undefined) found.set(n, [id]);
      else ids.push(id);
    }
    return found;
  }

  /** The streams that match. */
  streamsWith(match: string): readonly number[] {
    return this.#fts?.streams.all(match).map((row) => Number(row['n'])) ?? [];
  }

  /** The first documents of a stream that match, by their ids. */
  matchesIn(n: number, match: string, limit: number): readonly number[] {
    const [first, last] = [n * ID_SPAN, (n + 1) * ID_SPAN - 1];
    const rows = this.#fts?.within.all(match, first, last, limit) ?? [];
    return rows.map((row) => Number(row['id']));
  }

  /** Documents of a stream before one of them, newest first; its title, which is the oldest, first of all. */
  documentsBefore(n: number, before: number | null, limit: number): readonly Document[] {
    if (before === null) {
      const title = this.#statements.document.get(n * ID_SPAN);
      if (title !== undefined) return [{ id: n * ID_SPAN, text: String(title['text']) }];
    }
    const end = before === null || before === n * ID_SPAN ? (n + 1) * ID_SPAN : before;
    const rows: readonly unknown[] = this.#statements.newest.all(n * ID_SPAN, end, limit);
    return rows.flatMap((row) =>
      Array.isArray(row) ? { id: Number(row[0]), text: String(row[1]) } : [],
    );
  }

  document(id: number): Document | null {
    const row = this.#statements.document.get(id);
    return row === undefined ? null : { id, text: String(row['text']) };
  }

  /** The session that a stream's hits belong to. */
  rootOf(n: number): number {
    return Number(this.#statements.root.get(n)?.['root'] ?? n);
  }

  /** The streams of a session: its own and its delegates'. */
  streamsOf(n: number): readonly number[] {
    return [n, ...this.#statements.delegates.all(n).map((row) => Number(row['n']))];
  }

  /** Removes up to `limit` documents of a session inside the caller's transaction; false when none is left. */
  remove(n: number, limit: number): boolean {
    const [first, last] = [n * ID_SPAN, n * ID_SPAN + ID_SPAN - 1];
    const rows = this.#statements.documents.all(first, last, limit);
    for (const row of rows) {
      this.#forgetText(Number(row['id']), String(row['text']));
      this.#statements.remove.run(row['id'] ?? null);
    }
    this.#behind.delete(n);
    return rows.length > 0;
  }

  #forgetText(id: number, text: string): void {
    if (this.#fts === null) this.#statements.markStale.run();
    else this.#fts.remove.run(id, text);
  }

  /** Indexes the next records of a session; false if there are none. */
  #indexSlice(n: number): boolean {
    const session = this.#statements.position.get(n);
    if (session === undefined) return false;
    const from = Number(session['indexed_seq']);
    const rows = this.#statements.records.all(n, from, SLICE_RECORDS);
    const records = rows.map((row) => ({
      seq: Number(row['seq']),
      type: String(row['type']),
      event: parseOrNull(row['body']),
    }));
    const full = records.length === SLICE_RECORDS;
    const { documents, upTo } = batchOf(n, from, records, full);
    if (upTo === from) return false;
    this.#store(n, documents, upTo);
    return full;
  }

  #store(n: number, documents: readonly Document[], upTo: number): void {
    this.#database.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE');
    try {
      for (const document of documents) this.#put(document);
      this.#statements.advance.run(upTo, n);
      this.#database.exec('COMMIT');
    } catch (error) {
      rollBack(this.#database);
      throw error;
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL');
    }
  }

  #put({ id, text }: Document): void {
    const old = this.#statements.document.get(id);
    if (old !== undefined) this.#forgetText(id, String(old['text']));
    this.#statements.put.run(id, text);
    if (this.#fts === null) this.#statements.markStale.run();
    else this.#fts.add.run(id, text);
  }
}

/**
 * The documents of a run of records. Text deltas become one document for each message, when the message is over;
 * what is still open at the end is left for the next run, unless the run is full and would make no progress.
 */
function batchOf(n: number, from: number, records: readonly IndexedRecord[], full: boolean): Batch {
  const documents: Document[] = [];
  const open = new Map<string, { seq: number; text: string }>();
  let [settled, upTo] = [0, from];
  const flush = (): void => {
    for (const { seq, text } of open.values()) add(seq, text);
    open.clear();
  };
  const add = (seq: number, text: string): void => {
    if (text !== '') documents.push({ id: n * ID_SPAN + seq, text: searchable(text) });
  };
  for (const { seq, type, event } of records) {
    if (type === 'message_delta') collect(open, seq, event);
    else if (type === 'title_changed') add(0, textOf(event, 'title'));
    else if (type === 'tool_proposed') add(seq, textOf(event, 'title'));
    else flush();
    if (type === 'turn_started' || type === 'inject_delivered') add(seq, promptText(event));
    if (open.size > 0) continue;
    [settled, upTo] = [documents.length, seq];
  }
  const last = records.at(-1);
  if (full && upTo === from && last !== undefined) {
    flush();
    [settled, upTo] = [documents.length, last.seq];
  }
  return { documents: documents.slice(0, settled), upTo };
}

function collect(
  open: Map<string, { seq: number; text: string }>,
  seq: number,
  event: unknown,
): void {
  if (textOf(event, 'kind') !== 'text') return;
  const message = textOf(event, 'messageId');
  const entry = open.get(message);
  if (entry === undefined) open.set(message, { seq, text: textOf(event, 'text') });
  else entry.text += textOf(event, 'text');
}

function textOf(event: unknown, key: string): string {
  if (!isObject(event)) return '';
  const value = event[key];
  return typeof value === 'string' ? value : '';
}

function parseOrNull(body: unknown): unknown {
  if (typeof body !== 'string') return null;
  try {
    return JSON.parse(body);
  } catch {
    // A damaged record is reported by who reads or verifies it; it has no text to find.
    return null;
  }
}

/** Makes the index if SQLite can; false if it can't. */
function setUpFullText(database: DatabaseSync): boolean {
  const there = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'search'").get();
  try {
    database.exec(
      'CREATE VIRTUAL TABLE temp.search_probe USING fts5(x); DROP TABLE temp.search_probe',
    );
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
  const stale = database.prepare("SELECT 1 FROM facts WHERE name = 'search_stale'").get();
  if (there !== undefined && stale === undefined) return true;
  database.exec('BEGIN IMMEDIATE');
  try {
    if (there === undefined) {
      database.exec(`CREATE VIRTUAL TABLE search USING fts5(text, content = 'documents', content_rowid = 'id',
        columnsize = 0, tokenize = 'unicode61 remove_diacritics 2')`);
      database.exec("INSERT INTO search (search, rank) VALUES ('secure-delete', 1)");
    }
    database.exec("INSERT INTO search (search) VALUES ('rebuild')");
    database.exec("DELETE FROM facts WHERE name = 'search_stale'");
    database.exec('COMMIT');
    return true;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function prepare(database: DatabaseSync) {
  return {
    behind: database.prepare(
      'SELECT n FROM sessions WHERE deleting = 0 AND indexed_seq < history_seq',
    ),
    root: database.prepare('SELECT root FROM sessions WHERE n = ?'),
    delegates: database.prepare('SELECT n FROM sessions WHERE root = ?'),
    position: database.prepare('SELECT indexed_seq FROM sessions WHERE n = ? AND deleting = 0'),
    records: database.prepare(
      `SELECT r.seq, r.type, coalesce(r.body, CAST(b.bytes AS TEXT)) AS body
       FROM records r LEFT JOIN blobs b ON b.hash = r.blob
       WHERE r.n = ? AND r.stream = 'history' AND r.seq > ? AND r.type IN
         ('turn_started', 'message_delta', 'model_replied', 'turn_ended', 'title_changed', 'tool_proposed',
          'inject_delivered')
       ORDER BY r.seq LIMIT ?`,
    ),
    advance: database.prepare('UPDATE sessions SET indexed_seq = ? WHERE n = ?'),
    document: database.prepare('SELECT text FROM documents WHERE id = ?'),
    newest: database.prepare(
      'SELECT id, text FROM documents WHERE id > ? AND id < ? ORDER BY id DESC LIMIT ?',
    ),
    documents: database.prepare(
      'SELECT id, text FROM documents WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?',
    ),
    put: database.prepare('INSERT OR REPLACE INTO documents (id, text) VALUES (?, ?)'),
    remove: database.prepare('DELETE FROM documents WHERE id = ?'),
    markStale: database.prepare(
      "INSERT OR IGNORE INTO facts (name, value) VALUES ('search_stale', '1')",
    ),
  };
}

/** FTS5 only takes a row id bound that is an integer, and numbers are bound as reals: hence the casts. */
function prepareFullText(database: DatabaseSync) {
  return {
    add: database.prepare('INSERT INTO search (rowid, text) VALUES (?, ?)'),
    remove: database.prepare(
      "INSERT INTO search (search, rowid, text) VALUES ('delete', CAST(? AS INTEGER), ?)",
    ),
    streams: database.prepare('SELECT DISTINCT rowid >> 32 AS n FROM search WHERE search MATCH ?'),
    within: database.prepare(
      `SELECT rowid AS id FROM search WHERE search MATCH ?
       AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER) LIMIT ?`,
    ),
    gather: database.prepare('SELECT rowid AS id FROM search WHERE search MATCH ? LIMIT ?'),
  };
}
