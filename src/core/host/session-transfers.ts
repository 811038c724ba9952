import type { SessionId } from '../session/words.ts';
import type { ExportFormat, ExportJournal } from './export/export-session.ts';
import type { Imported, ImportJournal } from './import/import-session.ts';
import type { ImportSource } from './import/import-source.ts';

/** What an export came to; `text` where no path was given. */
export type Exported = {
  readonly bytes: number;
  readonly events: number;
  readonly prefixHash: string;
  readonly text?: string;
  readonly path?: string;
};

/** Takes sessions out of a data folder and into it. Its code is loaded with the first use. */
export class SessionTransfers {
  readonly #journal: ExportJournal & ImportJournal;
  readonly #imported: (sessionId: SessionId) => void;

  constructor(journal: ExportJournal & ImportJournal, imported: (sessionId: SessionId) => void) {
    this.#journal = journal;
    this.#imported = imported;
  }

  /**
   * Writes a session out, to a file (which is replaced, and there whole or not at all) or as text. A read. Throws
   * `host.unknown_session`, `export.unwritable` and `export.too_large`.
   */
  async export(
    sessionId: SessionId,
    format: ExportFormat,
    path: string | undefined,
  ): Promise<Exported> {
    const [{ exportSession }, { intoFile, intoText }] = await Promise.all([
      import('./export/export-session.ts'),
      import('./export/export-target.ts'),
    ]);
    const run = (sink: (text: string) => Promise<void>) =>
      exportSession(this.#journal, sessionId, format, sink);
    if (path === undefined) {
      const { result, bytes, text } = await intoText(run);
      return { ...result, bytes, text };
    }
    const { result, bytes } = await intoFile(path, run);
    return { ...result, bytes, path };
  }

  /**
   * Takes a session in from exported JSON, under its own ids; all of it is checked before anything is kept. With `cwd`
   * it works there from now on. Throws `ImportError`.
   */
  async import(source: ImportSource, cwd: string | undefined): Promise<Imported> {
    const [{ importSession }, { bytesOf }] = await Promise.all([
      import('./import/import-session.ts'),
      import('./import/import-source.ts'),
    ]);
    const imported = await importSession(this.#journal, bytesOf(source), { cwd });
    if (!imported.alreadyThere) this.#imported(imported.sessionId);
    return imported;
  }
}
