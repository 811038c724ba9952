import type { HistoryEvent } from '../events.ts';
import type { MessageId, Usage } from '../words.ts';
import { abortReason } from './aborts.ts';
import { addUsage, NO_USAGE } from './budget.ts';
import { type Condensing, condense, excerpt, keptOf } from './condense.ts';
import { type ReplyResult, requestReply } from './reply.ts';
import type { TurnContext } from './turn-context.ts';

/** A context that is fuller than this is compacted before the next request. */
const FULL = 0.8;

/** A reply, and what was spent on summaries before it. */
export type ReplyInContext = { readonly reply: ReplyResult; readonly summaryUsage: Usage };

/**
 * Asks for the next reply and keeps the conversation within the model's context: it is compacted when a person asked
 * for it, when it was nearly full after the last reply, and once more when the provider says that the request was too
 * long.
 */
export async function replyInContext(
  turn: TurnContext,
  iteration: number,
): Promise<ReplyInContext> {
  const asked = await turn.compactions.atBoundary(turn, iteration);
  const { used, size } = turn.conversation.brief.context;
  const isFull = size > 0 && used > size * FULL && droppedReply(turn) === null;
  const before = addUsage(asked, (isFull ? await compact(turn, iteration) : null) ?? NO_USAGE);
  const dropped = droppedReply(turn);
  if (dropped !== null) return { reply: dropped, summaryUsage: before };
  const reply = await requestReply(turn, iteration);
  const first = { reply, summaryUsage: before };
  if (reply.kind !== 'failed' || reply.error.code !== 'model.context_exceeded') return first;
  const again = await compact(turn, iteration);
  if (again === null) return first;
  const summaryUsage = addUsage(first.summaryUsage, again);
  return { reply: droppedReply(turn) ?? (await requestReply(turn, iteration)), summaryUsage };
}

/** What stands for a reply that nobody asks for any more, or null. */
function droppedReply(turn: TurnContext): ReplyResult | null {
  if (turn.signal.aborted) return { kind: 'aborted' };
  return turn.attention().aborted ? { kind: 'interrupted' } : null;
}

/** Replaces all but the newest messages by a summary. Null when that would gain nothing; else what it cost. */
async function compact(turn: TurnContext, iteration: number): Promise<Usage | null> {
  const { conversation, turnId, recorder } = turn;
  if (keptOf(conversation, turnId) === null) return null;
  await turn.passSeam('pre_compact', iteration);
  const kept = keptOf(conversation, turnId);
  if (kept === null) return null;
  const messageId = turn.deps.ids.unique() as MessageId;
  const what: Condensing = { conversation, turnId, trigger: 'automatic', messageId };
  recorder.emit({ type: 'compaction_started', turnId, messageId, trigger: 'automatic' });
  const condensed = await condense(turn, what, kept);
  const usage = condensed.kind === 'dropped' ? NO_USAGE : condensed.usage;
  if (turn.signal.aborted) {
    await recorder.history(stoppedEvent(turn));
    return usage;
  }
  // The turn can't go on with a full context: where there is no summary an excerpt has to do.
  await recorder.history(condensed.kind === 'condensed' ? condensed.event : excerpt(what, kept));
  await turn.passSeam('post_compact', iteration);
  return usage;
}

/** Whoever saw that it began sees its end. */
function stoppedEvent({ turnId, signal }: TurnContext): HistoryEvent {
  const isClosing = abortReason(signal).kind === 'closed';
  return {
    type: 'compaction_rejected',
    turnId,
    reason: isClosing ? 'shutting_down' : 'cancelled',
    message: 'The turn ended before the summary was written; the conversation is as it was.',
  };
}
