import type { Journal } from '../../../session/ports.ts';
import type { DelegateOrigin, ProcessId, SessionId } from '../../../session/words.ts';
import { pages } from '../../fold-session.ts';
import { DelegateBook } from '../delegate-book.ts';
import { LoopTurns } from './loop-turns.ts';

/** What the store knows of a loop. */
export type ScannedLoop = {
  /** Null for a root loop. */
  readonly origin: DelegateOrigin | null;
  readonly book: DelegateBook;
  readonly turns: LoopTurns;
  readonly lastEventId: number;
  /** True if a background process began and nobody recorded its end. */
  readonly hasProcesses: boolean;
};

/** Reads a loop's history; null if there is none. */
export async function scanLoop(
  journal: Journal,
  sessionId: SessionId,
): Promise<ScannedLoop | null> {
  const book = new DelegateBook();
  const turns = new LoopTurns();
  let origin: DelegateOrigin | null = null;
  const processes = new Set<ProcessId>();
  let lastEventId = 0;
  for await (const page of pages((after, limit) =>
    journal.readHistory(sessionId, { after, limit }),
  )) {
    for (const { event, at, seq } of page) {
      if (event.type === 'session_created') origin = event.delegate ?? null;
      if (event.type === 'process_started') processes.add(event.processId);
      if (event.type === 'process_ended') processes.delete(event.processId);
      book.apply(event);
      turns.apply(event, at);
      lastEventId = seq;
    }
  }
  const hasProcesses = processes.size > 0;
  return lastEventId === 0 ? null : { origin, book, turns, lastEventId, hasProcesses };
}
