import { canonicalJson } from '../../../base/canonical-json.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { RawRecord } from '../../journal/raw-records.ts';

/**
 * The exported form of a session: one JSON document in lines, one record a line, so that neither side has to hold all
 * of it. A record's `event` is the exact text that was hashed: SHA-256 over the 32 bytes of the hash before it (zeroes
 * before the first) and the canonical JSON of `{at, event, seq, session, stream, v}`, where `session` is the loop's id.
 * The document is a function of the records alone.
 */

export const FORMAT = 'pilothouse-session';
export const FORMAT_VERSION = 1;

/** What the document says first: the session as lists show it. */
export type ExportedSession = {
  readonly sessionId: string;
  readonly title: string | null;
  readonly createdAt: number;
  readonly lastMessageAt: number;
  readonly lastEventId: number;
  readonly prefixHash: string;
};

/** What stands behind the records of a loop. */
export type ExportedHeads = {
  readonly historyRecords: number;
  readonly historyHash: string;
  readonly controlRecords: number;
  /** Null where there is no record. */
  readonly controlHash: string | null;
};

export const CONTROL_LINE = '],"control":[';
export const END_LINE = ']}';

/** `{"format":…,"loops":[` */
export function headLine(session: ExportedSession): string {
  const { sessionId, title, createdAt, lastMessageAt, lastEventId, prefixHash } = session;
  const row = { sessionId, title, createdAt, lastMessageAt, lastEventId, prefixHash };
  return `{"format":"${FORMAT}","version":${FORMAT_VERSION},"session":${text(row)},"loops":[`;
}

/** `{"loopId":…,"history":[` */
export function loopLine(loopId: string): string {
  return `{"loopId":${JSON.stringify(loopId)},"history":[`;
}

export function recordLine({ seq, at, v, hash, body }: RawRecord): string {
  return `{"seq":${seq},"at":${at},"v":${v},"hash":"${hash}","event":${body}}`;
}

/** `],"historyRecords":…}` */
export function headsLine(heads: ExportedHeads): string {
  const { historyRecords, historyHash, controlRecords, controlHash } = heads;
  const row = { historyRecords, historyHash, controlRecords, controlHash };
  return `],${text(row).slice(1)}`;
}

function text(value: JsonObject): string {
  return canonicalJson(value);
}
