import * as z from 'zod/mini';

/** What a path held: a regular file or a symbolic link. `content` names its bytes (a link's: its target). */
export type Held = {
  readonly kind: 'file' | 'link';
  /** SHA-256 of `blob SIZE\0` and the bytes, as git names them in a repository with that object format. */
  readonly content: string;
  /** Permission bits; 0 for links, which have none of their own. */
  readonly mode: number;
  readonly binary?: boolean;
};

/** Null: nothing was there. */
export type Entry = Held | null;

/** What a path holds now. `blocked`: something that is never put aside for a file. */
export type Present = { readonly entry: Entry; readonly blocked: 'folder' | 'special' | null };

export const contentName: z.ZodMiniType<string> = z.string().check(z.regex(/^[0-9a-f]{64}$/));

export const entryShape: z.ZodMiniType<Entry> = z.nullable(
  z.object({
    kind: z.enum(['file', 'link']),
    content: contentName,
    mode: z.int().check(z.minimum(0), z.maximum(0o7777)),
    binary: z.exactOptional(z.boolean()),
  }),
);

/** True if both are the same file: kind, bytes and permission bits. */
export function same(one: Entry, other: Entry): boolean {
  if (one === null || other === null) return one === other;
  return one.kind === other.kind && one.content === other.content && one.mode === other.mode;
}

/** How a path differs between two states that are not the same. */
export function changeOf(from: Entry, to: Entry): 'added' | 'modified' | 'deleted' {
  if (from === null) return 'added';
  return to === null ? 'deleted' : 'modified';
}

/** How far git looks for a NUL to call a file binary. */
const LOOKED_AT = 8000;

/** True if the beginning of a file says that it is no text. */
export function looksBinary(head: Uint8Array): boolean {
  return head.subarray(0, LOOKED_AT).includes(0);
}
