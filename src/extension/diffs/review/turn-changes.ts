import { isObject } from '../../../base/json.ts';
import type { HistoryPage, HistoryPageParams } from '../../../protocol/pilothouse.ts';
import type { FileTexts } from './review-file.ts';

/** Which part of a session: one tool call, or the events from the first to the last, both included. */
export type Span =
  | { readonly kind: 'call'; readonly toolCallId: string }
  | { readonly kind: 'events'; readonly from: number; readonly to: number };

/** Reads a page of a session's history. */
export type ReadPage = (params: Omit<HistoryPageParams, 'sessionId'>) => Promise<HistoryPage>;

const PAGE = 500;
/** A call is looked for in this many events, from the newest back. */
const MAX_PAGES = 200;

/** The files that a part of a session changed, as the diffs of its completed calls say. */
export async function changesIn(span: Span, read: ReadPage): Promise<Map<string, FileTexts>> {
  const files = new Map<string, FileTexts>();
  if (span.kind === 'call') {
    await collectCall(span.toolCallId, read, files);
    return files;
  }
  for (let after = span.from - 1; after < span.to; ) {
    const page = await read({ after, limit: PAGE });
    for (const entry of page.entries)
      if (entry.eventId <= span.to)
        for (const update of entry.updates) collect(update, null, files);
    const last = page.entries.at(-1)?.eventId;
    if (last === undefined || !page.hasAfter) break;
    after = last;
  }
  return files;
}

async function collectCall(
  toolCallId: string,
  read: ReadPage,
  files: Map<string, FileTexts>,
): Promise<void> {
  let before: number | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await read({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const entry of page.entries)
      for (const update of entry.updates) collect(update, toolCallId, files);
    before = page.entries[0]?.eventId;
    if (files.size > 0 || !page.hasBefore || before === undefined) return;
  }
}

/** Takes the diffs of an update in; the first text of a file stays its `before`. */
function collect(update: unknown, toolCallId: string | null, files: Map<string, FileTexts>): void {
  if (!isObject(update) || update['status'] !== 'completed') return;
  if (toolCallId !== null && update['toolCallId'] !== toolCallId) return;
  const content = Array.isArray(update['content']) ? update['content'] : [];
  for (const part of content) {
    if (!isObject(part) || part['type'] !== 'diff') continue;
    const { path, oldText, newText } = part;
    if (typeof path !== 'string' || typeof newText !== 'string') continue;
    const before = typeof oldText === 'string' ? oldText : null;
    files.set(path, { before: files.get(path)?.before ?? before, after: newText });
  }
}
