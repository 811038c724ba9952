import type { ContentBlock } from '../../../protocol/acp.ts';
import { isEmpty } from '../state/prompts.ts';
import { ControlRefused } from './refusal.ts';

/** Throws `invalid_content` for a message that holds nothing to read. */
export function requireContent(content: readonly ContentBlock[]): void {
  if (!isEmpty(content)) return;
  throw new ControlRefused(
    'invalid_content',
    'The message is empty. Send at least one content block with something in it.',
  );
}
