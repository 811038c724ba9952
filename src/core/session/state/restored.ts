import type { NewRecord } from '../ports.ts';
import type { SessionId } from '../words.ts';
import type { Conversation } from './conversation.ts';
import type { Folded } from './folded.ts';
import { type FoundWaiting, foundWaiting } from './held.ts';
import { type ParkedTurn, parkedTurn } from './parked.ts';
import { interruptedEvents } from './restore.ts';

/** What a restart found, and what is to be recorded of it. */
export type Restored = {
  /** The turn that stood at a question; it stays open. */
  readonly parked: ParkedTurn | null;
  readonly ends: readonly NewRecord[];
  readonly waiting: FoundWaiting;
  /** The record that says so; it goes last, and only where there is anything to say. */
  readonly note: NewRecord;
};

/** Looks at what the process before this one left open. */
export function restoredFrom(
  sessionId: SessionId,
  { state, inbox }: Folded,
  conversation: Conversation,
  newId: () => string,
): Restored {
  const parked = parkedTurn(state, conversation);
  const ends = interruptedEvents(state, conversation, { isParked: parked !== null });
  const keepsPending = parked !== null;
  const waiting = foundWaiting(sessionId, state, inbox, { keepsPending, newId });
  const interruptedTurnId = parked === null ? state.openTurn : null;
  const kept = parked === null ? {} : { parkedTurnId: parked.turnId };
  return {
    parked,
    ends,
    waiting,
    note: { stream: 'control', event: { type: 'session_restored', interruptedTurnId, ...kept } },
  };
}
