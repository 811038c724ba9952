import { ToolError } from '../define-tool.ts';

/** How a text file stores its characters. */
export type TextFormat = {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';
  readonly bom: boolean;
};

/** A decoded text file; `text` never begins with the byte order mark. */
export type DecodedText = { readonly text: string; readonly format: TextFormat };

/** The format of files that this program makes. */
export const NEW_FILE: TextFormat = { encoding: 'utf-8', bom: false };

const SAMPLE_BYTES = 8192;

/** Byte order marks. Source: Unicode 16, section 23.8. */
const MARKS = [
  { encoding: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', mark: [0xff, 0xfe] },
  { encoding: 'utf-16be', mark: [0xfe, 0xff] },
] as const;

/**
 * Decodes a text file without losing a byte: by its byte order mark, else as UTF-8, else as UTF-16 where zero bytes
 * show it, else as Latin-1. Null for a binary file.
 */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  const format = detectFormat(bytes);
  if (format === null) return null;
  const body = format.bom ? bytes.subarray(format.encoding === 'utf-8' ? 3 : 2) : bytes;
  return { text: decodeBody(body, format.encoding), format };
}

/** Finds a file's format from its bytes, or from its first ones if `partial`; null for a binary file. */
export function detectFormat(bytes: Uint8Array, partial = false): TextFormat | null {
  const even = partial || bytes.length % 2 === 0;
  const marked = MARKS.find(({ mark }) => mark.every((byte, i) => bytes[i] === byte));
  if (marked !== undefined && marked.encoding !== 'utf-8' && even)
    return { encoding: marked.encoding, bom: true };
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (sample.includes(0)) return even ? utf16WithoutMark(sample) : null;
  if (!isUtf8(bytes, partial)) return latin1OrBinary(bytes);
  return { encoding: 'utf-8', bom: marked?.encoding === 'utf-8' };
}

/** Encodes text in a file's format; throws `ToolError` where the encoding lacks a character. */
export function encodeText(text: string, format: TextFormat): Uint8Array {
  const marked = format.bom ? `\uFEFF${text}` : text;
  switch (format.encoding) {
    case 'utf-8':
      return Buffer.from(marked, 'utf8');
    case 'utf-16le':
      return Buffer.from(marked, 'utf16le');
    case 'utf-16be':
      return Buffer.from(marked, 'utf16le').swap16();
    case 'latin1': {
      const odd = /[^\0-\xff]/u.exec(text)?.[0];
      if (odd !== undefined)
        throw new ToolError(
          `The file is encoded in Latin-1, which has no "${odd}". Use characters it has, or ask the person to convert the file to UTF-8 first.`,
        );
      return Buffer.from(text, 'latin1');
    }
  }
}

function decodeBody(bytes: Uint8Array, encoding: TextFormat['encoding']): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (encoding === 'latin1') return view.toString('latin1');
  if (encoding === 'utf-8') return view.toString('utf8');
  // A copy, because swapping is done in place.
  return (encoding === 'utf-16be' ? Buffer.from(view).swap16() : view).toString('utf16le');
}

function isUtf8(bytes: Uint8Array, partial: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: partial });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Text in UTF-16 of mostly Western characters has its zero bytes on one side only. */
function utf16WithoutMark(sample: Uint8Array): TextFormat | null {
  let even = 0;
  let odd = 0;
  for (const [index, byte] of sample.entries()) {
    if (byte !== 0) continue;
    if (index % 2 === 0) even += 1;
    else odd += 1;
  }
  const half = sample.length / 2;
  if (odd > half * 0.7 && even === 0) return { encoding: 'utf-16le', bom: false };
  if (even > half * 0.7 && odd === 0) return { encoding: 'utf-16be', bom: false };
  return null;
}

function latin1OrBinary(bytes: Uint8Array): TextFormat | null {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const controls = sample.filter(
    (byte) => (byte < 32 && ![9, 10, 12, 13, 27].includes(byte)) || byte === 127,
  ).length;
  return controls * 50 > sample.length ? null : { encoding: 'latin1', bom: false };
}
