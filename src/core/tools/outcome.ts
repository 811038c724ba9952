import type { Json } from '../../base/json.ts';
import type { ToolCallContent, ToolCallLocation } from '../../protocol/acp.ts';
import type { ToolOutcome } from '../session/tool.ts';

/** A piece of text as a person sees it on a tool card. */
export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** A successful outcome whose text the model reads; a person sees the same unless `content` says otherwise. */
export function completed(
  text: string,
  extra: {
    content?: readonly ToolCallContent[];
    locations?: readonly ToolCallLocation[];
    rawOutput?: Json;
  } = {},
): ToolOutcome {
  return {
    status: 'completed',
    parts: [{ type: 'text', text }],
    content: extra.content ?? [textContent(text)],
    ...(extra.locations === undefined ? {} : { locations: extra.locations }),
    ...(extra.rawOutput === undefined ? {} : { rawOutput: extra.rawOutput }),
  };
}

/** A failed outcome: `text` says what happened and what to do instead. */
export function failed(text: string, extra: { rawOutput?: Json } = {}): ToolOutcome {
  return {
    status: 'failed',
    parts: [{ type: 'text', text }],
    content: [textContent(text)],
    ...(extra.rawOutput === undefined ? {} : { rawOutput: extra.rawOutput }),
  };
}
