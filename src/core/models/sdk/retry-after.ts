/**
 * How long a provider asked to wait, in milliseconds: `retry-after-ms`, else `retry-after` as seconds or as an HTTP
 * date (RFC 9110 §10.2.3) seen from `now`. Header names are lower-case. Undefined when it did not say.
 */
export function retryAfterOf(
  headers: Readonly<Record<string, string | undefined>> | undefined,
  now: number,
): number | undefined {
  const millis = decimal(headers?.['retry-after-ms']);
  if (millis !== undefined) return Math.ceil(millis);
  const text = headers?.['retry-after']?.trim();
  const seconds = decimal(text);
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  const at = text === undefined || !/[a-z]/i.test(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function decimal(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  return /^\d{1,12}(?:\.\d{1,6})?$/.test(trimmed) ? Number(trimmed) : undefined;
}
