import { createHash } from 'node:crypto';
import type { StreamName } from './codec/canonical.ts';

/** What stands before the first record of a chain: 32 zero bytes, in hexadecimal. */
export const GENESIS_HASH = '0'.repeat(64);

/** A record's place and content; `body` is the canonical JSON of its event. */
export type RecordParts = {
  readonly session: string;
  readonly stream: StreamName;
  readonly seq: number;
  readonly at: number;
  readonly version: number;
  readonly body: string;
};

/** The canonical JSON of `{at, event, seq, session, stream, v}`: the bytes that are hashed. */
export function recordText(parts: RecordParts): string {
  const session = JSON.stringify(parts.session);
  return `{"at":${parts.at},"event":${parts.body},"seq":${parts.seq},"session":${session},"stream":"${parts.stream}","v":${parts.version}}`;
}

/** SHA-256 over the 32 bytes of the previous hash and the record's canonical bytes; lower-case hexadecimal. */
export function chainHash(previous: string, parts: RecordParts): string {
  return createHash('sha256')
    .update(Buffer.from(previous, 'hex'))
    .update(recordText(parts), 'utf8')
    .digest('hex');
}
