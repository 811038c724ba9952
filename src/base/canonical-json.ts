import { CodedError } from './errors.ts';

/** Raised for a value that JSON can't hold; `path` says where it is, from `$`. */
export class NotJsonError extends CodedError<'json.not_json'> {
  readonly path: string;

  constructor(path: string, what: string) {
    super('json.not_json', `${path} holds ${what}, which JSON can't hold.`);
    this.path = path;
  }
}

/** How deep a value may be nested. */
export const MAX_DEPTH = 500;

/**
 * The canonical JSON text of a value. Rules: object keys sorted by UTF-16 code units; no white space; strings and
 * numbers as `JSON.stringify` writes them (so a lone surrogate is `\udXXX` and the text is always valid UTF-8, and
 * -0 is `0`); a property whose value is `undefined` is left out. It agrees with RFC 8785 on everything that RFC
 * allows. Throws `NotJsonError` for what JSON can't hold: non-finite numbers, `undefined` in an array,
 * functions, symbols, bigints, class instances, and nesting deeper than 500.
 */
export function canonicalJson(value: unknown): string {
  return write(value, '$', 0);
}

function write(value: unknown, path: string, depth: number): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw notJson(path, `the number ${value}`);
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= MAX_DEPTH) throw notJson(path, `nesting deeper than ${MAX_DEPTH}`);
      return Array.isArray(value)
        ? writeArray(value, path, depth)
        : writeObject(value, path, depth);
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      throw notJson(path, `a value of type ${typeof value}`);
  }
}

function writeArray(values: readonly unknown[], path: string, depth: number): string {
  let text = '[';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ',';
    text += write(values[index], `${path}[${index}]`, depth + 1);
  }
  return `${text}]`;
}

function writeObject(value: object, path: string, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw notJson(path, 'an instance of a class');
  }
  let text = '{';
  const entries: [string, unknown][] = Object.entries(value);
  // Keys are unique, so equality never happens.
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, item] of entries) {
    if (item === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(key)}:${write(item, `${path}.${key}`, depth + 1)}`;
  }
  return `${text}}`;
}

function notJson(path: string, what: string): NotJsonError {
  return new NotJsonError(path, what);
}
