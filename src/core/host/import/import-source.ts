import { open, stat } from 'node:fs/promises';
import { messageOf } from '../../../base/errors.ts';
import { ImportError } from './import-error.ts';

/** Where an export is read from. */
export type ImportSource = { readonly path: string } | { readonly text: string };

/** The bytes of a source. Throws `import.unreadable`. */
export async function* bytesOf(source: ImportSource): AsyncGenerator<Uint8Array> {
  if ('text' in source) {
    yield Buffer.from(source.text, 'utf8');
    return;
  }
  const { path } = source;
  const file = await readable(path, async () => {
    // Opening a pipe waits for its writer.
    if (!(await stat(path)).isFile()) throw new Error('it is not a file');
    return await open(path, 'r');
  });
  try {
    yield* file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
  } finally {
    await file.close();
  }
}

async function readable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ImportError(
      'import.unreadable',
      `${path} can't be read: ${messageOf(error)}. Choose another file.`,
      { cause: error, data: { path } },
    );
  }
}
