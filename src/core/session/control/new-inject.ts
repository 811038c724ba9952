import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ControlEvent } from '../events.ts';
import { isEmpty } from '../state/prompts.ts';
import type { MessageId } from '../words.ts';
import { ControlRefused } from './refusal.ts';
import type { NewInject } from './session-control.ts';

/** The record of an accepted message. */
export function injectAccepted(
  message: NewInject,
  messageId: MessageId,
  bodyHash: string,
): Extract<ControlEvent, { type: 'inject_accepted' }> {
  const { mode, content, actor, reminder, commandId } = message;
  return {
    type: 'inject_accepted',
    messageId,
    mode,
    content,
    actor,
    bodyHash,
    ...(reminder === undefined ? {} : { reminder }),
    ...(commandId === undefined ? {} : { commandId }),
  };
}

/** Throws `invalid_content` for a message that holds nothing to read. */
export function requireContent(content: readonly ContentBlock[]): void {
  if (!isEmpty(content)) return;
  throw new ControlRefused(
    'invalid_content',
    'The message is empty. Send at least one content block with something in it.',
  );
}
