import type { Held } from '../entry.ts';

/** A folder as it stood, by absolute path. */
export type Snapshot = {
  readonly files: ReadonlyMap<string, Held>;
  /** What is left alone: ignored, too big, unreadable, other repositories. Folders end with a separator. */
  readonly apart: readonly string[];
  /** Folders with nothing in them. */
  readonly emptyFolders: readonly string[];
  /** Why it is not all of the folder. */
  readonly reasons: readonly string[];
};

/** A path that two snapshots tell apart. */
export type Difference = {
  readonly path: string;
  readonly before: Held | null;
  readonly after: Held | null;
};

/** What changed between two snapshots of a root. What was left alone before did not appear since. */
export function differences(
  before: Snapshot,
  after: Snapshot,
  separator: string,
): readonly Difference[] {
  const found: Difference[] = [];
  const apart = new Apart(before.apart, separator);
  for (const [file, held] of before.files) {
    const now = after.files.get(file) ?? null;
    if (now !== null && now.content === held.content && equalTraits(now, held)) continue;
    found.push({ path: file, before: held, after: now });
  }
  for (const [file, held] of after.files)
    if (!before.files.has(file) && !apart.has(file))
      found.push({ path: file, before: null, after: held });
  return found;
}

function equalTraits(one: Held, other: Held): boolean {
  return one.kind === other.kind && one.mode === other.mode;
}

/** Answers whether a path is, or lies in, something that was left alone. */
export class Apart {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();
  readonly #separator: string;

  constructor(paths: readonly string[], separator: string) {
    this.#separator = separator;
    for (const each of paths)
      if (each.endsWith(separator)) this.#folders.add(each.slice(0, -separator.length));
      else this.#files.add(each);
  }

  has(file: string): boolean {
    if (this.#files.has(file)) return true;
    for (let end = file.length; end > 0; end = file.lastIndexOf(this.#separator, end - 1))
      if (this.#folders.has(file.slice(0, end))) return true;
    return false;
  }
}
