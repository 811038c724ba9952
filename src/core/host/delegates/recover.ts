import type { Journal } from '../../session/ports.ts';
import { NO_USAGE } from '../../session/turn/budget.ts';
import type { SessionId } from '../../session/words.ts';
import type { DelegateBook, KnownDelegate } from './delegate-book.ts';
import type { LoopNode } from './loops/loop-node.ts';
import { outcomeOf, resultText } from './loops/loop-turns.ts';
import { type ScannedLoop, scanLoop } from './loops/scan-loop.ts';
import type { RequestDesk } from './request-desk.ts';
import type { StartDesk } from './start-desk.ts';

/** What requests are recovered with. */
export type RecoverParts = {
  readonly journal: Journal;
  readonly rootId: SessionId;
  readonly desk: RequestDesk;
  readonly starts: StartDesk;
  /** Brings a loop to life, which closes what a crash left open in it. */
  readonly wake: (node: LoopNode) => Promise<void>;
  readonly warn: (what: string, failure: unknown) => void;
};

/**
 * Hands back every request that a crash kept from it, those of the deepest loops first: with the result of its turn
 * where that ended, else as interrupted, with the text so far. Nobody waits for a call any more, so each is read as a
 * background one. A restored session has as many delegates as it ever started; a fork has none of its parent's.
 */
export async function recoverRequests(
  parts: RecoverParts,
  node: LoopNode,
  book: DelegateBook,
): Promise<void> {
  for (const known of book.list()) {
    const child = node.children.get(known.loopId);
    if (child !== undefined) await recoverChild(parts, child, known);
  }
}

async function recoverChild(
  parts: RecoverParts,
  child: LoopNode,
  known: KnownDelegate,
): Promise<void> {
  const { journal, rootId, starts } = parts;
  const scan = await scanLoop(journal, child.sessionId);
  const own = scan?.origin?.rootId === rootId ? scan : null;
  if (own === null) child.isGone = true;
  else {
    starts.count();
    starts.know(child, own.book);
    child.turns = own.turns;
    child.lastEventId = own.lastEventId;
    if (wasWorking(own) || known.open.length > 0) await wakeIfPossible(parts, child);
    await recoverRequests(parts, child, own.book);
  }
  for (const request of known.open) await handBack(parts, child, request.requestId, own);
}

/** True if something in the loop has to be closed or handed back to it. */
function wasWorking({ turns, book, hasProcesses }: ScannedLoop): boolean {
  const { newest } = turns;
  const isOpen = newest !== null && newest.terminal === null;
  return isOpen || hasProcesses || book.list().some(({ open }) => open.length > 0);
}

async function wakeIfPossible({ wake, warn }: RecoverParts, child: LoopNode): Promise<void> {
  try {
    await wake(child);
  } catch (failure) {
    child.isGone = true;
    warn('A delegate could not be brought back', failure);
  }
}

async function handBack(
  { desk }: RecoverParts,
  child: LoopNode,
  requestId: KnownDelegate['newest']['requestId'],
  scan: ScannedLoop | null,
): Promise<void> {
  const turn = scan?.turns.of(requestId);
  await desk.handBack(
    child,
    { requestId, background: true },
    {
      outcome: outcomeOf(turn?.terminal ?? null),
      text: resultText(turn),
      usage: turn?.usage ?? NO_USAGE,
    },
  );
}
