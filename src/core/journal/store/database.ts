import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JournalError } from '../errors.ts';
import { createPrivateFile } from '../lock/private-files.ts';
import { APPLICATION_ID, type Migration, migrate, schemaVersion } from './schema.ts';

export const DATABASE_FILE = 'sessions.db';

const BUSY_TIMEOUT_MS = 5000;
const PAGE_CACHE_KIB = 8192;

/** How a database is opened. */
export type DatabaseOptions = {
  /** Largest size in pages of 4 KiB; unlimited if missing. */
  readonly maxPages?: number | undefined;
  readonly journalMode?: 'wal' | 'delete' | undefined;
  readonly migrations?: readonly Migration[] | undefined;
};

/**
 * Opens the session database for durable, exclusive use: write-ahead log where the file system can, every commit
 * synced, freed content overwritten. Only the holder of the data folder's lock may call it.
 */
export function openDatabase(folder: string, options: DatabaseOptions = {}): DatabaseSync {
  const path = join(folder, DATABASE_FILE);
  createPrivateFile(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(database, folder);
    // No pointer-map pages: the scrubber knows the other kinds.
    database.exec('PRAGMA auto_vacuum = NONE; PRAGMA secure_delete = ON');
    setJournalMode(database, options.journalMode ?? 'wal');
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${PAGE_CACHE_KIB};
    `);
    if (options.maxPages !== undefined) {
      database.exec(`PRAGMA max_page_count = ${Math.trunc(options.maxPages)}`);
    }
    migrate(database, folder, options.migrations);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Without shared memory (some network and container file systems) SQLite can't do write-ahead logging. */
function setJournalMode(database: DatabaseSync, wanted: 'wal' | 'delete'): void {
  const got = database.prepare(`PRAGMA journal_mode = ${wanted}`).get()?.['journal_mode'];
  if (got !== 'wal' && got !== 'delete') database.exec('PRAGMA journal_mode = DELETE');
}

function refuseForeign(database: DatabaseSync, folder: string): void {
  const id = Number(database.prepare('PRAGMA application_id').get()?.['application_id'] ?? 0);
  if (id === APPLICATION_ID) return;
  const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'];
  if (id === 0 && schemaVersion(database) === 0 && tables === 0) return;
  throw new JournalError(
    'journal.fault',
    `${join(folder, DATABASE_FILE)} belongs to another program. Move it away or set PILOTHOUSE_HOME to another folder.`,
    { data: { folder } },
  );
}
