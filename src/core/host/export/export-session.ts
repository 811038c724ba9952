import type { OpenJournal } from '../../journal/open-journal.ts';
import type { Journal } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import { exportJson } from './export-json.ts';
import { exportMarkdown } from './export-markdown.ts';

/** The store as an export reads it. */
export type ExportJournal = Journal & Pick<OpenJournal, 'readRaw'>;

/** Takes the next piece of text; the next one comes when it has. */
export type Sink = (text: string) => Promise<void>;

export type ExportFormat = 'json' | 'markdown';

/** What was exported: the newest event, and the hash of the history up to it. */
export type ExportedAs = { readonly events: number; readonly prefixHash: string };

/**
 * Writes a session out, live or not. JSON holds every record with its hash and can be imported, and is written piece
 * by piece however long the session is; Markdown is the transcript for people. Throws `host.unknown_session`.
 */
export async function exportSession(
  journal: ExportJournal,
  sessionId: SessionId,
  format: ExportFormat,
  sink: Sink,
): Promise<ExportedAs> {
  return format === 'json'
    ? await exportJson(journal, sessionId, sink)
    : await exportMarkdown(journal, sessionId, sink);
}
