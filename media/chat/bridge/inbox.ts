import type { ToChat } from '../../../src/protocol/chat.ts';
import { coalesce } from '../state/coalesce.ts';

/** A hidden page gets no animation frames; this keeps its queue short all the same. */
const HIDDEN_FLUSH_MS = 250;

/**
 * Collects messages and hands them over at most once a frame, in order. Returns what takes one message.
 */
export function createInbox(
  deliver: (messages: readonly ToChat[]) => void,
): (message: ToChat) => void {
  let queue: ToChat[] = [];
  let frame = 0;
  let timer = 0;
  const flush = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    const batch = coalesce(queue);
    queue = [];
    if (batch.length > 0) deliver(batch);
  };
  return (message) => {
    queue.push(message);
    if (queue.length > 1) return;
    frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, HIDDEN_FLUSH_MS);
  };
}
