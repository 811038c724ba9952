import type { DatabaseSync } from 'node:sqlite';
import { JournalError } from '../errors.ts';

/** One step of the schema; step N takes a database of version N to N + 1, inside a transaction of its own. */
export type Migration = (database: DatabaseSync) => void;

/** "PLTH", so that tools can tell the file from other SQLite databases. */
export const APPLICATION_ID = 0x504c5448;

const FIRST_SCHEMA = `
  -- "n" stands for the session in every other table. AUTOINCREMENT: the number of a deleted session never returns.
  CREATE TABLE sessions (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE,
    cwd TEXT NOT NULL,
    additional_directories TEXT NOT NULL,
    title TEXT,
    created_at INTEGER NOT NULL,
    last_message_at INTEGER NOT NULL,
    history_seq INTEGER NOT NULL,
    history_hash TEXT NOT NULL,
    control_seq INTEGER NOT NULL,
    control_hash TEXT NOT NULL,
    -- History records up to this one are in "documents".
    indexed_seq INTEGER NOT NULL DEFAULT 0,
    -- 1 while its records are being removed: hidden from every query but the remover's.
    deleting INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX sessions_by_message ON sessions (last_message_at DESC, session_id)
    WHERE deleting = 0;
  CREATE INDEX sessions_by_cwd ON sessions (cwd, last_message_at DESC, session_id)
    WHERE deleting = 0;
  CREATE INDEX sessions_deleting ON sessions (n) WHERE deleting = 1;

  -- Bodies past the size limit of a record, by their SHA-256; "refs" counts the records that name one.
  CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    bytes BLOB NOT NULL,
    refs INTEGER NOT NULL CHECK (refs > 0)
  ) STRICT;

  -- "hash" is the chain hash up to and with this record; the body is canonical JSON, here or in a blob.
  CREATE TABLE records (
    n INTEGER NOT NULL REFERENCES sessions (n),
    stream TEXT NOT NULL CHECK (stream IN ('history', 'control')),
    seq INTEGER NOT NULL CHECK (seq > 0),
    v INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT,
    blob TEXT REFERENCES blobs (hash),
    hash TEXT NOT NULL,
    PRIMARY KEY (n, stream, seq),
    CHECK ((body IS NULL) <> (blob IS NULL))
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_blob ON records (blob) WHERE blob IS NOT NULL;

  -- What can be searched: id = n * 2^32 + seq of the message's first record, and seq 0 for the title.
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL
  ) STRICT;

  CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

const MOVES = `
  CREATE INDEX records_moves ON records (n, seq) WHERE type = 'history_moved';
`;

/**
 * The streams of delegates belong to a session and are in no list. What was steered is indexed as well: sessions that
 * hold such messages are indexed anew.
 */
const DELEGATES = `
  -- The session that a delegate's streams belong to; null for a session itself.
  ALTER TABLE sessions ADD COLUMN root INTEGER;
  CREATE INDEX sessions_by_root ON sessions (root) WHERE root IS NOT NULL;
  DROP INDEX sessions_by_message;
  DROP INDEX sessions_by_cwd;
  CREATE INDEX sessions_by_message ON sessions (last_message_at DESC, session_id)
    WHERE deleting = 0 AND root IS NULL;
  CREATE INDEX sessions_by_cwd ON sessions (cwd, last_message_at DESC, session_id)
    WHERE deleting = 0 AND root IS NULL;

  CREATE TEMP TABLE steered AS SELECT DISTINCT n FROM main.records WHERE type = 'inject_delivered';
  UPDATE sessions SET indexed_seq = 0 WHERE n IN (SELECT n FROM steered);
  DELETE FROM documents WHERE id >> 32 IN (SELECT n FROM steered);
  INSERT OR IGNORE INTO facts (name, value)
    SELECT 'search_stale', '1' WHERE EXISTS (SELECT 1 FROM steered);
  DROP TABLE steered;
`;

/** All steps, oldest first. A step that was released never changes. */
export const MIGRATIONS: readonly Migration[] = [
  (database) => database.exec(FIRST_SCHEMA),
  (database) => database.exec(MOVES),
  (database) => database.exec(DELEGATES),
];

/** The version stored in the file. */
export function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}

/**
 * Brings the database to the newest version, step by step; a crash leaves it between two steps, never inside one.
 * Throws `journal.too_new` if the file is newer than the steps.
 */
export function migrate(
  database: DatabaseSync,
  folder: string,
  steps: readonly Migration[] = MIGRATIONS,
): void {
  let version = schemaVersion(database);
  if (version > steps.length) {
    throw new JournalError(
      'journal.too_new',
      `The sessions in ${folder} were saved by a newer Pilothouse (format ${version}, this one knows ${steps.length}). ` +
        'Update Pilothouse, or set PILOTHOUSE_HOME to another folder. Nothing was changed.',
      { data: { folder, version, known: steps.length } },
    );
  }
  for (const step of steps.slice(version)) {
    version += 1;
    database.exec('BEGIN IMMEDIATE');
    try {
      step(database);
      database.exec(`PRAGMA user_version = ${version}; PRAGMA application_id = ${APPLICATION_ID}`);
      database.exec('COMMIT');
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }
}

/** Ends a failed transaction; some failures have ended it already. */
export function rollBack(database: DatabaseSync): void {
  if (database.isTransaction !== false) database.exec('ROLLBACK');
}
