import { Compactions } from '../session/control/compactions.ts';
import { Inbox } from '../session/control/inbox.ts';
import { MachineInbox } from '../session/control/machine-inbox.ts';
import { NextTurnQueue } from '../session/control/next-turns.ts';
import { StagedState } from '../session/control/staged.ts';
import type { NextTurns } from '../session/control-events.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';
import { branchOf, isOn } from '../session/history/branch.ts';
import type { Journal } from '../session/ports.ts';
import { Conversation } from '../session/state/conversation.ts';
import type { Folded } from '../session/state/folded.ts';
import { SessionState } from '../session/state/session-state.ts';
import type { EnvironmentPolicy, SessionId } from '../session/words.ts';
import { DelegateBook } from './delegates/delegate-book.ts';
import { INHERITED } from './environment-policy.ts';

const PAGE = 4_000;

/** No state depends on a receipt, so a damaged one keeps nothing from being opened. */
const ignored = (): void => undefined;

/** What a stored session is: for the engine, and for what the host keeps of it. */
export type FoldedSession = Folded & {
  readonly staged: StagedState;
  readonly delegates: DelegateBook;
  readonly environmentPolicy: EnvironmentPolicy;
};

/**
 * Rebuilds what a session is from its two streams; the conversation is that of the current branch. `seen` is told
 * every event of the history.
 */
export async function foldSession(
  journal: Journal,
  sessionId: SessionId,
  seen: (record: Stored<HistoryEvent>) => void = () => undefined,
): Promise<FoldedSession> {
  const moves = await journal.moves(sessionId);
  // Nobody writes to a history that is being folded: its newest event is on the current branch.
  const branch = branchOf(moves, Number.MAX_SAFE_INTEGER);
  const state = new SessionState();
  const conversation = new Conversation();
  const inbox = new Inbox();
  const nextTurns = new NextTurnQueue();
  const machine = new MachineInbox();
  const compactions = new Compactions();
  const staged = new StagedState();
  const delegates = new DelegateBook();
  let environmentPolicy: EnvironmentPolicy = INHERITED;
  for await (const page of pages((after, limit) =>
    journal.readHistory(sessionId, { after, limit }),
  )) {
    for (const record of page) {
      const { seq, cause } = record;
      state.applyHistory(record.event, record.at, { seq, commandIds: cause.command_ids });
      staged.applyHistory(record.seq, record.event);
      delegates.apply(record.event);
      if (isOn(branch, record.seq)) conversation.apply(record.event, record.seq);
      inbox.apply(record.event, record.at);
      machine.applyHistory(record.event, cause.command_ids);
      compactions.applyHistory(record.event, cause.command_ids);
      if (record.event.type === 'session_created')
        environmentPolicy = record.event.environmentPolicy ?? INHERITED;
      seen(record);
    }
  }
  for await (const page of pages((after, limit) =>
    journal.readControl(sessionId, { after, limit, damagedReceipt: ignored }),
  )) {
    for (const record of page) {
      const { event, at } = record;
      state.applyControl(event, at);
      staged.applyControl(event);
      inbox.apply(event, at);
      machine.applyControl(event);
      compactions.applyControl(event);
      if (event.type === 'queue_changed') nextTurns.apply(event.change, event.actor, at);
    }
  }
  return {
    state,
    conversation,
    inbox,
    nextTurns,
    machine,
    compactions,
    staged,
    delegates,
    environmentPolicy,
  };
}

/** The next-turn queue of a session that is not live, as it will be when it is opened: what is held is paused. */
export async function storedNextTurns(journal: Journal, sessionId: SessionId): Promise<NextTurns> {
  const queue = new NextTurnQueue();
  for await (const page of pages((after, limit) =>
    journal.readControl(sessionId, { after, limit, damagedReceipt: ignored }),
  )) {
    for (const { event, at } of page)
      if (event.type === 'queue_changed') queue.apply(event.change, event.actor, at);
  }
  const { paused, items } = queue.view;
  return { paused: items.length > 0 ? (paused ?? 'restart') : paused, items };
}

/** Everything of a stream, oldest first, in pages. */
export async function* pages<R extends { readonly seq: number }>(
  read: (after: number, limit: number) => Promise<readonly R[]>,
): AsyncGenerator<readonly R[]> {
  let after = 0;
  for (;;) {
    const page = await read(after, PAGE);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}
