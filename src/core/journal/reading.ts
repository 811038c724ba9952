import { messageOf } from '../../base/errors.ts';
import type { Stored } from '../session/events.ts';
import type { HistoryRange } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import type { StreamName } from './codec/canonical.ts';
import type { Decoded, RecordPlace } from './codec/codec.ts';
import type { RecordColumns } from './worker-protocol.ts';

/** Which stream is read. */
export type StreamPlace = { readonly sessionId: SessionId; readonly stream: StreamName };

/** Reads a stored body; throws `journal.bad_record`. */
export type Decode<E> = (place: RecordPlace, version: number, body: string) => Decoded<E>;

/** What was read of a stream. `lastSeq` is the last record that was looked at. */
export type ReadPage<E> = {
  readonly records: readonly Stored<E>[];
  readonly leftOut: number;
  readonly lastSeq: number | null;
};

/** The parts of one answer, decoded as they come. The first damaged record ends it. */
export class Reading<E> {
  readonly #place: StreamPlace;
  readonly #damagedReceipt: HistoryRange['damagedReceipt'];
  readonly #decode: Decode<E>;
  readonly #codec: Pick<typeof import('./codec/codec.ts'), 'badRecord' | 'endsAsReceipt'>;
  readonly #records: Stored<E>[] = [];
  #leftOut = 0;
  #lastSeq: number | null = null;
  #failure: Error | null = null;

  constructor(
    place: StreamPlace,
    range: HistoryRange,
    decode: Decode<E>,
    codec: Pick<typeof import('./codec/codec.ts'), 'badRecord' | 'endsAsReceipt'>,
  ) {
    this.#place = place;
    this.#damagedReceipt = range.damagedReceipt;
    this.#decode = decode;
    this.#codec = codec;
  }

  take(columns: RecordColumns): void {
    for (const index of columns.seqs.keys()) {
      if (this.#failure !== null) return;
      this.#takeOne(columns, index);
    }
  }

  /** Throws `journal.bad_record` for the first record that is damaged. */
  page(): ReadPage<E> {
    if (this.#failure !== null) throw this.#failure;
    return { records: this.#records, leftOut: this.#leftOut, lastSeq: this.#lastSeq };
  }

  #takeOne(columns: RecordColumns, index: number): void {
    const { sessionId, stream } = this.#place;
    const seq = columns.seqs[index] ?? 0;
    const body = columns.bodies[index] ?? null;
    this.#lastSeq = seq;
    try {
      const place = { session: sessionId, stream, seq };
      if (body === null) throw this.#codec.badRecord(place, 'its body is missing');
      const { event, cause } = this.#decode(place, columns.versions[index] ?? 0, body);
      const at = columns.ats[index] ?? 0;
      const hash = columns.hashes[index] ?? '';
      this.#records.push({ sessionId, seq, at, event, cause, hash });
    } catch (error) {
      if (this.#isReceipt(body)) {
        this.#leftOut += 1;
        this.#damagedReceipt?.(seq);
      } else this.#failure = error instanceof Error ? error : new Error(messageOf(error));
    }
  }

  #isReceipt(body: string | null): boolean {
    if (this.#damagedReceipt === undefined || this.#place.stream !== 'control') return false;
    return body !== null && this.#codec.endsAsReceipt(body);
  }
}
