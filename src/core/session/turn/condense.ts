import type { HistoryEvent } from '../events.ts';
import type { ModelMessage } from '../model.ts';
import { cut, estimateTokens, messageText } from '../side/message-text.ts';
import { askAside, type SideAnswer, type SideGround } from '../side/side-request.ts';
import { SUMMARY_SYSTEM } from '../side/summary-prompt.ts';
import { standingMessages } from '../state/compacted.ts';
import type { Conversation } from '../state/conversation.ts';
import type { MessageId, TurnId, Usage } from '../words.ts';
import { NO_USAGE } from './budget.ts';

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

type CompactedEvent = Extract<HistoryEvent, { type: 'compacted' }>;

/** What is to be condensed, and for whom. */
export type Condensing = {
  readonly conversation: Conversation;
  /** Null where no turn runs. */
  readonly turnId: TurnId | null;
  readonly trigger: 'automatic' | 'manual';
  readonly messageId: MessageId;
};

/** What came of it. `dropped`: Stop or an interrupt ended it. Nothing is recorded yet. */
export type Condensed =
  | { readonly kind: 'condensed'; readonly event: CompactedEvent; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly message: string; readonly usage: Usage }
  | { readonly kind: 'dropped' };

/** How many of the newest messages a compaction would keep; null if it would gain nothing. */
export function keptOf(conversation: Conversation, turnId: TurnId | null): number | null {
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

/** Asks for a summary of all but the newest `kept` messages. */
export async function condense(
  ground: SideGround,
  what: Condensing,
  kept: number,
): Promise<Condensed> {
  const { conversation } = what;
  const context = conversation.brief.context.size || UNKNOWN_CONTEXT;
  const text = droppedMessages(conversation, kept)
    .map((message) => messageText(message, MAX_PIECE))
    .join('\n\n');
  const answer = await askAside(ground, {
    model: () => ground.deps.models.resolve(ground.config.model, { sessionId: ground.sessionId }),
    system: SUMMARY_SYSTEM,
    texts: [cut(text, Math.floor(context * SUMMARISED * CHARACTERS_PER_TOKEN))],
    deadlineMs: SUMMARY_MS,
  });
  if (answer.kind === 'dropped') return { kind: 'dropped' };
  const usage = answer.kind === 'answered' ? answer.usage : NO_USAGE;
  if (answer.kind !== 'answered' || answer.text.trim() === '')
    return { kind: 'failed', message: failureOf(answer), usage };
  const summary = cut(answer.text.trim(), MAX_SUMMARY);
  return { kind: 'condensed', event: compactedEvent(what, summary, kept), usage };
}

/** What stands in for a summary where the conversation can't go on without one. */
export function excerpt(what: Condensing, kept: number): CompactedEvent {
  const pieces = droppedMessages(what.conversation, kept).map((message) =>
    messageText(message, EXTRACT_PIECE),
  );
  const summary = `Excerpts of the conversation:\n${cut(pieces.join('\n'), EXTRACT)}`;
  return compactedEvent(what, summary, kept);
}

function droppedMessages({ messages }: Conversation, kept: number): readonly ModelMessage[] {
  return messages.slice(0, messages.length - kept);
}

function compactedEvent(what: Condensing, summary: string, keptMessages: number): CompactedEvent {
  const { conversation, turnId, trigger, messageId } = what;
  return {
    type: 'compacted',
    turnId,
    trigger,
    messageId,
    summary,
    keptMessages,
    beforeMessageCount: conversation.messages.length,
    afterMessageCount: keptMessages + standingMessages(turnId, conversation.directives),
  };
}

function failureOf(answer: Exclude<SideAnswer, { kind: 'dropped' }>): string {
  switch (answer.kind) {
    case 'failed':
      return answer.reason;
    case 'late':
      return `The model wrote no summary within ${SUMMARY_MS / 1000} seconds.`;
    case 'answered':
      return 'The model answered with an empty summary.';
  }
}
