/** A candidate that matched, with how well; higher is better. */
export type Match<T> = { readonly item: T; readonly score: number };

/**
 * How well `query` fits `path`, or null if its letters do not all occur in order. Letters in a row, letters at the
 * beginning of a word and matches in the file's own name count more.
 */
export function fuzzyScore(query: string, path: string): number | null {
  if (query === '') return 0;
  const needle = query.toLowerCase();
  const hay = path.toLowerCase();
  const nameAt = path.lastIndexOf('/') + 1;
  const inName = scoreFrom(needle, hay, path, nameAt);
  const anywhere = scoreFrom(needle, hay, path, 0);
  if (inName === null && anywhere === null) return null;
  const best = Math.max(inName === null ? -Infinity : inName + 40, anywhere ?? -Infinity);
  return best - path.length / 100;
}

function scoreFrom(needle: string, hay: string, path: string, from: number): number | null {
  const whole = hay.indexOf(needle, from);
  if (whole >= 0) return 60 + (isWordStart(path, whole) ? 30 : 0) + needle.length;
  let score = 0;
  let at = from;
  let last = -2;
  for (const letter of needle) {
    const found = hay.indexOf(letter, at);
    if (found < 0) return null;
    score += 1 + (found === last + 1 ? 4 : 0) + (isWordStart(path, found) ? 6 : 0);
    last = found;
    at = found + 1;
  }
  return score;
}

function isWordStart(path: string, at: number): boolean {
  if (at === 0) return true;
  const before = path[at - 1] ?? '';
  const letter = path[at] ?? '';
  return /[/\\._\- ]/.test(before) || (/[a-z0-9]/.test(before) && /[A-Z]/.test(letter));
}

/** The best `limit` candidates, best first; equal ones keep their order. */
export function bestMatches<T>(
  query: string,
  candidates: readonly T[],
  pathOf: (item: T) => string,
  limit: number,
): T[] {
  const matches: Match<T>[] = [];
  for (const item of candidates) {
    const score = fuzzyScore(query, pathOf(item));
    if (score !== null) matches.push({ item, score });
  }
  matches.sort((a, b) => b.score - a.score);
  return matches.slice(0, limit).map((match) => match.item);
}

/** Every folder on the way to a list of relative paths, shortest first. */
export function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths)
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1))
      folders.add(path.slice(0, at));
  return [...folders].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
