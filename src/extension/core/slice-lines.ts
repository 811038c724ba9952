/** Lines of a text: `line` is 1-based, `limit` a count; missing means from the first, to the last. */
export function sliceLines(
  text: string,
  line: number | null | undefined,
  limit: number | null | undefined,
): string {
  if ((line ?? 1) <= 1 && (limit === null || limit === undefined)) return text;
  const lines = text.split(/(?<=\n)/);
  const from = Math.max(0, (line ?? 1) - 1);
  return lines
    .slice(from, limit === null || limit === undefined ? undefined : from + limit)
    .join('');
}
