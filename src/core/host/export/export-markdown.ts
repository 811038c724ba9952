import type { SessionRow } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import { Projection } from '../../transcript/projection/projection.ts';
import { delegateLoop, unknownSession } from '../errors.ts';
import type { ExportedAs, ExportJournal, Sink } from './export-session.ts';

const PAGE = 1_000;

/** Writes the transcripts of a session and of its delegates, each under a line that says what proves it. */
export async function exportMarkdown(
  journal: ExportJournal,
  sessionId: SessionId,
  sink: Sink,
): Promise<ExportedAs> {
  const root = await journal.session(sessionId);
  if (root === null) throw unknownSession(sessionId);
  if (root.rootId !== undefined) throw delegateLoop(sessionId, root.rootId);
  await exportLoop(journal, root, sink);
  for (const row of await journal.delegates(sessionId)) {
    await sink(`\n---\n\n# Delegate ${row.sessionId}\n\n`);
    await exportLoop(journal, row, sink);
  }
  return { events: root.lastEventId, prefixHash: root.prefixHash };
}

async function exportLoop(journal: ExportJournal, row: SessionRow, sink: Sink): Promise<void> {
  const { sessionId, lastEventId, prefixHash } = row;
  await sink(`> ${lastEventId} events · prefix hash \`${prefixHash}\`\n\n`);
  const projection = new Projection(sessionId);
  for (let after = 0; after < lastEventId; ) {
    const limit = Math.min(PAGE, lastEventId - after);
    const records = await journal.readHistory(sessionId, { after, limit });
    for (const record of records) projection.apply(record);
    if (records.length < limit) throw unknownSession(sessionId);
    after += records.length;
  }
  await sink(`${projection.transcript().text}\n`);
}
