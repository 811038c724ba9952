import type { ControlEvent } from '../../../../src/core/session/control-events.ts';
import type { HistoryEvent, Stored } from '../../../../src/core/session/events.ts';

/** Both streams of one loop as a data folder holds them. */
export type LoopJournal = {
  /** The session's id, or that of a delegate. */
  readonly loopId: string;
  readonly history: readonly Stored<HistoryEvent>[];
  readonly control: readonly Stored<ControlEvent>[];
  /** Where a chain is broken, as it was found. */
  readonly broken: readonly string[];
};

/** An enduring event as a client was told of it. */
export type Told = {
  readonly sessionId: string;
  readonly eventId: number;
  /** Of the record or of the history up to it, where it was told. */
  readonly hash?: string;
  /** The tool call that it is about, where there is one. */
  readonly toolCallId?: string;
};

/** A command that a client sent. */
export type Sent = {
  readonly sessionId: string;
  readonly commandId: string;
  readonly kind: 'prompt' | 'inject';
  /** `none`: the process died before it answered. */
  answer: 'ok' | 'refused' | 'none';
};

/** All that the rules look at. */
export type Evidence = {
  /**
   * `dead`: as a kill left it. `restored`: every session was opened again. `settled`: and nothing runs any more, what
   * is held and what asks is all that waits.
   */
  readonly stage: 'dead' | 'restored' | 'settled';
  readonly loops: readonly LoopJournal[];
  readonly told: readonly Told[];
  readonly sent: readonly Sent[];
  /** Lines that the scripts' tools appended to a file, one each time that they ran. */
  readonly markers: readonly string[];
  /** Those that were there before the journal was read, where it was read of a process that lives. */
  readonly earlierMarkers?: readonly string[];
  /** Processes that scripts started and that are still there. */
  readonly alive: readonly string[];
};

/** What does not hold. */
export type Complaint = { readonly rule: string; readonly loopId: string; readonly text: string };

/** One thing that has to hold; gives a text for each place where it does not. */
export type LoopRule = (loop: LoopJournal, all: Evidence) => readonly string[];

/** Those of a type, with their record. */
export function historyOf<T extends HistoryEvent['type']>(
  loop: LoopJournal,
  type: T,
): readonly Extract<HistoryEvent, { type: T }>[] {
  return loop.history.flatMap(({ event }) =>
    event.type === type ? [event as Extract<HistoryEvent, { type: T }>] : [],
  );
}

/** Those of a type. */
export function controlOf<T extends ControlEvent['type']>(
  loop: LoopJournal,
  type: T,
): readonly Extract<ControlEvent, { type: T }>[] {
  return loop.control.flatMap(({ event }) =>
    event.type === type ? [event as Extract<ControlEvent, { type: T }>] : [],
  );
}

/** The keys that occur more than once. */
export function repeated(keys: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const key of keys) {
    if (seen.has(key)) twice.add(key);
    seen.add(key);
  }
  return [...twice];
}

/** Turns that began and did not end. */
export function openTurns(loop: LoopJournal): ReadonlySet<string> {
  const open = new Set<string>();
  for (const { event } of loop.history) {
    if (event.type === 'turn_started') open.add(event.turnId);
    else if (event.type === 'turn_ended') open.delete(event.turnId);
  }
  return open;
}

/** The turn that goes on at its question since the last restart. */
export function parkedTurn(loop: LoopJournal): string | null {
  return controlOf(loop, 'session_restored').at(-1)?.parkedTurnId ?? null;
}
