import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { CodedError, messageOf } from '../../../base/errors.ts';
import type { Sink } from './export-session.ts';

/** The largest export that is answered as text, in characters: past it a file is needed. */
const MAX_TEXT = 64 * 1024 * 1024;

export type ExportErrorCode = 'export.unwritable' | 'export.too_large';

/** An export that could not be handed over; the message says what to do. */
export class ExportError extends CodedError<ExportErrorCode> {}

/**
 * Runs an export into a file, which is there whole or not at all; one that was there is replaced. Throws
 * `export.unwritable`.
 */
export async function intoFile<T>(
  path: string,
  run: (sink: Sink) => Promise<T>,
): Promise<{ readonly result: T; readonly bytes: number }> {
  const part = `${path}.${randomUUID()}.part`;
  let bytes = 0;
  const file = await writable(path, () => open(part, 'wx', 0o600));
  try {
    const result = await run(async (text) => {
      const chunk = Buffer.from(text, 'utf8');
      bytes += chunk.length;
      await writable(path, () => file.writeFile(chunk));
    });
    await writable(path, async () => {
      await file.sync();
      await file.close();
      await rename(part, path);
    });
    return { result, bytes };
  } catch (error) {
    await file.close();
    await rm(part, { force: true });
    throw error;
  }
}

/** Runs an export into a text. Throws `export.too_large`. */
export async function intoText<T>(
  run: (sink: Sink) => Promise<T>,
): Promise<{ readonly result: T; readonly bytes: number; readonly text: string }> {
  const parts: string[] = [];
  let characters = 0;
  const result = await run(async (text) => {
    characters += text.length;
    if (characters > MAX_TEXT) {
      throw new ExportError(
        'export.too_large',
        'The session is too large to be sent as text. Export it to a file: give a path.',
        { data: { limit: MAX_TEXT } },
      );
    }
    parts.push(text);
  });
  const text = parts.join('');
  return { result, bytes: Buffer.byteLength(text), text };
}

async function writable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ExportError(
      'export.unwritable',
      `${path} can't be written: ${messageOf(error)}. Choose another place.`,
      { cause: error, data: { path } },
    );
  }
}
