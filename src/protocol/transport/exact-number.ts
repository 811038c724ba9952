/** What ES2025 adds to `JSON`; the compiler's library does not know it yet. Missing before Node 22. */
type JsonWithSource = {
  parse(
    text: string,
    reviver: (this: object, key: string, value: unknown, context?: Source) => unknown,
  ): unknown;
  rawJSON?(text: string): object;
};
type Source = { readonly source?: string };

/**
 * The number that is the member `key` of a JSON object's text, as a value that is written again digit by digit, even where a double would
 * round it. Undefined where there is none or the platform can't do that.
 */
export function exactNumber(text: string, key: string): object | undefined {
  const json = JSON as unknown as JsonWithSource;
  const sources = new Map<object, Map<string, string>>();
  const root = json.parse(text, function (name, value, context) {
    if (typeof value === 'number' && context?.source !== undefined) {
      const ofHolder = sources.get(this) ?? new Map<string, string>();
      sources.set(this, ofHolder.set(name, context.source));
    }
    return value;
  });
  const source = isHolder(root) ? sources.get(root)?.get(key) : undefined;
  return source === undefined ? undefined : json.rawJSON?.(source);
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
