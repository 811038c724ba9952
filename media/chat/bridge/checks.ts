/** A test that narrows. */
export type Check<T> = (value: unknown) => value is T;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** One of these words. */
export function oneOf<const T extends string>(...words: readonly T[]): Check<T> {
  const known: ReadonlySet<unknown> = new Set(words);
  return (value): value is T => known.has(value);
}

/** A list of such values. */
export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

/** For an optional field of a `shape`: such a value, or the field is not there. */
export function optional<T>(check: Check<T>): Check<T> {
  return (value): value is T => value === undefined || check(value);
}

/** Such a value, or null. */
export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

type Fields<T> = { readonly [K in keyof T]-?: Check<T[K]> };

/** An object whose fields pass; others are let be. */
export function shape<T extends object>(fields: Fields<T>): Check<T> {
  const checks = Object.entries<Check<unknown>>(fields);
  return (value): value is T =>
    isRecord(value) && checks.every(([name, check]) => check(value[name]));
}

/** Passes if any does. */
export function anyOf<T>(...checks: readonly Check<T>[]): Check<T> {
  return (value): value is T => checks.some((check) => check(value));
}
