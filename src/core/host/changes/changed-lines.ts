import { diffLines } from 'diff';

/** How many lines came and went between two texts. */
export function countLines(
  before: string,
  after: string,
): { addedLines: number; removedLines: number } {
  let addedLines = 0;
  let removedLines = 0;
  for (const part of diffLines(before, after)) {
    if (part.added) addedLines += part.count;
    else if (part.removed) removedLines += part.count;
  }
  return { addedLines, removedLines };
}
