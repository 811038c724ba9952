/** The longest beginning of `text` of at most `maxBytes` in UTF-8 that ends between characters. */
export function headOf(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes), 'utf8');
  return bytes.subarray(0, boundaryBefore(bytes, Math.min(maxBytes, bytes.length))).toString();
}

/** The longest end of `text` of at most `maxBytes` in UTF-8 that begins between characters. */
export function tailOf(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(-Math.max(1, maxBytes)), 'utf8');
  return bytes.subarray(boundaryAfter(bytes, Math.max(0, bytes.length - maxBytes))).toString();
}

/** The nearest boundary between UTF-8 characters at or before `at`. */
export function boundaryBefore(bytes: Uint8Array, at: number): number {
  let cut = at;
  while (cut > 0 && cut < bytes.length && isContinuation(bytes[cut])) cut -= 1;
  return cut;
}

/** The nearest boundary between UTF-8 characters at or after `at`. */
export function boundaryAfter(bytes: Uint8Array, at: number): number {
  let cut = at;
  while (cut < bytes.length && isContinuation(bytes[cut])) cut += 1;
  return cut;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
