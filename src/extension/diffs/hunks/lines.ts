/** The lines of a text as an editor counts them: a final line end makes a last, empty line. A byte order mark is none of them. */
export function linesOf(text: string): string[] {
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return bare.split(/\r\n|\n|\r/);
}

/** The line end that a text uses most; null where it has none. */
export function lineEndOf(text: string): '\n' | '\r\n' | null {
  const crlf = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  if (all === 0) return null;
  return crlf * 2 > all ? '\r\n' : '\n';
}

/** Replaces the lines from `start` up to `end` (exclusive). */
export type LineEdit = {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
};

/** The lines after an edit. */
export function applyLineEdit(lines: readonly string[], edit: LineEdit): string[] {
  return [...lines.slice(0, edit.start), ...edit.lines, ...lines.slice(edit.end)];
}

/** True if `part` stands in `lines` at `at`. */
export function standsAt(lines: readonly string[], at: number, part: readonly string[]): boolean {
  return (
    at + part.length <= lines.length && part.every((line, index) => lines[at + index] === line)
  );
}
