import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { Transcript } from './assemble.ts';
import { Projection } from './projection.ts';

/** The transcript of a whole history. Pure: the same records always give the same document. */
export function renderTranscript(
  sessionId: string,
  records: readonly Stored<HistoryEvent>[],
): Transcript {
  const projection = new Projection(sessionId);
  for (const record of records) projection.apply(record);
  return projection.transcript();
}
