import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../../base/errors.ts';
import { chainHash, GENESIS_HASH } from '../chain.ts';
import type { StreamName } from '../codec/canonical.ts';
import type { RecordColumns, Verification } from '../worker-protocol.ts';
import type { Reader, Sliced } from './reader.ts';

/**
 * Recomputes a chain from its first record and compares it with what is stored: each record's place and hash, and
 * the end of the chain with the head that the session's row holds. An unknown session has an empty chain.
 */
export class Verifier {
  readonly #reader: Reader;
  readonly #head;

  constructor(database: DatabaseSync, reader: Reader) {
    this.#reader = reader;
    this.#head = database.prepare(
      'SELECT history_seq, history_hash, control_seq, control_hash FROM sessions WHERE session_id = ? AND deleting = 0',
    );
  }

  *verify(sessionId: string, stream: StreamName): Sliced<undefined, Verification> {
    let seq = 0;
    let hash = GENESIS_HASH;
    // The chain may grow while it is checked; what was there at the start must be there.
    const head = this.#headOf(sessionId, stream);
    try {
      const slices = this.#reader.read({
        sessionId,
        stream,
        limit: Number.MAX_SAFE_INTEGER,
        newestFirst: false,
      });
      for (;;) {
        const { value, done } = slices.next();
        for (let index = 0; index < value.seqs.length; index += 1) {
          const reason = problemAt(value, index, { sessionId, stream, seq, hash });
          if (reason !== null) return { ok: false, seq: seq + 1, reason };
          seq += 1;
          hash = value.hashes[index] ?? '';
          if (head !== null && seq === head.seq && hash !== head.hash) {
            return { ok: false, seq, reason: 'its hash is not the one that the session holds' };
          }
        }
        if (done === true) break;
        yield;
      }
    } catch (error) {
      return { ok: false, seq: seq + 1, reason: `it can't be read (${messageOf(error)})` };
    }
    if (head !== null && seq < head.seq) {
      return { ok: false, seq: seq + 1, reason: `it is missing, as are all up to ${head.seq}` };
    }
    return { ok: true, records: seq, hash: seq === 0 ? null : hash };
  }

  #headOf(sessionId: string, stream: StreamName): { seq: number; hash: string } | null {
    const row = this.#head.get(sessionId);
    if (row === undefined) return null;
    return { seq: Number(row[`${stream}_seq`]), hash: String(row[`${stream}_hash`]) };
  }
}

function problemAt(
  columns: RecordColumns,
  index: number,
  previous: { sessionId: string; stream: StreamName; seq: number; hash: string },
): string | null {
  const seq = columns.seqs[index];
  const at = columns.ats[index];
  const version = columns.versions[index];
  const body = columns.bodies[index];
  if (seq !== previous.seq + 1) return 'it is missing';
  if (body === null || body === undefined) return 'its body is missing';
  if (at === undefined || version === undefined) return 'it is incomplete';
  const expected = chainHash(previous.hash, {
    session: previous.sessionId,
    stream: previous.stream,
    seq,
    at,
    version,
    body,
  });
  return expected === columns.hashes[index] ? null : 'its content does not match its hash';
}
