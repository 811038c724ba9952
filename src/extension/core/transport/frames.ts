import { isObject } from '../../../base/json.ts';

/** A JSON-RPC 2.0 message as an object; deeper checks are the connection's. */
export type Frame = { readonly jsonrpc: '2.0' } & { readonly [key: string]: unknown };

/** What one line of the stream turned out to be. */
export type ParsedLine =
  | { readonly kind: 'frame'; readonly frame: Frame }
  | { readonly kind: 'junk'; readonly text: string };

/**
 * Reads one line of an agent's stdout. Anything that is not a JSON-RPC message (a log line, a JSON log object that
 * carries an `id`, a bare value) is junk and never reaches the connection, where it could be taken for an answer.
 * A message that something else was printed in front of is still found.
 */
export function parseLine(line: string): ParsedLine {
  const text = line.startsWith('\uFEFF') ? line.slice(1) : line;
  const frame = asFrame(text) ?? asFrame(afterPrefix(text));
  return frame ? { kind: 'frame', frame } : { kind: 'junk', text };
}

function afterPrefix(text: string): string {
  const start = text.indexOf('{"jsonrpc"');
  return start > 0 ? text.slice(start) : '';
}

function asFrame(text: string): Frame | null {
  if (!text.startsWith('{')) return null;
  const value = parseJson(text);
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return null;
  const isCall = typeof value['method'] === 'string';
  const isAnswer = value['id'] !== undefined && ('result' in value || isObject(value['error']));
  return isCall || isAnswer ? withNumericId({ ...value, jsonrpc: '2.0' }, isCall) : null;
}

/** Our own ids are numbers; an agent that echoes one as a string still means the same request. */
function withNumericId(frame: Frame, isCall: boolean): Frame {
  const id = frame['id'];
  return !isCall && typeof id === 'string' && /^\d{1,15}$/.test(id)
    ? { ...frame, id: Number(id) }
    : frame;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
