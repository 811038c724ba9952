import type { DatabaseSync } from 'node:sqlite';
import { type DataFolderLock, lockDataFolder } from '../lock/data-folder-lock.ts';
import { createPrivateFolder } from '../lock/private-files.ts';
import type { WorkerSettings } from '../worker-protocol.ts';
import { Appender } from './appender.ts';
import { Committer } from './committer.ts';
import { openDatabase } from './database.ts';
import { Deleter } from './deleter.ts';
import { Importer } from './importer.ts';
import { Lister } from './lister.ts';
import { Reader } from './reader.ts';
import { Scrubber } from './scrubber.ts';
import { SearchIndex } from './search/search-index.ts';
import { Verifier } from './verifier.ts';

/** Everything that works on the open database, and the lock that entitles to it. */
export class Store {
  readonly committer: Committer;
  readonly #lock: DataFolderLock;
  readonly #settings: WorkerSettings;
  #parts: Parts;
  #onReopened: () => void = () => undefined;

  constructor(database: DatabaseSync, lock: DataFolderLock, settings: WorkerSettings) {
    this.#lock = lock;
    this.#settings = settings;
    this.#parts = partsOf(database, settings);
    this.committer = new Committer(this, settings.folder);
  }

  get appender(): Appender {
    return this.#parts.appender;
  }

  get reader(): Reader {
    return this.#parts.reader;
  }

  get lister(): Lister {
    return this.#parts.lister;
  }

  get verifier(): Verifier {
    return this.#parts.verifier;
  }

  get deleter(): Deleter {
    return this.#parts.deleter;
  }

  get search(): SearchIndex {
    return this.#parts.search;
  }

  get importer(): Importer {
    return this.#parts.importer;
  }

  /** Calls back whenever there is a new connection; work that goes on behind it has to begin again. */
  onReopened(listener: () => void): void {
    this.#onReopened = listener;
  }

  /** Takes a new connection in place of one that can't be trusted; what reads from the old one fails. */
  reopen(): void {
    const { database, scrubber } = this.#parts;
    if (database.isOpen) {
      database.close();
      scrubber.close();
    }
    this.#parts = partsOf(openDatabase(this.#settings.folder, this.#settings), this.#settings);
    this.#onReopened();
  }

  /** Empties the log, closes the files and lets go of the data folder, in that order. */
  close(): void {
    const { database, scrubber } = this.#parts;
    try {
      if (database.isOpen) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      if (database.isOpen) {
        database.close();
        scrubber.close();
      }
      this.#lock.release();
    }
  }
}

/** What works on one connection. */
type Parts = {
  readonly database: DatabaseSync;
  readonly appender: Appender;
  readonly reader: Reader;
  readonly lister: Lister;
  readonly verifier: Verifier;
  readonly deleter: Deleter;
  readonly search: SearchIndex;
  readonly importer: Importer;
  readonly scrubber: Scrubber;
};

function partsOf(database: DatabaseSync, settings: WorkerSettings): Parts {
  const search = new SearchIndex(database, settings.search);
  const reader = new Reader(database);
  const scrubber = new Scrubber(database, settings.folder);
  return {
    database,
    appender: new Appender(database),
    reader,
    lister: new Lister(database, search),
    verifier: new Verifier(database, reader),
    deleter: new Deleter(database, search, scrubber),
    search,
    importer: new Importer(database),
    scrubber,
  };
}

/** Takes the data folder and opens what is in it. Throws `JournalError` or what the system says. */
export async function openStore(settings: WorkerSettings): Promise<Store> {
  createPrivateFolder(settings.folder);
  const lock = await lockDataFolder(settings);
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
