import * as z from 'zod/mini';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { PendingInjection } from '../../../protocol/harn.ts';
import type { NextTurnQueue } from '../../../protocol/pilothouse.ts';
import { isContentBlock } from '../../core/shapes.ts';

const CONTENT = z.array(z.custom<ContentBlock>(isContentBlock));
const OWNER = z.object({
  clientId: z.string(),
  role: z.enum(['host_owner', 'observer']),
  source: z.string(),
});

const INJECTION = z.looseObject({
  kind: z.enum(['user', 'reminder']),
  messageId: z.exactOptional(z.string()),
  reminderId: z.exactOptional(z.string()),
  mode: z.enum(['queue', 'steer', 'interrupt_immediate']),
  content: CONTENT,
  owner: OWNER,
  at: z.string(),
  behindGate: z.boolean(),
});

const QUEUE = z.looseObject({
  paused: z.nullable(z.enum(['asked', 'stopped', 'turn_failed', 'restart'])),
  items: z.array(
    z.looseObject({ itemId: z.string(), content: CONTENT, owner: OWNER, at: z.string() }),
  ),
});

const LISTS = z.looseObject({
  sessionId: z.string(),
  pending: z.array(INJECTION),
  queue: QUEUE,
});

/** What waits in a session, as `_pilothouse/pending_changed` tells it. */
export type PendingLists = {
  readonly sessionId: string;
  readonly pending: readonly PendingInjection[];
  readonly queue: NextTurnQueue;
};

/** Reads the notification, or null if it has no known shape. */
export function pendingListsOf(params: unknown): PendingLists | null {
  const parsed = z.safeParse(LISTS, params);
  return parsed.success ? parsed.data : null;
}
