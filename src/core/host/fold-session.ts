import { Inbox } from '../session/control/inbox.ts';
import type { HistoryEvent, Stored } from '../session/events.ts';
import type { Journal } from '../session/ports.ts';
import type { Folded } from '../session/session.ts';
import { Conversation } from '../session/state/conversation.ts';
import { SessionState } from '../session/state/session-state.ts';
import type { SessionId } from '../session/words.ts';

const PAGE = 4_000;

/** Rebuilds what a session is from its two streams; `seen` is told every event of the history. */
export async function foldSession(
  journal: Journal,
  sessionId: SessionId,
  seen: (record: Stored<HistoryEvent>) => void = () => undefined,
): Promise<Folded> {
  const state = new SessionState();
  const conversation = new Conversation();
  const inbox = new Inbox();
  for await (const page of pages((after, limit) =>
    journal.readHistory(sessionId, { after, limit }),
  )) {
    for (const record of page) {
      state.applyHistory(record.event);
      conversation.apply(record.event);
      inbox.apply(record.event, record.at);
      seen(record);
    }
  }
  for await (const page of pages((after, limit) =>
    journal.readControl(sessionId, { after, limit }),
  )) {
    for (const record of page) {
      state.applyControl(record.event);
      inbox.apply(record.event, record.at);
    }
  }
  return { state, conversation, inbox };
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
