import { structuredPatch } from 'diff';
import type { ChatDiff } from '../../../protocol/chat.ts';

const MAX_LINES = 400;
/** Longer texts are counted by lines only: an exact diff of them would hold up the editor. */
const MAX_TEXT = 1_000_000;

/** A change to one file as the chat shows it. `before` is null for a new file. */
export function fileDiff(path: string, before: string | null, after: string): ChatDiff {
  if ((before?.length ?? 0) + after.length > MAX_TEXT) return tooLarge(path, before, after);
  const patch = structuredPatch(path, path, before ?? '', after, undefined, undefined, {
    context: 3,
    timeout: 250,
  });
  if (!patch) return tooLarge(path, before, after);
  const lines = patch.hunks.flatMap((hunk) => [
    {
      mark: '@' as const,
      text: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    },
    ...hunk.lines.flatMap(toLine),
  ]);
  return {
    path,
    added: lines.filter((line) => line.mark === '+').length,
    removed: lines.filter((line) => line.mark === '-').length,
    isNew: before === null,
    lines: lines.slice(0, MAX_LINES),
    cut: lines.length > MAX_LINES,
  };
}

function toLine(line: string): { mark: ' ' | '+' | '-'; text: string }[] {
  const mark = line[0];
  return mark === ' ' || mark === '+' || mark === '-' ? [{ mark, text: line.slice(1) }] : [];
}

function tooLarge(path: string, before: string | null, after: string): ChatDiff {
  return {
    path,
    added: countLines(after),
    removed: countLines(before ?? ''),
    isNew: before === null,
    lines: [],
    cut: true,
  };
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length;
}
