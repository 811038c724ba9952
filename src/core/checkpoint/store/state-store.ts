import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { type Entry, entryShape } from '../entry.ts';
import { CheckpointError, ignoreMissing } from '../errors.ts';
import type { Snapshot } from '../git/snapshot.ts';
import { writeDurably } from './durable.ts';

/** Some paths as they once were. */
export type State = {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Folders that were not there then; they are removed again when they are empty. */
  readonly folders: readonly string[];
  /** Only of a state before a restore: what that restore left. */
  readonly left: ReadonlyMap<string, Entry> | null;
  /** Only of whole folders as they stood: what `entries` leaves out, so that it is not taken for new later. */
  readonly whole?: Pick<Snapshot, 'apart' | 'emptyFolders'>;
};

const entries = z.array(z.tuple([z.string(), entryShape]));
const stateShape = z.object({
  version: z.literal(1),
  entries,
  folders: z.array(z.string()),
  left: z.nullable(entries),
  whole: z.exactOptional(
    z.object({ apart: z.array(z.string()), emptyFolders: z.array(z.string()) }),
  ),
});

const NAME = /^[0-9a-f]{64}$/;

/** Stored states, named by what is in them. */
export class StateStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** It is on disk when this resolves with its name. */
  async keep(state: State): Promise<string> {
    const bytes = Buffer.from(
      JSON.stringify({
        version: 1,
        entries: [...state.entries],
        folders: [...state.folders],
        left: state.left === null ? null : [...state.left],
        ...(state.whole === undefined ? {} : { whole: copied(state.whole) }),
      } satisfies z.infer<typeof stateShape>),
    );
    const name = createHash('sha256').update(bytes).digest('hex');
    await writeDurably(this.#fileOf(name), bytes);
    return name;
  }

  /** Throws `checkpoint.unknown`. */
  async load(name: string): Promise<State> {
    const text = NAME.test(name)
      ? await readFile(this.#fileOf(name), 'utf8').catch(ignoreMissing)
      : undefined;
    if (text === undefined) throw unknown(name);
    const parsed = stateShape.safeParse(JSON.parse(text));
    if (!parsed.success) throw unknown(name, parsed.error);
    const { data } = parsed;
    return {
      entries: new Map(data.entries),
      folders: data.folders,
      left: data.left === null ? null : new Map(data.left),
      ...(data.whole === undefined ? {} : { whole: data.whole }),
    };
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, `${name}.json`);
  }
}

function copied({ apart, emptyFolders }: Pick<Snapshot, 'apart' | 'emptyFolders'>): {
  apart: string[];
  emptyFolders: string[];
} {
  return { apart: [...apart], emptyFolders: [...emptyFolders] };
}

function unknown(name: string, cause?: unknown): CheckpointError {
  return new CheckpointError(
    'checkpoint.unknown',
    'The files of this checkpoint are not kept here any more, so they can not be put back.',
    { data: { state: name }, ...(cause === undefined ? {} : { cause }) },
  );
}
