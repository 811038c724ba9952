import { element } from '../../../base/xml-text.ts';
import type { Directives } from '../control/directives.ts';
import { defanged, renderEnvelope } from '../control/envelope.ts';
import type { HistoryEvent } from '../events.ts';
import type { ModelMessage } from '../model.ts';
import { judgeKey } from '../side/judge-prompt.ts';
import { repliesLine } from '../side/summary-prompt.ts';
import type { MessageId, TurnId } from '../words.ts';
import type { TurnBrief } from './turn-brief.ts';

type Compacted = Extract<HistoryEvent, { type: 'compacted' }>;

/**
 * What a model reads after a compaction: the objective with a summary, one envelope with the directives that stand,
 * then the messages that are kept.
 */
export function compactedMessages(
  event: Compacted,
  messages: readonly ModelMessage[],
  brief: TurnBrief,
  directives: Directives,
): readonly ModelMessage[] {
  const cut = messages.length - event.keptMessages;
  const kept = messages.slice(cut);
  const text = [
    'The conversation before this point was condensed. The current objective, in the words of the user:',
    element('objective', brief.objective),
    repliesLine(brief.replies - repliesIn(kept)),
    ...openItems(brief),
    'Summary:',
    defanged(event.summary),
  ].join('\n');
  const summary: ModelMessage = {
    role: 'user',
    messageId: event.messageId,
    origin: 'summary',
    parts: [{ type: 'text', text }, ...brief.attachments],
  };
  return [summary, ...envelope(event, directives), ...kept];
}

/** What the plan has left to do; nothing where there is no plan, or it is done. */
function openItems({ plan }: TurnBrief): readonly string[] {
  const open = plan.filter(({ status }) => status !== 'completed');
  if (open.length === 0) return [];
  const lines = open.map(({ content, status }) => `- [${status}] ${content}`);
  return ['Open items of the plan:', element('open-items', lines.join('\n'))];
}

/** How many messages stand in front of those that a compaction keeps. */
export function standingMessages(turnId: TurnId | null, directives: Directives): number {
  return standing(turnId, directives).length > 0 ? 2 : 1;
}

/** What a judge asked for counts in its own turn only. */
function standing(
  turnId: TurnId | null,
  directives: Directives,
): ReturnType<Directives['standing']> {
  return directives
    .standing()
    .filter(
      ({ source, key }) => source !== 'judge' || (turnId !== null && key === judgeKey(turnId)),
    );
}

function envelope(event: Compacted, directives: Directives): readonly ModelMessage[] {
  // What was replaced is gone from the conversation, so it is not named again.
  const told = standing(event.turnId, directives).map((one) => ({ ...one, supersedes: null }));
  if (told.length === 0 || directives.nonce === null) return [];
  return [
    {
      role: 'user',
      messageId: `${event.messageId}/directives` as MessageId,
      origin: 'directives',
      parts: [{ type: 'text', text: renderEnvelope(directives.nonce, told) }],
    },
  ];
}

/** Replies of the newest turn among the messages that are kept. */
function repliesIn(kept: readonly ModelMessage[]): number {
  const begin = kept.findLastIndex(
    (message) => message.role === 'user' && message.origin === 'prompt',
  );
  return kept.slice(begin + 1).filter(({ role }) => role === 'assistant').length;
}
