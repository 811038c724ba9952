import type { DatabaseSync } from 'node:sqlite';
import type { Sliced } from './reader.ts';
import { rollBack } from './schema.ts';
import type { Scrubber } from './scrubber.ts';
import type { SearchIndex } from './search/search-index.ts';

const SLICE_ROWS = 256;

/**
 * Removes sessions in slices, so that a long one stops no append. They were hidden by a commit before;
 * a crash after it is made good by calling this again at the next start.
 */
export class Deleter {
  readonly #database: DatabaseSync;
  readonly #search: SearchIndex;
  readonly #scrubber: Scrubber;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: DatabaseSync, search: SearchIndex, scrubber: Scrubber) {
    this.#database = database;
    this.#search = search;
    this.#scrubber = scrubber;
    this.#statements = prepare(database);
  }

  /** Removes what is hidden. When it ends, no byte of those sessions is left in any file. */
  *removeHidden(): Sliced<undefined, void> {
    const numbers = this.#statements.hidden.all().map((row) => Number(row['n']));
    if (numbers.length === 0) return;
    for (const n of numbers) {
      while (this.#inTransaction(() => this.#search.remove(n, SLICE_ROWS))) yield;
      while (this.#inTransaction(() => this.#removeRecords(n))) yield;
      this.#statements.session.run(n);
      yield;
    }
    const ticket = this.#scrubber.request();
    while (!this.#scrubber.isDone(ticket)) {
      this.#scrubber.step();
      yield;
    }
  }

  #removeRecords(n: number): boolean {
    const rows = this.#statements.records.all(n, SLICE_ROWS);
    for (const { stream, seq, blob } of rows) {
      this.#statements.record.run(n, stream ?? null, seq ?? null);
      if (typeof blob === 'string') this.#releaseBlob(blob);
    }
    return rows.length > 0;
  }

  #releaseBlob(hash: string): void {
    if (Number(this.#statements.lastBlob.run(hash).changes) === 0) this.#statements.blob.run(hash);
  }

  #inTransaction(work: () => boolean): boolean {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const more = work();
      this.#database.exec('COMMIT');
      return more;
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
  }
}

function prepare(database: DatabaseSync) {
  return {
    hidden: database.prepare('SELECT n FROM sessions WHERE deleting = 1'),
    records: database.prepare('SELECT stream, seq, blob FROM records WHERE n = ? LIMIT ?'),
    record: database.prepare('DELETE FROM records WHERE n = ? AND stream = ? AND seq = ?'),
    lastBlob: database.prepare('DELETE FROM blobs WHERE hash = ? AND refs = 1'),
    blob: database.prepare('UPDATE blobs SET refs = refs - 1 WHERE hash = ?'),
    session: database.prepare('DELETE FROM sessions WHERE n = ?'),
  };
}
