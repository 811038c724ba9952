import type { ContentBlock } from '../../../protocol/acp.ts';
import { ControlRefused } from './refusal.ts';

/** How many messages may wait in one place: for a seam, or for a turn of their own. */
export const MOST_WAITING = 200;

/** How much they may hold together, in UTF-16 units. Each change is told with everything that waits. */
export const MOST_WAITING_TEXT = 16 * 1024 * 1024;

type Waiting = { readonly content: readonly ContentBlock[] };

/** Throws `too_many_waiting` if `content` does not fit beside what waits already. */
export function requireRoom(waiting: readonly Waiting[], content: readonly ContentBlock[]): void {
  if (waiting.length >= MOST_WAITING)
    throw new ControlRefused(
      'too_many_waiting',
      `${waiting.length} messages wait already. Let some be read, or take some back, and send this one again.`,
      { waiting: waiting.length },
    );
  const held = waiting.reduce((sum, message) => sum + sizeOf(message.content), 0);
  if (held + sizeOf(content) <= MOST_WAITING_TEXT) return;
  throw new ControlRefused(
    'too_many_waiting',
    'Messages that wait may hold 16 MiB together, and this one goes past that. Put what is long into a file and name the file.',
    { waiting: waiting.length },
  );
}

function sizeOf(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => sum + blockSize(block), 0);
}

function blockSize(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'image':
    case 'audio':
      return block.data.length;
    case 'resource':
      return 'text' in block.resource ? block.resource.text.length : block.resource.blob.length;
    case 'resource_link':
      return block.uri.length;
  }
}
