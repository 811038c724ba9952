import { Conversation } from '../session/conversation.ts';
import type { Journal } from '../session/ports.ts';
import type { Folded } from '../session/session.ts';
import { SessionState } from '../session/session-state.ts';
import type { SessionId } from '../session/words.ts';

const PAGE = 1_000;

/** Rebuilds what a session is from its two streams. */
export async function foldSession(journal: Journal, sessionId: SessionId): Promise<Folded> {
  const state = new SessionState();
  const conversation = new Conversation();
  for await (const record of pages((after, limit) =>
    journal.readHistory(sessionId, { after, limit }),
  )) {
    state.applyHistory(record.event);
    conversation.apply(record.event);
  }
  for await (const record of pages((after, limit) =>
    journal.readControl(sessionId, { after, limit }),
  ))
    state.applyControl(record.event);
  return { state, conversation };
}

/** Everything of a stream, oldest first, a page at a time. */
export async function* pages<R extends { readonly seq: number }>(
  read: (after: number, limit: number) => Promise<readonly R[]>,
): AsyncGenerator<R> {
  let after = 0;
  for (;;) {
    const page = await read(after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}
