import type { ContentBlock } from '../../../protocol/acp.ts';
import { isTooLarge, TOO_LARGE } from '../commands/command-size.ts';
import { isEmpty } from '../state/prompts.ts';
import { ControlRefused } from './refusal.ts';

/** Throws `invalid_content` for a message that holds nothing to read, or more than can be stored. */
export function requireContent(content: readonly ContentBlock[]): void {
  if (isTooLarge(content)) throw new ControlRefused('invalid_content', TOO_LARGE);
  if (!isEmpty(content)) return;
  throw new ControlRefused(
    'invalid_content',
    'The message is empty. Send at least one content block with something in it.',
  );
}
