/** What is shown instead of a secret. */
export const REDACTED = '[redacted]';

const SECRET_KEY =
  /(pass(word|phrase|wd)|token|api[_-]?key|private[_-]?key|cookies?|credentials?)$|secret|authorization/i;

/** Texts that are secrets wherever they stand: bearer tokens, keys of well-known makers, user info in URLs. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/\b(sk|pk|rk|ghp|gho|ghs|xox[abp]|github_pat|glpat)[-_][\w-]{12,}/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/(\/\/[^/\s:@]+:)[^/\s@]+@/g, `$1${REDACTED}@`],
];

const MAX_DEPTH = 8;
const MAX_TEXT = 8_192;
const MAX_ITEMS = 200;

/** One line of JSON for `head` and `details`, without secrets. Never throws. */
export function describe(head: object, details?: object): string {
  try {
    const extra = details === undefined ? {} : readable(details, new Set(), 0);
    return JSON.stringify({
      ...asRecord(readable(head, new Set(), 0)),
      ...asRecord(extra, 'details'),
    });
  } catch (error) {
    // A getter or proxy that throws: the message itself must still be told.
    return JSON.stringify({ ...head, details: `not readable: ${String(error)}` });
  }
}

function asRecord(value: unknown, name = 'value'): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value
    : { [name]: value };
}

function readable(value: unknown, above: Set<object>, depth: number): unknown {
  if (typeof value === 'string') return readableText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (above.has(value)) return '[circular]';
  if (depth >= MAX_DEPTH) return '[deep]';
  above.add(value);
  const shown = readableInstance(value, above, depth);
  above.delete(value);
  return shown;
}

function readableInstance(value: object, above: Set<object>, depth: number): unknown {
  if (value instanceof Error) return readableError(value, above, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Set) {
    return readable([...value.values()], above, depth + 1);
  }
  if (!Array.isArray(value)) return readableObject(value, above, depth);
  const items = value.slice(0, MAX_ITEMS).map((item) => readable(item, above, depth + 1));
  return value.length > MAX_ITEMS ? [...items, `… ${value.length - MAX_ITEMS} more`] : items;
}

function readableObject(value: object, above: Set<object>, depth: number): object {
  const entries: [string, unknown][] = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    entries.map(([key, item]) => [
      key,
      isSecret(key, item) ? REDACTED : readable(item, above, depth + 1),
    ]),
  );
}

function readableError(error: Error, above: Set<object>, depth: number): object {
  return {
    ...readableObject(error, above, depth),
    name: error.name,
    message: readableText(error.message),
    stack: readableText(error.stack ?? ''),
    ...(error.cause === undefined ? {} : { cause: readable(error.cause, above, depth + 1) }),
  };
}

/** Counts such as `inputTokens` are no secrets, nor is the absence of one. */
function isSecret(key: string, value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return false;
  return value !== null && value !== undefined && value !== '' && SECRET_KEY.test(key);
}

function readableText(text: string): string {
  const cut =
    text.length > MAX_TEXT
      ? `${text.slice(0, MAX_TEXT)}… ${text.length - MAX_TEXT} more characters`
      : text;
  return withoutSecrets(cut);
}

/** The text with what looks like a secret wherever it stands replaced. */
export function withoutSecrets(text: string): string {
  return SECRET_TEXTS.reduce((clean, [pattern, shown]) => clean.replace(pattern, shown), text);
}
