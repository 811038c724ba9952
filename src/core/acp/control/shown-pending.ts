import type { PendingInjection } from '../../../protocol/harn.ts';
import type { NextTurnQueue } from '../../../protocol/pilothouse.ts';
import type { NextTurns, PendingMessage } from '../../session/control-events.ts';
import { isoTime } from '../projection/turn-updates.ts';

/** A pending message as clients see it: reminders by their own id. */
export function shownPending(message: PendingMessage): PendingInjection {
  const { messageId, kind, mode, content, owner, at, behindGate } = message;
  return {
    kind,
    ...(kind === 'reminder' ? { reminderId: messageId } : { messageId }),
    mode,
    content,
    owner,
    at: isoTime(at),
    behindGate,
  };
}

/** The next-turn queue as clients see it. */
export function shownQueue({ paused, items }: NextTurns): NextTurnQueue {
  return {
    paused,
    items: items.map(({ itemId, content, owner, at }) => ({
      itemId,
      content,
      owner,
      at: isoTime(at),
    })),
  };
}
