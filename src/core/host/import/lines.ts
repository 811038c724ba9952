import { MAX_BODY_BYTES } from '../../journal/codec/limits.ts';
import { ImportError, notAnExport } from './import-error.ts';

/** A record and what stands around it. */
const MAX_LINE_BYTES = MAX_BODY_BYTES + 4096;
const NEWLINE = 0x0a;

/** Lines of UTF-8 without their ends. Throws `import.not_an_export` for other bytes and `import.too_large`. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // A byte order mark is kept: it is not in an export.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let size = 0;
  let line = 0;
  const decoded = (): string => {
    line += 1;
    try {
      return decoder.decode(Buffer.concat(parts));
    } catch (error) {
      if (error instanceof TypeError) throw notAnExport(line, 'it is not UTF-8');
      throw error;
    }
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, at));
      yield decoded();
      [parts, size, from] = [[], 0, at + 1];
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) throw tooLong(line + 1);
  }
  if (size > 0) throw notAnExport(line + 1, 'the file breaks off');
}

function tooLong(line: number): ImportError {
  return new ImportError(
    'import.too_large',
    `Line ${line} is longer than a record can be. Nothing was imported.`,
    { data: { line, limit: MAX_LINE_BYTES } },
  );
}
