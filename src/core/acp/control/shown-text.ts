import { isUtf8 } from 'node:buffer';

/** The text of a file; null where there is none, or it is binary. */
export function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null || bytes.includes(0) || !isUtf8(bytes)) return null;
  return Buffer.from(bytes).toString('utf8');
}
