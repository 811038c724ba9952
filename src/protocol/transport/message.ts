import { isObject } from '../../base/json.ts';
import { exactNumber } from './exact-number.ts';

/** An id as it may stand on the wire; an object is a whole number too large for a double. Source: ACP v1, RequestId. */
export type WireId = string | number | null | object;

/** A frame's text, sorted by what it is. `reason` of an unusable one is for logs and error messages. */
export type ParsedFrame =
  | {
      readonly kind: 'request';
      readonly id: WireId;
      readonly method: string;
      readonly params: unknown;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'result'; readonly id: WireId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: WireId; readonly error: WireError }
  | { readonly kind: 'unparsable'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly id: WireId; readonly reason: string };

/** An error object as received; wrongly typed parts are replaced. */
export type WireError = {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
};

/** Deeper nesting is refused: writing such a value again would overflow the stack. */
export const MAX_DEPTH = 512;

/** Sorts one line. Never throws. */
export function parseFrame(text: string): ParsedFrame {
  let value: unknown;
  try {
    value = JSON.parse(withoutEscapes(text));
  } catch (error) {
    return { kind: 'unparsable', reason: error instanceof Error ? error.message : String(error) };
  }
  if (text.length >= 2 * MAX_DEPTH && depthExceeds(value, MAX_DEPTH))
    return invalid(`Invalid request: nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return invalid('Invalid request: batches are not part of ACP');
  if (!isObject(value)) return invalid('Invalid request: a message must be an object');
  return withExactId(sorted(value), text);
}

/** Terminals leave control sequences in front of what a program prints next. */
function withoutEscapes(text: string): string {
  if (text.charCodeAt(0) !== 0x1b) return text;
  let at = 0;
  while (text.charCodeAt(at) === 0x1b && text[at + 1] === '[') {
    let end = at + 2;
    while (end < text.length && !isFinalByte(text.charCodeAt(end))) end += 1;
    at = end + 1;
  }
  return text.slice(at);
}

function isFinalByte(code: number): boolean {
  return code >= 0x40 && code <= 0x7e;
}

function sorted(value: Record<string, unknown>): ParsedFrame {
  const { id, method } = value;
  if (typeof method === 'string') return call(value, method);
  if (method !== undefined) return invalid('Invalid request: method must be a string');
  const hasId = Object.hasOwn(value, 'id') && isWireId(id);
  const hasResult = Object.hasOwn(value, 'result');
  const hasError = isObject(value['error']);
  if (!hasId || hasResult === hasError)
    return invalid('Invalid request: neither a method nor a result nor an error');
  return hasResult
    ? { kind: 'result', id, result: value['result'] }
    : { kind: 'error', id, error: wireError(value['error']) };
}

/** JSON-RPC ids are compared by the peer as it wrote them, and ACP's may have 64 bits. */
function withExactId(parsed: ParsedFrame, text: string): ParsedFrame {
  if (parsed.kind !== 'request' || typeof parsed.id !== 'number') return parsed;
  if (!Number.isInteger(parsed.id) || Number.isSafeInteger(parsed.id)) return parsed;
  return { ...parsed, id: exactNumber(text, 'id') ?? parsed.id };
}

function call(value: Record<string, unknown>, method: string): ParsedFrame {
  const { id, params } = value;
  if (value['jsonrpc'] !== '2.0')
    return invalid('Invalid request: jsonrpc must be "2.0"', isWireId(id) ? id : null);
  if (!Object.hasOwn(value, 'id')) return { kind: 'notification', method, params };
  if (!isWireId(id)) return invalid('Invalid request: id must be a string, a number or null');
  return { kind: 'request', id, method, params };
}

function invalid(reason: string, id: WireId = null): ParsedFrame {
  return { kind: 'invalid', id, reason };
}

function isWireId(id: unknown): id is string | number | null {
  return typeof id === 'string' || typeof id === 'number' || id === null;
}

function wireError(error: unknown): WireError {
  const { code, message, data } = isObject(error) ? error : {};
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code : -32603,
    message: typeof message === 'string' && message !== '' ? message : 'The peer gave no message',
    ...(data === undefined ? {} : { data }),
  };
}

/** Walks without recursion, so that depth itself is harmless here. */
function depthExceeds(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((item): unknown[] =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
  }
  return false;
}
