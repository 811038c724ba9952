/** Lines around the place that resembles the wanted text most. */
export type NearestLines = {
  /** 1-based. */
  readonly line: number;
  readonly lines: readonly string[];
  /** True if only white space differs. */
  readonly whitespaceOnly: boolean;
};

/** Longer files are not searched. */
const MAX_LINES = 50_000;
const MAX_SHOWN = 12;

/** Finds where a text that does not occur was probably meant; null if nothing resembles it. */
export function nearestLines(text: string, wanted: string): NearestLines | null {
  const lines = text.split(/\r?\n/);
  const parts = wanted.split(/\r?\n/);
  const anchor = parts.findIndex((part) => part.trim() !== '');
  const key = parts[anchor]?.trim();
  if (key === undefined || lines.length > MAX_LINES) return null;
  const best = bestStart(lines, parts, anchor, key);
  if (best === null) return null;
  const shown = lines.slice(best, best + Math.min(parts.length, MAX_SHOWN));
  return {
    line: best + 1,
    lines: shown,
    whitespaceOnly:
      squeeze(lines.slice(best, best + parts.length).join('\n')).includes(squeeze(wanted)) &&
      squeeze(wanted) !== '',
  };
}

function bestStart(
  lines: readonly string[],
  parts: readonly string[],
  anchor: number,
  key: string,
): number | null {
  const wantedPairs = pairsOf(key);
  const candidates = lines
    .map((line, index) => ({
      index,
      score: likeness(wantedPairs, pairsOf(line.trim()), key, line),
    }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, 20);
  let best: { start: number; score: number } | null = null;
  for (const { index, score } of candidates) {
    const start = Math.max(0, index - anchor);
    const total = parts
      .slice(0, MAX_SHOWN)
      .reduce((sum, part, i) => sum + (lines[start + i]?.trim() === part.trim() ? 1 : 0), score);
    if (best === null || total > best.score) best = { start, score: total };
  }
  return best?.start ?? null;
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < text.length && i < 400; i += 1) pairs.add(text.slice(i, i + 2));
  return pairs;
}

/** Sørensen–Dice likeness of two sets of character pairs, 0 to 1. */
function likeness(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  key: string,
  line: string,
): number {
  if (line.includes(key)) return 1;
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared += 1;
  return (2 * shared) / (a.size + b.size);
}
