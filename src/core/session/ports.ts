import type { ControlEvent } from './control-events.ts';
import type { Cause, HistoryEvent, Stored } from './events.ts';
import type { Move } from './history/branch.ts';
import type { LoopId, SessionId } from './words.ts';

/** A new record for one of a session's two streams; a missing cause is an empty one. */
export type NewRecord =
  | { readonly stream: 'history'; readonly event: HistoryEvent; readonly cause?: Cause }
  | { readonly stream: 'control'; readonly event: ControlEvent; readonly cause?: Cause };

/** A stored record of either stream. */
export type StoredRecord =
  | { readonly stream: 'history'; readonly record: Stored<HistoryEvent> }
  | { readonly stream: 'control'; readonly record: Stored<ControlEvent> };

/** What a session list shows, derived from the events in the same transaction that stores them. */
export type SessionRow = {
  readonly sessionId: SessionId;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly title: string | null;
  readonly createdAt: number;
  /** Time of the last prompt or reply; the order of lists. Equal to `createdAt` before the first message. */
  readonly lastMessageAt: number;
  /** Newest history event; 0 never occurs, a session has `session_created` at least. */
  readonly lastEventId: number;
  /** Hash of the newest history record. */
  readonly prefixHash: string;
  /** Present on the row of a delegate's loop, which is in no list: the session it belongs to. */
  readonly rootId?: SessionId;
  /** Questions of the turn that the process before left open; missing for none. */
  readonly openGates?: number;
};

/** A place where words that were looked for stand. */
export type SessionHit = {
  /** The event that the message begins with; null for the title. */
  readonly eventId: number | null;
  /** Who said it; `machine`: what the host gave the agent to do. */
  readonly role: 'user' | 'assistant' | 'tool' | 'machine' | 'title';
  /** Plain text of one line around the match. */
  readonly snippet: string;
  /** Where in the snippet the words stand: from, to (exclusive), in UTF-16 units. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
  /** Present if a delegate's loop said it. */
  readonly loopId?: LoopId;
};

/** What a search found in a session and its delegates: the title, then the newest. */
export type SessionHits = {
  /** A few of them. */
  readonly hits: readonly SessionHit[];
  /** Messages that hold every word; if not exact, at least so many. */
  readonly hitCount: number;
  readonly isCountExact: boolean;
};

/** Which part of a history to read. `after` and `before` are exclusive event ids. */
export type HistoryRange = {
  readonly after?: number;
  readonly before?: number;
  readonly limit: number;
  readonly newestFirst?: boolean;
  /**
   * Is told of each receipt that was damaged on disk, by its place in the control stream: it is left out, since
   * nothing else depends on it. Missing: it is an error like any other damaged record.
   */
  readonly damagedReceipt?: (seq: number) => void;
};

/**
 * The stream of the host itself: receipts of controls that name no session that is here. It is in no list and no
 * search and can't be loaded or deleted; only its control records are there to read.
 */
export const HOST_STREAM = 'host' as SessionId;

/** The store as the engine needs it. A promise that resolves means: on disk. */
export interface Journal {
  /** Appends all or nothing. Rejects with `JournalError`; after `journal.fault` the session must stop. */
  append(sessionId: SessionId, records: readonly NewRecord[]): Promise<readonly StoredRecord[]>;
  readHistory(sessionId: SessionId, range: HistoryRange): Promise<readonly Stored<HistoryEvent>[]>;
  readControl(sessionId: SessionId, range: HistoryRange): Promise<readonly Stored<ControlEvent>[]>;
  /** Where a history goes on behind an earlier event (`history_moved`), oldest first. Cheap, however long it is. */
  moves(sessionId: SessionId): Promise<readonly Move[]>;
  session(sessionId: SessionId): Promise<SessionRow | null>;
  /** The loops that work for a session, oldest first; their streams are read, hashed and verified by their ids. */
  delegates(rootId: SessionId): Promise<readonly SessionRow[]>;
  /**
   * Sorted by last message, newest first, then by id. `cursor` is opaque. With `text`, sessions in which a message or
   * the title holds every word, the last one perhaps unfinished, and what was found in each row's session, in the same
   * order. Throws `journal.bad_cursor`.
   */
  sessions(query: { cwd?: string; cursor?: string; limit: number; text?: string }): Promise<{
    rows: readonly SessionRow[];
    nextCursor?: string;
    found?: readonly SessionHits[];
  }>;
  /** Removes every trace of the session and of its delegates; false if there was none. */
  deleteSession(sessionId: SessionId): Promise<boolean>;
}

/** Receives what the engine can't handle by itself; never throws. */
export interface Log {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}
