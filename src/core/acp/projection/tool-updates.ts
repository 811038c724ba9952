import type { SessionUpdate, ToolCallContent } from '../../../protocol/acp.ts';
import type { HistoryEvent } from '../../session/events.ts';
import type { ModelToolResult } from '../../session/model.ts';
import { type Audience, metaFor } from './projected.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;
type Status = ModelToolResult['status'];

/** Harn's words for why a call failed; ACP has one status for all of them. */
const CATEGORIES: { readonly [S in Exclude<Status, 'completed'>]: string } = {
  failed: 'tool_error',
  denied: 'permission_denied',
  cancelled: 'cancelled',
  interrupted: 'cancelled',
  outcome_unknown: 'unknown',
};

/** What a person reads when a call ended without any content of its own. */
const EXPLANATIONS: { readonly [S in Exclude<Status, 'completed'>]: string } = {
  failed: 'The tool failed.',
  denied: 'Not allowed: this call was refused and did not run.',
  cancelled: 'Stopped before it finished.',
  interrupted: 'Skipped: an interrupt arrived before this call was dispatched.',
  outcome_unknown: 'The agent ended while this call ran: what it did is not known.',
};

/** The call as the model asked for it, not yet allowed. */
export function proposed(event: Of<'tool_proposed'>): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId: event.toolCallId,
    title: event.title,
    name: event.name,
    kind: event.kind,
    status: 'pending',
    rawInput: event.input,
    locations: [...event.locations],
    content: [...event.content],
  };
}

/** The call runs now. */
export function started(event: Of<'tool_started'>): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: event.toolCallId,
    status: 'in_progress',
  };
}

/** How it ended. Content and locations replace what was shown before. */
export function ended(event: Of<'tool_ended'>, audience: Audience): SessionUpdate {
  const { status } = event.result;
  const content = event.content.length > 0 ? [...event.content] : contentOf(event.result);
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: event.toolCallId,
    status: status === 'completed' ? 'completed' : 'failed',
    content,
    ...(event.locations.length > 0 ? { locations: [...event.locations] } : {}),
    ...(event.rawOutput === undefined ? {} : { rawOutput: event.rawOutput }),
    ...(status === 'completed'
      ? {}
      : metaFor(audience, {
          harn: { errorCategory: CATEGORIES[status], ...(status === 'failed' ? {} : { status }) },
          ...(status === 'failed' ? {} : { pilothouse: { status } }),
        })),
  };
}

function contentOf(result: ModelToolResult): ToolCallContent[] {
  const own = result.parts.map((part): ToolCallContent => ({ type: 'content', content: part }));
  if (own.length > 0 || result.status === 'completed') return own;
  return [textContent(EXPLANATIONS[result.status])];
}

/** Text as a tool call's content. */
export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}
