import type { FileHandle } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { ToolError } from '../define-tool.ts';
import { headOf } from '../text-limit.ts';
import { decodeText, detectFormat } from './text-encoding.ts';

/** A part of a text file. */
export type LineRange = {
  readonly text: string;
  /** 1-based first line. */
  readonly first: number;
  /** Last line in `text`; smaller than `first` if there is none. */
  readonly last: number;
  /** Lines of the whole file; null if it was not read to its end. */
  readonly total: number | null;
  /** True if the last line did not fit and was cut. */
  readonly cutLine: boolean;
};

/** Files up to this size are decoded whole; larger ones are read only as far as needed. */
const WHOLE_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Takes `limit` lines from line `first` on out of a text, but at most `maxBytes`. */
export function linesOf(text: string, first: number, limit: number, maxBytes: number): LineRange {
  const lines = text.split('\n');
  if (lines.at(-1) === '' && lines.length > 1) lines.pop();
  const total = text === '' ? 0 : lines.length;
  return cutLines(lines.slice(first - 1, first - 1 + limit), first, total, maxBytes);
}

/** The same, from an open file. Null for a binary file. `size` in bytes. */
export async function linesFromFile(
  handle: FileHandle,
  size: number,
  range: { first: number; limit: number; maxBytes: number },
  signal: AbortSignal,
): Promise<LineRange | null> {
  if (size <= WHOLE_BYTES) {
    const decoded = decodeText(await handle.readFile());
    return decoded && linesOf(decoded.text, range.first, range.limit, range.maxBytes);
  }
  return scanLargeFile(handle, range, signal);
}

async function scanLargeFile(
  handle: FileHandle,
  range: { first: number; limit: number; maxBytes: number },
  signal: AbortSignal,
): Promise<LineRange | null> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let decoder: TextDecoder | null = null;
  let line = 1;
  let kept = '';
  const last = range.first + range.limit - 1;
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    const bytes = chunk.subarray(0, bytesRead);
    decoder ??= largeFileDecoder(bytes);
    if (decoder === null) return null;
    const text = decoder.decode(bytes, { stream: bytesRead > 0 });
    position += bytesRead;
    const part = takeLines(text, line, range.first, last);
    kept += part.kept;
    line = part.line;
    const full = line > last || kept.length > range.maxBytes;
    if (!full && bytesRead > 0) continue;
    const lines = kept.split('\n');
    if (lines.at(-1) === '') lines.pop();
    return cutLines(lines, range.first, bytesRead > 0 ? null : line, range.maxBytes);
  }
}

function largeFileDecoder(head: Uint8Array): TextDecoder | null {
  const format = detectFormat(head, true);
  if (format === null) return null;
  if (format.encoding === 'latin1')
    throw new ToolError(
      'The file is larger than 8 MiB and not in UTF-8 or UTF-16. Use the run tool, for example with iconv and sed, to look at parts of it.',
    );
  return new TextDecoder(format.encoding);
}

/** Keeps of a chunk that begins in `line` what lies in the wanted lines. */
function takeLines(
  text: string,
  line: number,
  first: number,
  last: number,
): { kept: string; line: number } {
  let kept = '';
  let current = line;
  for (let at = 0; at < text.length && current <= last; ) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end + 1;
    if (current >= first) kept += text.slice(at, next);
    if (end !== -1) current += 1;
    at = next;
  }
  return { kept, line: current };
}

function cutLines(
  lines: readonly string[],
  first: number,
  total: number | null,
  maxBytes: number,
): LineRange {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > maxBytes + 1) break;
    bytes += size;
    count += 1;
  }
  if (count === 0 && lines[0] !== undefined)
    return { text: headOf(lines[0], maxBytes), first, last: first, total, cutLine: true };
  const text = lines.slice(0, count).join('\n');
  return { text, first, last: first + count - 1, total, cutLine: false };
}
