import type { SessionRow } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import { delegateLoop, unknownSession } from '../errors.ts';
import type { ExportedAs, ExportJournal, Sink } from './export-session.ts';
import {
  CONTROL_LINE,
  END_LINE,
  type ExportedHeads,
  headLine,
  headsLine,
  loopLine,
  recordLine,
} from './format.ts';

const PAGE = 256;

/** Where a loop's streams stood when the export began. */
type Cut = { readonly row: SessionRow; readonly controlRecords: number };

/**
 * Writes a session and its delegates with every record and its hash. What is appended meanwhile is left out: the
 * control records end no later than the history, so that no copy holds a command to be done that was done already.
 */
export async function exportJson(
  journal: ExportJournal,
  sessionId: SessionId,
  sink: Sink,
): Promise<ExportedAs> {
  const cuts = await cutsOf(journal, sessionId);
  const [root] = cuts;
  if (root === undefined) throw unknownSession(sessionId);
  if (root.row.rootId !== undefined) throw delegateLoop(sessionId, root.row.rootId);
  await sink(`${headLine(root.row)}\n`);
  for (const [index, cut] of cuts.entries())
    await exportLoop(journal, cut, index === cuts.length - 1, sink);
  await sink(`${END_LINE}\n`);
  return { events: root.row.lastEventId, prefixHash: root.row.prefixHash };
}

async function cutsOf(journal: ExportJournal, sessionId: SessionId): Promise<readonly Cut[]> {
  const ids = [sessionId, ...(await journal.delegates(sessionId)).map((row) => row.sessionId)];
  const cuts: Cut[] = [];
  for (const id of ids) {
    const [newest] = await journal.readControl(id, { limit: 1, newestFirst: true });
    const row = await journal.session(id);
    if (row !== null) cuts.push({ row, controlRecords: newest?.seq ?? 0 });
  }
  return cuts;
}

async function exportLoop(
  journal: ExportJournal,
  { row, controlRecords }: Cut,
  isLast: boolean,
  sink: Sink,
): Promise<void> {
  const { sessionId, lastEventId, prefixHash } = row;
  await sink(`${loopLine(sessionId)}\n`);
  await exportStream(journal, sessionId, 'history', lastEventId, sink);
  await sink(`${CONTROL_LINE}\n`);
  const controlHash = await exportStream(journal, sessionId, 'control', controlRecords, sink);
  const heads: ExportedHeads = {
    historyRecords: lastEventId,
    historyHash: prefixHash,
    controlRecords,
    controlHash,
  };
  await sink(`${headsLine(heads)}${isLast ? '' : ','}\n`);
}

/** The hash of the last record; null without one. */
async function exportStream(
  journal: ExportJournal,
  sessionId: SessionId,
  stream: 'history' | 'control',
  last: number,
  sink: Sink,
): Promise<string | null> {
  let hash: string | null = null;
  for (let after = 0; after < last; ) {
    const limit = Math.min(PAGE, last - after);
    const records = await journal.readRaw(sessionId, stream, { after, limit });
    // Deleted while it was read.
    if (records.length < limit) throw unknownSession(sessionId);
    let text = '';
    for (const record of records)
      text += `${recordLine(record)}${record.seq === last ? '' : ','}\n`;
    await sink(text);
    hash = records.at(-1)?.hash ?? null;
    after += records.length;
  }
  return hash;
}
