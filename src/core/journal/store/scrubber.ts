import { closeSync, fdatasyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DATABASE_FILE } from './database.ts';
import { zeroUnused } from './page.ts';

const SLICE_BYTES = 8 * 1024 * 1024;
/** SQLite never keeps content in the page at this offset, and on Windows it may be locked for reading. */
const LOCK_BYTE = 0x4000_0000;

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Makes deleted content unreadable in the file. `secure_delete` overwrites what is freed, but when SQLite moves
 * cells from page to page it leaves copies behind in the unused middle of pages. This goes through the database file
 * and overwrites exactly those middles, which mean nothing to SQLite: a crash at any moment does no harm.
 *
 * Each slice first empties the write-ahead log and SQLite's page cache, so that the file holds the only copy of a
 * page, and takes the pages that were in the log once more: cells may have moved into pages that were done already.
 *
 * The descriptor stays open as long as the database: closing it earlier would drop SQLite's own locks (POSIX).
 */
export class Scrubber {
  readonly #database: DatabaseSync;
  readonly #walPath: string;
  readonly #file: number;
  readonly #pageSize: number;
  readonly #hasLog: boolean;
  #requested = 0;
  #done = 0;
  #pass: { readonly ticket: number; nextPage: number } | null = null;

  constructor(database: DatabaseSync, folder: string) {
    this.#database = database;
    this.#walPath = join(folder, `${DATABASE_FILE}-wal`);
    this.#file = openSync(join(folder, DATABASE_FILE), 'r+');
    this.#hasLog = database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] === 'wal';
    this.#pageSize = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  }

  /** Only after the database is closed. */
  close(): void {
    closeSync(this.#file);
  }

  /** Asks for what is deleted by now to be overwritten; several who ask share one pass. */
  request(): number {
    this.#requested += 1;
    return this.#requested;
  }

  isDone(ticket: number): boolean {
    return this.#done >= ticket;
  }

  /** Does the next slice; where no log tells which pages were written in between, all of them at once. */
  step(): void {
    do this.#slice();
    while (!this.#hasLog && this.#pass !== null);
  }

  #slice(): void {
    if (this.#pass === null) {
      // Until the pass is over only this class resets the log, so that it sees every page that is written.
      this.#database.exec('PRAGMA wal_autocheckpoint = 0');
      this.#pass = { ticket: this.#requested, nextPage: 1 };
    }
    const pass = this.#pass;
    const written = this.#pagesInLog();
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory');
    const pages = Number(this.#database.prepare('PRAGMA page_count').get()?.['page_count']);
    const end = Math.min(pages + 1, pass.nextPage + Math.ceil(SLICE_BYTES / this.#pageSize));
    let changed = this.#scrub(pass.nextPage, end);
    for (const page of written) {
      if (page < pass.nextPage) changed = this.#scrub(page, page + 1) || changed;
    }
    if (changed) fdatasyncSync(this.#file);
    pass.nextPage = end;
    if (end <= pages) return;
    this.#database.exec('PRAGMA wal_autocheckpoint = 1000');
    this.#done = pass.ticket;
    this.#pass = null;
  }

  /** Overwrites the unused parts of pages `from` to before `end`; true if there was something in them. */
  #scrub(from: number, end: number): boolean {
    const size = this.#pageSize;
    const buffer = Buffer.allocUnsafe((end - from) * size);
    const start = (from - 1) * size;
    const bytes = readSync(this.#file, buffer, 0, buffer.length, start);
    let changed = false;
    for (let offset = 0; offset + size <= bytes; offset += size) {
      const position = start + offset;
      if (position <= LOCK_BYTE && LOCK_BYTE < position + size) continue;
      const page = buffer.subarray(offset, offset + size);
      const unused = zeroUnused(page, position === 0);
      if (unused === null) continue;
      writeSync(this.#file, page, unused.start, unused.end - unused.start, position + unused.start);
      changed = true;
    }
    return changed;
  }

  /** Numbers of the pages in the write-ahead log. Source: https://sqlite.org/fileformat2.html#walformat */
  #pagesInLog(): ReadonlySet<number> {
    const pages = new Set<number>();
    if (!this.#hasLog) return pages;
    const log = readFileSync(this.#walPath);
    const frame = FRAME_HEADER_BYTES + this.#pageSize;
    for (let at = WAL_HEADER_BYTES; at + frame <= log.length; at += frame) {
      pages.add(log.readUInt32BE(at));
    }
    return pages;
  }
}
