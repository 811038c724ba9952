import type { DatabaseSync } from 'node:sqlite';
import { type DataFolderLock, lockDataFolder } from '../lock/data-folder-lock.ts';
import { createPrivateFolder } from '../lock/private-files.ts';
import type { WorkerSettings } from '../worker-protocol.ts';
import { Appender } from './appender.ts';
import { openDatabase } from './database.ts';
import { Deleter } from './deleter.ts';
import { Lister } from './lister.ts';
import { Reader } from './reader.ts';
import { Scrubber } from './scrubber.ts';
import { SearchIndex } from './search-index.ts';
import { Verifier } from './verifier.ts';

/** Everything that works on the open database, and the lock that entitles to it. */
export class Store {
  readonly appender: Appender;
  readonly reader: Reader;
  readonly lister: Lister;
  readonly verifier: Verifier;
  readonly deleter: Deleter;
  readonly search: SearchIndex;
  readonly #database: DatabaseSync;
  readonly #lock: DataFolderLock;
  readonly #scrubber: Scrubber;

  constructor(database: DatabaseSync, lock: DataFolderLock, settings: WorkerSettings) {
    this.#database = database;
    this.#lock = lock;
    this.search = new SearchIndex(database, settings.search);
    this.appender = new Appender(database, settings.folder);
    this.reader = new Reader(database);
    this.lister = new Lister(database, this.search);
    this.verifier = new Verifier(database, this.reader);
    this.#scrubber = new Scrubber(database, settings.folder);
    this.deleter = new Deleter(database, this.search, this.#scrubber);
  }

  /** Empties the log, closes the files and lets go of the data folder, in that order. */
  close(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.close();
      this.#scrubber.close();
      this.#lock.release();
    }
  }
}

/** Takes the data folder and opens what is in it. Throws `JournalError` or what the system says. */
export async function openStore(settings: WorkerSettings): Promise<Store> {
  createPrivateFolder(settings.folder);
  const lock = await lockDataFolder(settings.folder, settings.lockWaitMs);
  let database: DatabaseSync | null = null;
  try {
    database = openDatabase(settings.folder, settings);
    return new Store(database, lock, settings);
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}
