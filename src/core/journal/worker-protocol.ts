import type { SessionHit, SessionHits } from '../session/ports.ts';
import type { StreamName } from './codec/canonical.ts';
import type { EncodedRecord } from './codec/codec.ts';
import type { JournalErrorShape } from './errors.ts';

/** What the worker is started with. */
export type WorkerSettings = {
  readonly folder: string;
  readonly lockWaitMs: number;
  readonly isHost: boolean;
  readonly maxPages?: number | undefined;
  readonly journalMode: 'wal' | 'delete';
  /** `like` searches without the full-text index, as where SQLite was built without it. */
  readonly search: 'fts5' | 'like';
};

/** A page of a stream. */
export type RangeQuery = {
  readonly sessionId: string;
  readonly stream: StreamName;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly newestFirst: boolean;
};

/** A page of the session list, after the session at `from` in list order. */
export type ListQuery = {
  readonly cwd?: string | undefined;
  readonly text?: string | undefined;
  readonly from?: ListPosition | undefined;
  readonly limit: number;
};

export type ListPosition = { readonly lastMessageAt: number; readonly sessionId: string };

/** Stored records column by column: cheaper to hand over than one object for each. */
export type RecordColumns = {
  readonly seqs: number[];
  readonly ats: number[];
  readonly versions: number[];
  readonly hashes: string[];
  /** Null where the blob that holds the body is missing. */
  readonly bodies: (string | null)[];
};

/** A session as the list shows it. */
export type SessionColumns = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly title: string | null;
  readonly createdAt: number;
  readonly lastMessageAt: number;
  readonly lastEventId: number;
  readonly prefixHash: string;
  /** Present on the streams of a delegate: the session they belong to. */
  readonly rootId?: string;
  /** Questions of a turn that was left open; missing for none. */
  readonly openGates?: number;
};

/** Who said what was found; `machine`: what the host told the agent. */
export type HitRole = SessionHit['role'];

/** A match, before ids have their types. */
export type SearchHit = Omit<SessionHit, 'loopId'> & { readonly loopId?: string };

/** What was found in a session. */
export type FoundHits = Omit<SessionHits, 'hits'> & { readonly hits: readonly SearchHit[] };

/** A record from outside, with the hash that it claims. */
export type ImportedRecord = {
  readonly seq: number;
  readonly at: number;
  readonly v: number;
  readonly type: string;
  readonly body: string;
  readonly hash: string;
};

/** What is derived from the records of a session, as an export says it. */
export type ImportedRow = {
  readonly title: string | null;
  readonly createdAt: number;
  readonly lastMessageAt: number;
  readonly lastEventId: number;
  readonly prefixHash: string;
};

/** A step of an import: loop by loop, the session's own first, each with its history before its control records. */
export type ImportStep =
  | { readonly step: 'begin'; readonly sessionId: string }
  | {
      readonly step: 'records';
      readonly ticket: number;
      readonly loopId: string;
      readonly stream: StreamName;
      readonly records: readonly ImportedRecord[];
    }
  /** Records of this store's own, behind those of a loop. */
  | {
      readonly step: 'seal';
      readonly ticket: number;
      readonly loopId: string;
      readonly at: number;
      readonly records: readonly EncodedRecord[];
    }
  | {
      readonly step: 'finish';
      readonly ticket: number;
      readonly sessionId: string;
      readonly row: ImportedRow;
      /** Where the session works here; missing: where it did. */
      readonly cwd?: string | undefined;
    }
  | { readonly step: 'abort'; readonly ticket: number };

/** What a step has to say: `begin` its ticket, `finish` how it ended. */
export type ImportAnswer = {
  readonly ticket?: number;
  readonly alreadyThere?: boolean;
  /** The numbers of the streams that can be read now. */
  readonly loops?: readonly number[];
};

/** A `history_moved` record. */
export type MoveColumns = { readonly seq: number; readonly to: number };

/** Where an appended record stands now. */
export type Placed = { readonly seq: number; readonly hash: string };

/** What a check of a chain found. */
export type Verification =
  | { readonly ok: true; readonly records: number; readonly hash: string | null }
  /** `seq` is the first record that is wrong; every record before it is whole. */
  | { readonly ok: false; readonly seq: number; readonly reason: string };

/** Every operation of the worker: its arguments and its result. */
export type Operations = {
  append: {
    args: {
      sessionId: string;
      /** How many failures of this session the sender knows of. */
      generation: number;
      at: number;
      records: readonly EncodedRecord[];
    };
    result: readonly Placed[];
  };
  /** Answered in parts; the result is the last one. */
  read: { args: RangeQuery; result: RecordColumns };
  moves: { args: { sessionId: string }; result: readonly MoveColumns[] };
  session: { args: { sessionId: string }; result: SessionColumns | null };
  delegates: { args: { sessionId: string }; result: readonly SessionColumns[] };
  list: {
    args: ListQuery;
    result: { rows: readonly SessionColumns[]; more: boolean; found?: readonly FoundHits[] };
  };
  hashAt: { args: { sessionId: string; seq: number }; result: string | null };
  verify: { args: { sessionId: string; stream: StreamName }; result: Verification };
  delete: { args: { sessionId: string }; result: boolean };
  import: { args: ImportStep; result: ImportAnswer };
  close: { args: null; result: null };
};

export type OperationName = keyof Operations;

export type WorkerRequest =
  | {
      [N in OperationName]: {
        readonly id: number;
        readonly op: N;
        readonly args: Operations[N]['args'];
      };
    }[OperationName]
  /** A part of the answer to `id` was taken in; the worker sends only so many ahead. */
  | { readonly id: number; readonly op: 'taken' };

export type WorkerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: JournalErrorShape }
  | { readonly kind: 'part'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  /** `latched`: no append will succeed any more. */
  | {
      readonly kind: 'error';
      readonly id: number;
      readonly error: JournalErrorShape;
      readonly latched: boolean;
    }
  /** Something broke while nobody waited for it. */
  | { readonly kind: 'trouble'; readonly error: JournalErrorShape; readonly latched: boolean };
