import { isAbsolute } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { ControlEvent } from '../session/control-events.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';
import type { Move } from '../session/history/branch.ts';
import {
  type HistoryRange,
  HOST_STREAM,
  type Journal,
  type Log,
  type NewRecord,
  type SessionHits,
  type SessionRow,
  type StoredRecord,
} from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import type { StreamName } from './codec/canonical.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { JournalError } from './errors.ts';
import type { JournalImport, RawRecord } from './raw-records.ts';
import { type Decode, Reading, type ReadPage, type StreamPlace } from './reading.ts';
import { WorkerClient } from './worker-client.ts';
import type { Placed, SessionColumns, Verification } from './worker-protocol.ts';
import { workerUrl } from './worker-url.ts';

/** The largest page of `sessions()`. */
export const MAX_LIST_LIMIT = 1000;

/**
 * The code that checks records is loaded this long after the store is open, in milliseconds, or with the first use:
 * a start should be answered before it.
 */
const LOAD_CODEC_AFTER_MS = 20;
/** How far a clock may go back without being followed, in milliseconds: what adjusting it by itself can amount to. */
const MAX_HELD_MS = 60_000;
const OPEN_DEADLINE_MS = 30_000;
const CLOSE_DEADLINE_MS = 5_000;

type Codec = typeof import('./codec/codec.ts');

/** How a journal is opened. */
export type OpenJournalOptions = {
  /** Absolute path; made if it is not there. */
  readonly dataFolder: string;
  readonly log: Log;
  /** Stamps the records. */
  readonly clock: Pick<Clock, 'now'>;
  /** How long to wait for another process to let go of the folder, in milliseconds; 0 by default. */
  readonly lockWaitMs?: number;
  /** True for a session host that others can reach, so that they know whom they wait for. */
  readonly isHost?: boolean;
  /** Largest size of the database in pages of 4 KiB; a commit past it fails as on a full disk. */
  readonly maxPages?: number;
  /** `like` searches without the full-text index. The default falls back to it where SQLite has no FTS5. */
  readonly search?: 'fts5' | 'like';
  /**
   * `delete` keeps a rollback journal, for folders on file systems without shared memory. The default falls back to
   * it where SQLite says that write-ahead logging can't be had.
   */
  readonly journalMode?: 'wal' | 'delete';
  /** Where the worker's file is, if not beside this one. */
  readonly workerUrl?: URL;
};

/** The store of a data folder, open. */
export interface OpenJournal extends Journal {
  readonly dataFolder: string;
  /** Why nothing can be appended any more, or null. */
  readonly fault: JournalError | null;
  /** Recomputes a chain. A session that is not there has an empty, whole chain. */
  verify(sessionId: SessionId, stream: StreamName): Promise<Verification>;
  /** Records as they were hashed, oldest first, up to `limit` behind `after`. */
  readRaw(
    sessionId: SessionId,
    stream: StreamName,
    range: { readonly after: number; readonly limit: number },
  ): Promise<readonly RawRecord[]>;
  /** Begins to take in a session from outside. */
  beginImport(sessionId: SessionId): Promise<JournalImport>;
  /** The chain hash up to and with a history event; null if there is no such event. */
  hashAt(sessionId: SessionId, eventId: number): Promise<string | null>;
  /**
   * Finishes what was asked, empties the log into the database and lets go of the folder. After `deadlineMs`
   * (5 s by default) the store is cut off instead, and what was not answered is rejected. Any call after it is
   * rejected with `journal.closed`; closing again returns the first closing.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}

/**
 * Opens the store and takes the data folder for this process. Throws `JournalError`: `journal.locked`,
 * `journal.too_new`, or `journal.fault` with what to do.
 */
export async function openJournal(options: OpenJournalOptions): Promise<OpenJournal> {
  const { journal, opened } = startJournal(options);
  await opened;
  return journal;
}

/** As `openJournal`, for a caller that has other work meanwhile. The journal may be used once `opened` resolves. */
export function startJournal(options: OpenJournalOptions): {
  readonly journal: OpenJournal;
  readonly opened: Promise<void>;
} {
  if (!isAbsolute(options.dataFolder)) {
    throw new RangeError(`The data folder must be an absolute path, not "${options.dataFolder}".`);
  }
  const journal = new ThreadedJournal(options);
  return { journal, opened: openedOrGone(journal, OPEN_DEADLINE_MS + (options.lockWaitMs ?? 0)) };
}

async function openedOrGone(journal: ThreadedJournal, deadlineMs: number): Promise<void> {
  try {
    await journal.opened(deadlineMs);
  } catch (error) {
    await journal.abandon();
    throw error;
  }
}

class ThreadedJournal implements OpenJournal {
  readonly dataFolder: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #client: WorkerClient;
  #codecLoading: Promise<Codec> | null = null;
  #codec: Codec | null = null;
  /** By session: how many times an append of it failed. */
  readonly #failures = new Map<SessionId, number>();
  #lastAt = 0;
  #isOpen = false;
  #fault: JournalError | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: OpenJournalOptions) {
    this.dataFolder = options.dataFolder;
    this.#clock = options.clock;
    this.#client = new WorkerClient(
      options.workerUrl ?? workerUrl(import.meta.url),
      {
        folder: options.dataFolder,
        lockWaitMs: options.lockWaitMs ?? 0,
        isHost: options.isHost ?? false,
        maxPages: options.maxPages,
        journalMode: options.journalMode ?? 'wal',
        search: options.search ?? 'fts5',
      },
      {
        latched: (fault) => {
          if (this.#fault !== null || this.#closing !== null) return;
          this.#fault = fault;
          options.log.error('The session store takes no more records.', { error: fault });
        },
        trouble: (error) => options.log.warn('Background work of the store failed.', { error }),
      },
    );
  }

  get fault(): JournalError | null {
    return this.#fault;
  }

  async opened(deadlineMs: number): Promise<void> {
    const late = new JournalError(
      'journal.fault',
      `The session store in ${this.dataFolder} did not open within ${deadlineMs / 1000} s. Check the disk, then restart Pilothouse.`,
      { data: { folder: this.dataFolder }, retryable: true },
    );
    await withDeadline(this.#client.ready, deadlineMs, late);
    this.#isOpen = true;
    setTimeout(() => {
      // A failure meets whoever needs it.
      this.#loadCodec().catch(() => undefined);
    }, LOAD_CODEC_AFTER_MS).unref();
  }

  async abandon(): Promise<void> {
    this.#closing = this.#client.terminate();
    await this.#closing;
  }

  async append(
    sessionId: SessionId,
    records: readonly NewRecord[],
  ): Promise<readonly StoredRecord[]> {
    const codec = this.#readyCodec() ?? (await this.#loadCodec());
    if (this.#fault !== null) throw this.#fault;
    if (records.length === 0) return [];
    const encoded = records.map((record) => codec.encodeRecord(sessionId, record));
    const at = this.#now();
    const generation = this.#failures.get(sessionId) ?? 0;
    const args = { sessionId, generation, at, records: encoded };
    const placed = await this.#client.call('append', args).catch((error: unknown) => {
      this.#stopped(sessionId, generation, error);
      throw error;
    });
    return records.map((record, index) => storedRecord(sessionId, at, record, placed[index]));
  }

  async readHistory(
    sessionId: SessionId,
    range: HistoryRange,
  ): Promise<readonly Stored<HistoryEvent>[]> {
    const { decodeHistory } = this.#readyCodec() ?? (await this.#loadCodec());
    return (await this.#read({ sessionId, stream: 'history' }, range, decodeHistory)).records;
  }

  async readControl(
    sessionId: SessionId,
    range: HistoryRange,
  ): Promise<readonly Stored<ControlEvent>[]> {
    const { decodeControl } = this.#readyCodec() ?? (await this.#loadCodec());
    const found: Stored<ControlEvent>[] = [];
    let rest: HistoryRange = range;
    // What is left out does not count: a short page still means that there is no more.
    for (;;) {
      const page = await this.#read({ sessionId, stream: 'control' }, rest, decodeControl);
      found.push(...page.records);
      if (page.leftOut === 0 || page.lastSeq === null) return found;
      const limit = rest.limit - page.records.length;
      rest = { ...rest, limit, [range.newestFirst ? 'before' : 'after']: page.lastSeq };
    }
  }

  async moves(sessionId: SessionId): Promise<readonly Move[]> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    return await this.#client.call('moves', { sessionId });
  }

  async session(sessionId: SessionId): Promise<SessionRow | null> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    const columns =
      sessionId === HOST_STREAM ? null : await this.#client.call('session', { sessionId });
    return columns === null ? null : sessionRow(columns);
  }

  async delegates(rootId: SessionId): Promise<readonly SessionRow[]> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    return (await this.#client.call('delegates', { sessionId: rootId })).map(sessionRow);
  }

  async sessions(query: { cwd?: string; cursor?: string; limit: number; text?: string }): Promise<{
    rows: readonly SessionRow[];
    nextCursor?: string;
    found?: readonly SessionHits[];
  }> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    const from = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
    const limit = Math.max(1, Math.min(MAX_LIST_LIMIT, Math.trunc(query.limit)));
    const { cwd, text } = query;
    const { rows, more, found } = await this.#client.call('list', { cwd, text, from, limit });
    const last = rows.at(-1);
    const nextCursor = more && last !== undefined ? encodeCursor(last) : undefined;
    return {
      rows: rows.map(sessionRow),
      ...(nextCursor === undefined ? {} : { nextCursor }),
      // A loop's id was a `LoopId` when its streams were made.
      ...(found === undefined ? {} : { found: found as readonly SessionHits[] }),
    };
  }

  async deleteSession(sessionId: SessionId): Promise<boolean> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    if (this.#fault !== null) throw this.#fault;
    return await this.#client.call('delete', { sessionId });
  }

  async verify(sessionId: SessionId, stream: StreamName): Promise<Verification> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    return await this.#client.call('verify', { sessionId, stream });
  }

  async hashAt(sessionId: SessionId, eventId: number): Promise<string | null> {
    if (this.#readyCodec() === null && this.#codecLoading !== null) await this.#codecLoading;
    return await this.#client.call('hashAt', { sessionId, seq: eventId });
  }

  /** A clock that goes back a little must not turn the order of records round; one that is set right is believed. */
  #now(): number {
    const now = Math.trunc(this.#clock.now());
    const isHeld = now < this.#lastAt && this.#lastAt - now <= MAX_HELD_MS;
    this.#lastAt = isHeld ? this.#lastAt : now;
    return this.#lastAt;
  }

  async readRaw(
    sessionId: SessionId,
    stream: StreamName,
    range: { readonly after: number; readonly limit: number },
  ): Promise<readonly RawRecord[]> {
    const codec = this.#readyCodec() ?? (await this.#loadCodec());
    const { readRaw } = await import('./raw-records.ts');
    return await readRaw(this.#client, codec, { sessionId, stream, ...range });
  }

  async beginImport(sessionId: SessionId): Promise<JournalImport> {
    const codec = this.#readyCodec() ?? (await this.#loadCodec());
    if (this.#fault !== null) throw this.#fault;
    const { beginImport } = await import('./raw-records.ts');
    return await beginImport(this.#client, codec, sessionId, () => this.#clock.now());
  }

  /**
   * Whoever writes a session learns of its failure before the store takes anything new for it: until then all is
   * refused, so that nothing is ever stored behind a record that is missing.
   */
  #stopped(sessionId: SessionId, generation: number, error: unknown): void {
    if (!(error instanceof JournalError) || error.code !== 'journal.fault') return;
    setImmediate(() => {
      const known = this.#failures.get(sessionId) ?? 0;
      this.#failures.set(sessionId, Math.max(known, generation + 1));
    });
  }

  close(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.deadlineMs ?? CLOSE_DEADLINE_MS);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    const late = new JournalError('journal.fault', 'The session store did not close in time.');
    // Calls that wait for the codec were made before; what its loading failed with is theirs to tell.
    if (this.#codec === null) await this.#codecLoading?.catch(() => undefined);
    try {
      await withDeadline(
        this.#client.call('close', null).then(() => this.#client.exited),
        deadlineMs,
        late,
      );
    } catch (error) {
      // Broken or too slow: the next open recovers from the log, and cutting the thread off frees the folder.
      if (!(error instanceof JournalError)) throw error;
      await this.#client.terminate();
    }
  }

  /** The codec, or null while it is not loaded. Throws `journal.closed` unless the store is open. */
  #readyCodec(): Codec | null {
    if (this.#closing !== null || !this.#isOpen)
      throw new JournalError('journal.closed', 'The session store is closed.');
    return this.#codec;
  }

  /** Whoever waits for it is served in the order of the calls, and so is what is asked meanwhile. */
  #loadCodec(): Promise<Codec> {
    this.#codecLoading ??= import('./codec/codec.ts').then((codec) => {
      this.#codec = codec;
      return codec;
    });
    return this.#codecLoading;
  }

  async #read<E>(place: StreamPlace, range: HistoryRange, decode: Decode<E>): Promise<ReadPage<E>> {
    const reading = new Reading(place, range, decode, this.#codec ?? (await this.#loadCodec()));
    const query = {
      ...place,
      after: range.after,
      before: range.before,
      limit: Math.trunc(range.limit),
      newestFirst: range.newestFirst ?? false,
    };
    // Parts are decoded while the thread reads on, and leave the event loop free in between.
    const last = await this.#client.call('read', query, (part) => reading.take(part));
    reading.take(last);
    return reading.page();
  }
}

function storedRecord(
  sessionId: SessionId,
  at: number,
  record: NewRecord,
  placed: Placed | undefined,
): StoredRecord {
  if (placed === undefined) throw new TypeError('The store answered with too few records.');
  const { cause = { command_ids: [] } } = record;
  const place = { sessionId, seq: placed.seq, at, cause, hash: placed.hash };
  return record.stream === 'history'
    ? { stream: 'history', record: { ...place, event: record.event } }
    : { stream: 'control', record: { ...place, event: record.event } };
}

function sessionRow(columns: SessionColumns): SessionRow {
  // The ids were `SessionId`s when the sessions were created.
  const { rootId, ...row } = columns;
  const root = rootId === undefined ? {} : { rootId: rootId as SessionId };
  return { ...row, sessionId: columns.sessionId as SessionId, ...root };
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number, late: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), deadlineMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
