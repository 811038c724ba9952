import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { TurnId } from '../../session/words.ts';
import { contentName } from '../entry.ts';
import { ignoreMissing } from '../errors.ts';
import { turnNoteFile } from '../folder.ts';
import type { Snapshot } from '../git/snapshot.ts';
import { writeDurably } from './durable.ts';

const held = z.object({
  kind: z.enum(['file', 'link']),
  content: contentName,
  mode: z.int().check(z.minimum(0), z.maximum(0o7777)),
  binary: z.exactOptional(z.boolean()),
});

const snapshot = z.object({
  files: z.array(z.tuple([z.string(), held])),
  apart: z.array(z.string()),
  emptyFolders: z.array(z.string()),
  reasons: z.array(z.string()),
});

const noteShape = z.object({
  version: z.literal(1),
  turn: z.string(),
  roots: z.array(z.tuple([z.string(), z.nullable(snapshot)])),
  first: z.array(z.string()),
  reasons: z.array(z.string()),
  lacks: z.nullable(z.string()),
});

/** What a turn found at its first effect. */
export type TurnBeginning = {
  readonly turnId: TurnId;
  /** By root; null where there is no snapshot. */
  readonly roots: ReadonlyMap<string, Snapshot | null>;
  /** Paths whose pre-images were taken together with the snapshots. */
  readonly first: ReadonlySet<string>;
  readonly reasons: readonly string[];
  readonly lacks: string | null;
};

/**
 * The note of the newest turn that had an effect, so that one that a crash broke off still knows what it found. It
 * stays until the next turn's takes its place.
 */
export class TurnNote {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = turnNoteFile(folder);
  }

  /** It is on disk when this resolves. */
  async write({ turnId, roots, first, reasons, lacks }: TurnBeginning): Promise<void> {
    const note: z.infer<typeof noteShape> = {
      version: 1,
      turn: turnId,
      roots: [...roots].map(([root, one]) => [root, one === null ? null : stored(one)]),
      first: [...first],
      reasons: [...reasons],
      lacks,
    };
    await writeDurably(this.#file, Buffer.from(JSON.stringify(note)));
  }

  /** Null if another turn's is here, or none that can be read. */
  async read(turnId: TurnId): Promise<TurnBeginning | null> {
    const text = await readFile(this.#file, 'utf8').catch(ignoreMissing);
    if (text === undefined) return null;
    const { data } = noteShape.safeParse(parsed(text));
    if (data === undefined || data.turn !== turnId) return null;
    return {
      turnId,
      roots: new Map(data.roots.map(([root, one]) => [root, one === null ? null : read(one)])),
      first: new Set(data.first),
      reasons: data.reasons,
      lacks: data.lacks,
    };
  }
}

type Stored = z.infer<typeof snapshot>;

function stored({ files, apart, emptyFolders, reasons }: Snapshot): Stored {
  return {
    files: [...files],
    apart: [...apart],
    emptyFolders: [...emptyFolders],
    reasons: [...reasons],
  };
}

function read({ files, ...rest }: Stored): Snapshot {
  return { files: new Map(files), ...rest };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Written whole or not at all, so somebody changed it since: then it says nothing.
    return null;
  }
}
