import * as z from 'zod/mini';
import type {
  CheckpointFiles,
  Directive,
  QueueChange,
  ReminderTraits,
  RestoredFiles,
} from '../../session/control-events.ts';
import type { DelegateOrigin } from '../../session/words.ts';
import {
  AUTHORITIES,
  type CheckpointId,
  type EnvironmentPolicy,
  FS_MODES,
  INJECT_MODES,
  type LoopId,
  type QueueItemId,
  SEAMS,
  type SessionId,
} from '../../session/words.ts';
import { commandId, contentBlock, count, id, messageId } from './event-shapes.ts';

/** The pieces that stored control and checkpoint events are made of. */

export const sessionId = id<SessionId>();
export const checkpointId = id<CheckpointId>();
const queueItemId = id<QueueItemId>();

export const seam = z.enum(SEAMS);
export const injectMode = z.enum(INJECT_MODES);
export const fsMode = z.enum(FS_MODES);

export const parent = z.object({
  sessionId,
  eventId: count,
  branchName: z.exactOptional(z.string()),
});

export const delegateOrigin: z.ZodMiniType<DelegateOrigin> = z.object({
  rootId: sessionId,
  parentId: id<LoopId>(),
  requestId: commandId,
  name: z.string(),
  depth: count,
});

export const environmentPolicy: z.ZodMiniType<EnvironmentPolicy> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('inherited') }),
  z.object({ kind: z.literal('isolated') }),
  z.object({
    kind: z.literal('granted'),
    grants: z.array(
      z.object({
        name: z.string(),
        source: z.object({ env: z.object({ var: z.string() }) }),
        expose_as_env: z.string(),
        for_command: z.exactOptional(z.string()),
      }),
    ),
  }),
]);

export const directive: z.ZodMiniType<Directive> = z.object({
  key: z.string(),
  authority: z.enum(AUTHORITIES),
  source: z.enum(['steer', 'interrupt', 'judge', 'reminder', 'policy']),
  text: z.string(),
  supersedes: z.nullable(z.string()),
  messageId: z.exactOptional(messageId),
});

export const checkpointFiles: z.ZodMiniType<CheckpointFiles> = z.object({
  before: z.string(),
  after: z.string(),
  coverage: z.enum(['full', 'partial']),
  reason: z.exactOptional(z.string()),
  changed: z.array(
    z.object({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) }),
  ),
});

export const restoredFiles: z.ZodMiniType<RestoredFiles> = z.object({
  undo: z.string(),
  restored: z.array(z.string()),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
});

export const reminder: z.ZodMiniType<ReminderTraits> = z.object({
  dedupeKey: z.string(),
  authority: z.enum(AUTHORITIES),
  tags: z.array(z.string()),
});

export const queueChange: z.ZodMiniType<QueueChange> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('added'),
    itemId: queueItemId,
    content: z.array(contentBlock),
    before: z.nullable(queueItemId),
  }),
  z.object({ kind: z.literal('edited'), itemId: queueItemId, content: z.array(contentBlock) }),
  z.object({ kind: z.literal('moved'), itemId: queueItemId, before: z.nullable(queueItemId) }),
  z.object({ kind: z.literal('removed'), itemId: queueItemId }),
  z.object({ kind: z.literal('sent'), itemId: queueItemId }),
  z.object({
    kind: z.literal('paused'),
    why: z.enum(['asked', 'stopped', 'turn_failed', 'restart']),
  }),
  z.object({ kind: z.literal('resumed') }),
]);
