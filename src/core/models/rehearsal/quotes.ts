type Quote = '"' | "'" | '`';

const OPENS_AFTER = /[\s([{=:,;]/;

/** The index just past the quoted run that begins at `start`, or null when nothing closes it. */
function endOfQuote(text: string, start: number): number | null {
  const quote = text[start];
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\' && quote !== '`') index += 1;
    else if (text[index] === quote) return index + 1;
  }
  return null;
}

function isQuote(character: string | undefined): character is Quote {
  return character === '"' || character === "'" || character === '`';
}

/**
 * Marks every UTF-16 unit of `text` that is inside quotes. A quote counts only where a word may begin and where it
 * is closed again, so that apostrophes are plain text.
 */
function quotedUnits(text: string): Uint8Array {
  const quoted = new Uint8Array(text.length);
  let index = 0;
  while (index < text.length) {
    const mayOpen = index === 0 || OPENS_AFTER.test(text[index - 1] ?? '');
    const end = mayOpen && isQuote(text[index]) ? endOfQuote(text, index) : null;
    if (end === null) {
      index += 1;
      continue;
    }
    quoted.fill(1, index, end);
    index = end;
  }
  return quoted;
}

/** Where `separator` first occurs outside quotes, exactly as written or else in any case; null when nowhere. */
export function splitAt(text: string, separator: string): readonly [string, string] | null {
  const quoted = quotedUnits(text);
  for (const [haystack, needle] of [
    [text, separator],
    [text.toLowerCase(), separator.toLowerCase()],
  ] as const) {
    if (haystack.length !== text.length) continue;
    for (let at = haystack.indexOf(needle); at !== -1; at = haystack.indexOf(needle, at + 1)) {
      if (quoted[at] === 0) return [text.slice(0, at), text.slice(at + separator.length)];
    }
  }
  return null;
}

/** Splits at every `separator` character outside quotes; parts are trimmed and empty ones dropped. */
export function splitEvery(text: string, separator: string): string[] {
  const quoted = quotedUnits(text);
  const parts: string[] = [];
  let start = 0;
  for (let index = 0; index <= text.length; index += 1) {
    if (index < text.length && (text[index] !== separator || quoted[index] === 1)) continue;
    parts.push(text.slice(start, index).trim());
    start = index + 1;
  }
  return parts.filter((part) => part !== '');
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  "'": "'",
  '\\': '\\',
};

function readEscapes(text: string): string {
  return text.replace(/\\(.)/gs, (whole, character: string) => ESCAPES[character] ?? whole);
}

/**
 * The value of a text that may be quoted as a whole; inside double or single quotes `\n`, `\t`, `\r`, `\"`, `\'` and
 * `\\` are read. Text that only begins with a quoted word stays as written. Null when a double quote is never closed.
 */
export function unquote(text: string): string | null {
  const trimmed = text.trim();
  if (!isQuote(trimmed[0])) return trimmed;
  const end = endOfQuote(trimmed, 0);
  if (end === null) return trimmed[0] === '"' ? null : trimmed;
  if (end !== trimmed.length) return trimmed;
  const inner = trimmed.slice(1, -1);
  return trimmed[0] === '`' ? inner : readEscapes(inner);
}

/** The value of a path or command that may be quoted as a whole; backslashes stay, since they may be part of it. */
export function unquoteRaw(text: string): string | null {
  const trimmed = text.trim();
  if (!isQuote(trimmed[0])) return trimmed;
  const end = endOfQuote(trimmed, 0);
  if (end === null) return trimmed[0] === '"' ? null : trimmed;
  return end === trimmed.length ? trimmed.slice(1, -1).replaceAll('\\"', '"') : trimmed;
}
