import type { ModelMessage } from '../model.ts';
import { cut, estimateTokens, messageText } from '../side/message-text.ts';
import { askAside } from '../side/side-request.ts';
import { SUMMARY_SYSTEM } from '../side/summary-prompt.ts';
import { standingMessages } from '../state/compacted.ts';
import type { MessageId, Usage } from '../words.ts';
import { addUsage, NO_USAGE } from './budget.ts';
import { type ReplyResult, requestReply } from './reply.ts';
import type { TurnContext } from './turn-context.ts';

/** A context that is fuller than this is compacted before the next request. */
const FULL = 0.8;
/** How much of the context the messages may take that are kept as they are. */
const KEPT = 0.25;
/** How much of the context a request for a summary may take. */
const SUMMARISED = 0.6;
const UNKNOWN_CONTEXT = 32_000;
/** Fewer characters than a token has, so that the request for a summary fits for sure. */
const CHARACTERS_PER_TOKEN = 3;
const SUMMARY_MS = 120_000;
const MAX_SUMMARY = 24_000;
const MAX_PIECE = 2_000;
/** Sizes of the plain extract that stands in for a summary. */
const EXTRACT = 8_000;
const EXTRACT_PIECE = 300;

/** A reply, and what was spent on summaries before it. */
export type ReplyInContext = { readonly reply: ReplyResult; readonly summaryUsage: Usage };

/**
 * Asks for the next reply and keeps the conversation within the model's context: it is compacted when it was nearly
 * full after the last reply, and once more when the provider says that the request was too long.
 */
export async function replyInContext(
  turn: TurnContext,
  iteration: number,
): Promise<ReplyInContext> {
  const { used, size } = turn.conversation.brief.context;
  const before = size > 0 && used > size * FULL ? await compact(turn, iteration) : NO_USAGE;
  const dropped = droppedReply(turn);
  if (dropped !== null) return { reply: dropped, summaryUsage: before ?? NO_USAGE };
  const reply = await requestReply(turn, iteration);
  const first = { reply, summaryUsage: before ?? NO_USAGE };
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
  if (keptOf(turn) === null) return null;
  await turn.passSeam('pre_compact', iteration);
  const kept = keptOf(turn);
  if (kept === null) return null;
  const { messages } = turn.conversation;
  const dropped = messages.slice(0, messages.length - kept);
  const { summary, usage } = await summarise(turn, dropped);
  if (turn.signal.aborted) return usage;
  const beforeMessageCount = messages.length;
  await turn.recorder.history({
    type: 'compacted',
    turnId: turn.turnId,
    messageId: turn.deps.ids.unique() as MessageId,
    summary,
    keptMessages: kept,
    beforeMessageCount,
    afterMessageCount: kept + standingMessages(turn.turnId, turn.conversation.directives),
  });
  await turn.passSeam('post_compact', iteration);
  return usage;
}

function keptOf({ conversation, turnId }: TurnContext): number | null {
  const { messages, brief, directives } = conversation;
  const kept = keptCount(messages, brief.context.size);
  const gained = messages.length - kept - standingMessages(turnId, directives);
  return gained > 0 ? kept : null;
}

/**
 * How many of the newest messages stay as they are: those that fit, never the results of a batch without its calls.
 * `size` is the model's context in tokens, 0 where it is not known.
 */
export function keptCount(messages: readonly ModelMessage[], size: number): number {
  const sizes = messages.map(estimateTokens);
  const total = sizes.reduce((sum, tokens) => sum + tokens, 0);
  const room = KEPT * Math.min(total, size === 0 ? total : size);
  let start = messages.length;
  let tokens = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    tokens += sizes[index] ?? 0;
    if (tokens > room) break;
    if (messages[index]?.role !== 'tool') start = index;
  }
  return messages.length - start;
}

async function summarise(
  turn: TurnContext,
  dropped: readonly ModelMessage[],
): Promise<{ summary: string; usage: Usage }> {
  const context = turn.conversation.brief.context.size || UNKNOWN_CONTEXT;
  const text = dropped.map((message) => messageText(message, MAX_PIECE)).join('\n\n');
  const answer = await askAside(turn, {
    model: turn.resolveModel,
    system: SUMMARY_SYSTEM,
    texts: [cut(text, Math.floor(context * SUMMARISED * CHARACTERS_PER_TOKEN))],
    deadlineMs: SUMMARY_MS,
  });
  if (answer.kind === 'answered' && answer.text.trim() !== '')
    return { summary: cut(answer.text.trim(), MAX_SUMMARY), usage: answer.usage };
  const extract = dropped.map((message) => messageText(message, EXTRACT_PIECE)).join('\n');
  return {
    summary: `Excerpts of the conversation:\n${cut(extract, EXTRACT)}`,
    usage: answer.kind === 'answered' ? answer.usage : NO_USAGE,
  };
}
