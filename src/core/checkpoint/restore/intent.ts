import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { ignoreMissing } from '../errors.ts';
import { noteFile } from '../folder.ts';
import { syncFolder, writeDurably } from '../store/durable.ts';

const intentShape = z.object({
  /** The state before the restore. */
  undo: z.string(),
  temporaries: z.array(z.string()),
});

/** What a restore is about to do, so that one that a crash cut can be taken back. */
export type Intent = z.infer<typeof intentShape>;

/** The note of the restore that runs. */
export class IntentNote {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = noteFile(folder);
  }

  async write(intent: Intent): Promise<void> {
    await writeDurably(this.#file, Buffer.from(JSON.stringify(intent)));
  }

  /** What a crash left; null if there is nothing to take back. */
  async read(): Promise<Intent | null> {
    const text = await readFile(this.#file, 'utf8').catch(ignoreMissing);
    if (text === undefined) return null;
    const parsed = intentShape.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  }

  async clear(): Promise<void> {
    await rm(this.#file, { force: true });
    await syncFolder(path.dirname(this.#file));
  }
}
