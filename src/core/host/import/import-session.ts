import type { OpenJournal } from '../../journal/open-journal.ts';
import type { JournalImport, RawRecord } from '../../journal/raw-records.ts';
import type { SessionId } from '../../session/words.ts';
import type { ExportedHeads, ExportedSession } from '../export/format.ts';
import { notAnExport, ofTheStore } from './import-error.ts';
import { linesOf } from './lines.ts';
import { OpenTurn } from './open-turn.ts';
import { ExportParser, type Said } from './parse-export.ts';

/** Handed to the store at once: so many records, or so many characters. */
const BATCH_RECORDS = 256;
const BATCH_CHARACTERS = 1024 * 1024;
const MAX_LOOPS = 10_000;

/** The store as an import writes it. */
export type ImportJournal = Pick<OpenJournal, 'beginImport'>;

/** What was taken in. */
export type Imported = {
  readonly sessionId: SessionId;
  /** Events of the file, and the hash of the history up to the last of them. */
  readonly events: number;
  readonly prefixHash: string;
  /** The same session was here before, with all of these records. */
  readonly alreadyThere: boolean;
};

/**
 * Takes a session from an export in JSON, under its own ids. Every hash of every chain is computed again, every event
 * is checked, and nothing can be seen before all of it is on disk. A turn that was open is ended as after a restart,
 * by records behind those of the file. Throws `ImportError`; nothing is kept then.
 */
export async function importSession(
  journal: ImportJournal,
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly cwd?: string | undefined } = {},
): Promise<Imported> {
  const parser = new ExportParser();
  let reader: Reader | null = null;
  try {
    for await (const line of linesOf(chunks)) {
      const said = parser.take(line);
      if (said?.is === 'head') {
        // The parser lets plain ids through only.
        const sessionId = said.session.sessionId as SessionId;
        reader = new Reader(said.session, await journal.beginImport(sessionId), () => parser.line);
      } else if (said !== null) await reader?.take(said);
    }
    parser.end();
    if (reader === null) throw notAnExport(1, 'it is empty');
    return await reader.finish(options.cwd);
  } catch (error) {
    await reader?.abort();
    throw ofTheStore(error, parser.line);
  }
}

type LoopInHand = {
  readonly loopId: string;
  readonly open: OpenTurn;
  readonly last: { history: RawRecord | null; control: RawRecord | null };
};

class Reader {
  readonly #session: ExportedSession;
  readonly #into: JournalImport;
  readonly #line: () => number;
  readonly #loops = new Set<string>();
  #loop: LoopInHand | null = null;
  #batch: RawRecord[] = [];
  #stream: 'history' | 'control' = 'history';
  #characters = 0;

  constructor(session: ExportedSession, into: JournalImport, line: () => number) {
    this.#session = session;
    this.#into = into;
    this.#line = line;
  }

  async take(said: Said): Promise<void> {
    if (said.is === 'loop') this.#begin(said.loopId);
    if (said.is === 'record') await this.#record(said.stream, said.record);
    if (said.is === 'heads') await this.#end(said.heads);
  }

  async finish(cwd: string | undefined): Promise<Imported> {
    const { sessionId, lastEventId, prefixHash } = this.#session;
    const { alreadyThere } = await this.#into.finish({ row: this.#session, cwd });
    return { sessionId: sessionId as SessionId, events: lastEventId, prefixHash, alreadyThere };
  }

  async abort(): Promise<void> {
    await this.#into.abort();
  }

  #begin(loopId: string): void {
    if (this.#loops.has(loopId)) throw notAnExport(this.#line(), 'this loop was there before');
    if (this.#loops.size >= MAX_LOOPS) throw notAnExport(this.#line(), 'it has too many loops');
    this.#loops.add(loopId);
    this.#loop = {
      loopId,
      open: new OpenTurn(loopId),
      last: { history: null, control: null },
    };
  }

  async #record(stream: 'history' | 'control', record: RawRecord): Promise<void> {
    if (stream !== this.#stream) await this.#flush();
    this.#stream = stream;
    this.#batch.push(record);
    this.#characters += record.body.length;
    if (this.#loop !== null) this.#loop.last[stream] = record;
    if (this.#batch.length >= BATCH_RECORDS || this.#characters >= BATCH_CHARACTERS)
      await this.#flush();
  }

  async #flush(): Promise<void> {
    const [batch, stream, loop] = [this.#batch, this.#stream, this.#loop];
    [this.#batch, this.#characters] = [[], 0];
    if (loop === null || batch.length === 0) return;
    const types = await this.#into.records(loop.loopId, stream, batch);
    if (stream === 'history') loop.open.take(batch, types);
  }

  async #end(heads: ExportedHeads): Promise<void> {
    await this.#flush();
    this.#stream = 'history';
    const loop = this.#loop;
    if (loop === null) return;
    const { history, control } = loop.last;
    const same =
      (history?.seq ?? 0) === heads.historyRecords &&
      (history?.hash ?? '') === heads.historyHash &&
      (control?.seq ?? 0) === heads.controlRecords &&
      (control?.hash ?? null) === heads.controlHash;
    if (!same) throw notAnExport(this.#line(), 'records are missing, or its counts are wrong');
    const ends = loop.open.seal();
    if (ends.length > 0) await this.#into.seal(loop.loopId, ends);
  }
}
