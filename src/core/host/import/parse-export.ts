import * as z from 'zod/mini';
import { isDeeperThan } from '../../../base/json-depth.ts';
import type { RawRecord } from '../../journal/raw-records.ts';
import {
  CONTROL_LINE,
  END_LINE,
  type ExportedHeads,
  type ExportedSession,
  FORMAT,
  FORMAT_VERSION,
  headLine,
  headsLine,
  loopLine,
} from '../export/format.ts';
import { ImportError, notAnExport } from './import-error.ts';

/** What the lines of an export say, one after the other. */
export type Said =
  | { readonly is: 'head'; readonly session: ExportedSession }
  | { readonly is: 'loop'; readonly loopId: string }
  | { readonly is: 'record'; readonly stream: 'history' | 'control'; readonly record: RawRecord }
  | { readonly is: 'heads'; readonly heads: ExportedHeads };

/** Ids become names of files and folders in places: those of an import are plain. */
const ID = /^[A-Za-z0-9_-][A-Za-z0-9._:-]{0,199}$/;
const id = z.string().check(
  z.regex(ID),
  z.refine((value) => value !== 'host'),
);
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());

const head = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  session: z.strictObject({
    sessionId: id,
    title: z.nullable(z.string()),
    createdAt: z.int(),
    lastMessageAt: z.int(),
    lastEventId: count,
    prefixHash: hash,
  }),
  loops: z.array(z.never()),
});
const loop = z.strictObject({ loopId: id, history: z.array(z.never()) });
const heads = z.strictObject({
  historyRecords: count,
  historyHash: hash,
  controlRecords: count,
  controlHash: z.nullable(hash),
});

/** Lines that are not records are flat. */
const MAX_HEAD_DEPTH = 3;

const RECORD =
  /^\{"seq":([1-9]\d{0,15}),"at":(0|-?[1-9]\d{0,15}),"v":([1-9]\d{0,3}),"hash":"([0-9a-f]{64})","event":(\{.*\})\}(,?)$/s;

/** Reads an export line by line; every byte of it is accounted for. Throws `ImportError`. */
export class ExportParser {
  #line = 0;
  #at: 'start' | 'loop' | 'history' | 'control' | 'end' | 'over' = 'start';
  /** Whether another record, or another loop, must follow; null where none may have come yet. */
  #more: boolean | null = null;

  get line(): number {
    return this.#line;
  }

  /** What the next line says; null for one that says nothing. */
  take(line: string): Said | null {
    this.#line += 1;
    switch (this.#at) {
      case 'start':
        return this.#head(line);
      case 'loop':
        return this.#loop(line);
      case 'history':
        if (line !== CONTROL_LINE) return this.#record(line, 'history');
        this.#endOfList(line);
        this.#at = 'control';
        return null;
      case 'control':
        if (!line.startsWith(']')) return this.#record(line, 'control');
        this.#endOfList(line);
        return this.#heads(line);
      case 'end':
        if (line !== END_LINE) throw this.#wrong('the end is expected');
        this.#at = 'over';
        return null;
      case 'over':
        throw this.#wrong('nothing may follow the end');
    }
  }

  /** The document must be over. */
  end(): void {
    if (this.#at !== 'over') throw notAnExport(this.#line + 1, 'the file breaks off');
  }

  #head(line: string): Said {
    refuseNewer(line);
    const { session } = this.#read(head, `${line}]}`);
    if (headLine(session) !== line) throw this.#wrong('its form is another one');
    this.#at = 'loop';
    return { is: 'head', session };
  }

  #loop(line: string): Said {
    const { loopId } = this.#read(loop, `${line}]}`);
    if (loopLine(loopId) !== line) throw this.#wrong('its form is another one');
    [this.#at, this.#more] = ['history', null];
    return { is: 'loop', loopId };
  }

  #record(line: string, stream: 'history' | 'control'): Said {
    const found = RECORD.exec(line);
    if (found === null || this.#more === false) throw this.#wrong('a record is expected');
    const [, seq = '', at = '', v = '', recordHash = '', body = '', comma] = found;
    this.#more = comma === ',';
    const record = { seq: Number(seq), at: Number(at), v: Number(v), hash: recordHash, body };
    if (String(record.at) !== at || String(record.seq) !== seq)
      throw this.#wrong('a number is too large');
    return { is: 'record', stream, record };
  }

  #endOfList(line: string): void {
    if (this.#more === true) throw this.#wrong(`a record is expected, not ${line.slice(0, 20)}`);
    this.#more = null;
  }

  #heads(line: string): Said {
    const comma = line.endsWith(',');
    const plain = comma ? line.slice(0, -1) : line;
    const said = this.#read(heads, plain.replace('],', '{'));
    if (headsLine(said) !== plain) throw this.#wrong('its form is another one');
    this.#at = comma ? 'loop' : 'end';
    return { is: 'heads', heads: said };
  }

  #read<T>(shape: z.ZodMiniType<T>, text: string): T {
    if (isDeeperThan(MAX_HEAD_DEPTH, text)) throw this.#wrong('it is nested too deep');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (error instanceof Error) throw this.#wrong('it is not JSON');
      throw error;
    }
    const result = shape.safeParse(value);
    if (!result.success) throw this.#wrong(z.prettifyError(result.error));
    return result.data;
  }

  #wrong(what: string): ImportError {
    return notAnExport(this.#line, what);
  }
}

function refuseNewer(line: string): void {
  const [, version] = /^\{"format":"pilothouse-session","version":(\d{1,6}),/.exec(line) ?? [];
  if (version === undefined || Number(version) <= FORMAT_VERSION) return;
  throw new ImportError(
    'import.newer_version',
    `The file was exported by a newer Pilothouse (format ${version}, this one knows ${FORMAT_VERSION}). Update Pilothouse. Nothing was imported.`,
    { data: { version: Number(version), known: FORMAT_VERSION } },
  );
}
