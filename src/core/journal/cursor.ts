import { JournalError } from './errors.ts';
import type { ListPosition } from './worker-protocol.ts';

/** Cursors are opaque: base64url of a version and the last row that was shown. */
const CURSOR_VERSION = 1;

export function encodeCursor({ lastMessageAt, sessionId }: ListPosition): string {
  const text = JSON.stringify([CURSOR_VERSION, lastMessageAt, sessionId]);
  return Buffer.from(text, 'utf8').toString('base64url');
}

/** Throws `journal.bad_cursor`. */
export function decodeCursor(cursor: string): ListPosition {
  const value = parse(cursor);
  if (Array.isArray(value) && value.length === 3) {
    const parts: unknown[] = value;
    const [version, lastMessageAt, sessionId] = parts;
    if (
      version === CURSOR_VERSION &&
      Number.isSafeInteger(lastMessageAt) &&
      typeof sessionId === 'string'
    ) {
      return { lastMessageAt: Number(lastMessageAt), sessionId };
    }
  }
  throw new JournalError(
    'journal.bad_cursor',
    'The list cursor is not one that this store gave out. Ask for the first page again.',
    { data: { cursor: cursor.slice(0, 100) } },
  );
}

function parse(cursor: string): unknown {
  if (!/^[A-Za-z0-9_-]+$/.test(cursor)) return null;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
