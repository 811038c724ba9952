/** An image that models take, by its first bytes; null for anything else. */
export function imageTypeOf(head: Uint8Array): string | null {
  const starts = (...bytes: number[]): boolean => bytes.every((byte, i) => head[i] === byte);
  const ascii = Buffer.from(head.subarray(0, 12)).toString('latin1');
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (starts(0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (ascii.startsWith('GIF87a') || ascii.startsWith('GIF89a')) return 'image/gif';
  if (ascii.startsWith('RIFF') && ascii.slice(8, 12) === 'WEBP') return 'image/webp';
  return null;
}
