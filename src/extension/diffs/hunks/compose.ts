import type { FileHunks } from './hunks.ts';
import { lineEndOf } from './lines.ts';

type Line = { readonly text: string; readonly end: string };

/**
 * The text `before` with the hunks whose ids are in `taken` as they stand in `after`; all other lines keep their
 * bytes, line ends and byte order mark included. `file` is what `hunksOf(before, after)` says.
 */
export function composed(
  file: FileHunks,
  before: string,
  after: string,
  taken: ReadonlySet<string>,
): string {
  const old = rawLines(before);
  const fresh = rawLines(after);
  const lines: Line[] = [];
  let from = 0;
  for (const hunk of file.hunks) {
    const end = hunk.beforeStart + hunk.before.length;
    lines.push(...old.slice(from, hunk.beforeStart));
    lines.push(
      ...(taken.has(hunk.id)
        ? fresh.slice(hunk.afterStart, hunk.afterStart + hunk.after.length)
        : old.slice(hunk.beforeStart, end)),
    );
    from = end;
  }
  lines.push(...old.slice(from));
  const fallback = lineEndOf(before) ?? lineEndOf(after) ?? '\n';
  const last = lines.length - 1;
  const joined = lines
    .map(({ text, end }, index) => (index === last ? text : text + (end || fallback)))
    .join('');
  return before.startsWith(MARK) ? MARK + joined : joined;
}

const MARK = '\uFEFF';

/** The lines with their line ends, as `linesOf` counts them. */
function rawLines(text: string): Line[] {
  const bare = text.startsWith(MARK) ? text.slice(1) : text;
  const parts = bare.split(/(\r\n|\n|\r)/);
  return Array.from({ length: (parts.length + 1) / 2 }, (_, index) => ({
    text: parts[index * 2] ?? '',
    end: parts[index * 2 + 1] ?? '',
  }));
}
