/** Whole lines, 1-based and inclusive. */
export type LineRange = { readonly first: number; readonly last: number };

/** `3-9`, or `3` for one line. */
export function formatRange({ first, last }: LineRange): string {
  return first === last ? String(first) : `${first}-${last}`;
}

/** Reads what `formatRange` wrote; null for anything else. */
export function parseRange(text: string): LineRange | null {
  const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text);
  if (!match) return null;
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  return first >= 1 && last >= first ? { first, last } : null;
}

/** The lines of a selection; a selection that ends before the first character of a line does not hold that line. */
export function linesOfSelection(selection: {
  readonly start: { readonly line: number };
  readonly end: { readonly line: number; readonly character: number };
}): LineRange {
  const first = selection.start.line + 1;
  const end = selection.end.line + 1;
  const last = selection.end.character === 0 && end > first ? end - 1 : end;
  return { first, last };
}
