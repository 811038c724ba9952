import type { Journal } from '../ports.ts';
import { Conversation } from '../state/conversation.ts';
import type { SessionId } from '../words.ts';
import type { Branch } from './branch.ts';

const PAGE = 4_000;

/** The conversation of a branch, read from the journal. */
export async function foldBranch(
  journal: Pick<Journal, 'readHistory'>,
  sessionId: SessionId,
  branch: Branch,
): Promise<Conversation> {
  const conversation = new Conversation();
  for (const { first, last } of branch) {
    let after = first - 1;
    while (after < last) {
      const limit = Math.min(PAGE, last - after);
      const page = await journal.readHistory(sessionId, { after, limit });
      for (const { event, seq } of page) conversation.apply(event, seq);
      const newest = page.at(-1);
      if (newest === undefined) return conversation;
      after = newest.seq;
    }
  }
  return conversation;
}
