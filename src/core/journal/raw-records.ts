import { canonicalJson, MAX_DEPTH } from '../../base/canonical-json.ts';
import { messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { isDeeperThan } from '../../base/json-depth.ts';
import type { NewRecord } from '../session/ports.ts';
import type { StreamName } from './codec/canonical.ts';
import { MAX_BODY_BYTES } from './codec/limits.ts';
import { JournalError } from './errors.ts';
import type { WorkerClient } from './worker-client.ts';
import type { ImportedRow, RangeQuery, RecordColumns } from './worker-protocol.ts';

/** A stored record as its hash was made: `body` is the exact text of its event, the cause inside. */
export type RawRecord = {
  readonly seq: number;
  readonly at: number;
  readonly v: number;
  readonly hash: string;
  readonly body: string;
};

/**
 * A session on its way into the store. Nothing of it can be seen before `finish`; what does not fit is refused with
 * `journal.bad_record`, which names the record. After a failure `abort` removes what was taken in.
 */
export interface JournalImport {
  /**
   * The next records of a stream; the session's own loop first, then those of its delegates. Resolves with the types
   * of their events.
   */
  records(
    loopId: string,
    stream: StreamName,
    records: readonly RawRecord[],
  ): Promise<readonly string[]>;
  /** Records of this store's own, behind those of a loop. */
  seal(loopId: string, records: readonly NewRecord[]): Promise<void>;
  /**
   * Makes all of it visible. Throws `journal.bad_record` if the records do not say what `row` says, and
   * `journal.exists`. `alreadyThere`: the same records were here before.
   */
  finish(options: {
    readonly row: ImportedRow;
    /** Where the session works here; missing: where it did. */
    readonly cwd?: string | undefined;
  }): Promise<{ readonly alreadyThere: boolean }>;
  abort(): Promise<void>;
}

type Codec = Pick<
  typeof import('./codec/codec.ts'),
  'badRecord' | 'decodeControl' | 'decodeHistory' | 'encodeRecord'
>;

/** Begins to take a session in. */
export async function beginImport(
  client: WorkerClient,
  codec: Codec,
  sessionId: string,
  now: () => number,
): Promise<JournalImport> {
  const { ticket = 0 } = await client.call('import', { step: 'begin', sessionId });
  return {
    records: async (loopId, stream, records) => {
      const checked = records.map((record) => {
        const place = { session: loopId, stream, seq: record.seq };
        return { ...record, type: typeOf(codec, place, record) };
      });
      await client.call('import', { step: 'records', ticket, loopId, stream, records: checked });
      return checked.map(({ type }) => type);
    },
    seal: async (loopId, records) => {
      const encoded = records.map((record) => codec.encodeRecord(loopId, record));
      const at = now();
      await client.call('import', { step: 'seal', ticket, loopId, at, records: encoded });
    },
    finish: async ({ row, cwd }) => {
      const answer = await client.call('import', { step: 'finish', ticket, sessionId, row, cwd });
      return { alreadyThere: answer.alreadyThere === true };
    },
    abort: async () => {
      await client.call('import', { step: 'abort', ticket });
    },
  };
}

/** Records as they were hashed. */
export async function readRaw(
  client: WorkerClient,
  { badRecord }: Codec,
  query: Omit<RangeQuery, 'newestFirst'>,
): Promise<readonly RawRecord[]> {
  const { sessionId: session, stream } = query;
  const columns: RecordColumns[] = [];
  const last = await client.call('read', { ...query, newestFirst: false }, (part) => {
    columns.push(part);
  });
  return [...columns, last].flatMap(({ seqs, ats, versions, hashes, bodies }) =>
    seqs.map((seq, index) => {
      const body = bodies[index];
      if (typeof body !== 'string')
        throw badRecord({ session, stream, seq }, 'its body is missing');
      const [at = 0, v = 0, hash = ''] = [ats[index], versions[index], hashes[index]];
      return { seq, at, v, hash, body };
    }),
  );
}

/** The type of an event, once its text is one that this store could have written. */
function typeOf(codec: Codec, place: Parameters<Codec['badRecord']>[0], record: RawRecord): string {
  const { v, body } = record;
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new JournalError('journal.too_large', `Record ${place.seq} is too large.`, {
      data: { ...place, limit: MAX_BODY_BYTES },
    });
  }
  const event = parsed(codec, place, body);
  if (place.stream === 'history') codec.decodeHistory(place, v, body);
  else codec.decodeControl(place, v, body);
  return String(event['type']);
}

function parsed(
  codec: Codec,
  place: Parameters<Codec['badRecord']>[0],
  body: string,
): Record<string, unknown> {
  if (isDeeperThan(MAX_DEPTH, body)) throw codec.badRecord(place, 'it is nested too deep');
  let event: unknown;
  let canonical: string;
  try {
    event = JSON.parse(body);
    canonical = canonicalJson(event);
  } catch (error) {
    throw codec.badRecord(place, `it is not JSON that can be kept (${messageOf(error)})`);
  }
  if (canonical !== body || !isObject(event))
    throw codec.badRecord(place, 'its form is not the canonical one');
  return event;
}
