import type { JsonObject } from '../../../base/json.ts';
import type { QueueChanged } from '../../../protocol/pilothouse.ts';
import type { NextTurns } from '../../session/control-events.ts';
import type { QueueItemId } from '../../session/words.ts';
import * as checks from '../generated/schema-checks.mjs';
import { type ControlMethod, controlMethod } from './control-method.ts';
import { commandIdOf, contentOf, loopIdOf } from './control-params.ts';
import { shownQueue } from './shown-pending.ts';

type Session = { readonly sessionId: string };
type Message = Session & { readonly messageId: string };
type Item = Session & { readonly itemId: string; readonly before?: string };

/** Messages for running turns, and the queue of messages for later ones. */
export const MESSAGE_METHODS: readonly ControlMethod[] = [
  controlMethod<Session & { mode?: unknown; content?: unknown }>(
    'session/inject',
    checks.sessionOnly,
    'message',
    async (params, target, { controls }) => {
      const { messageId } = await controls.inject(target, {
        mode: params.mode,
        content: contentOf(params.content),
        ...commandIdOf(params),
      });
      const harn: JsonObject = { actor: { ...target.actor } };
      return { result: { messageId, status: 'accepted', _meta: { harn } } };
    },
  ),
  controlMethod<Message>(
    'session/revoke_inject',
    checks.messageRef,
    'message',
    async ({ messageId }, target, { controls }) => {
      const { status } = await controls.revokeInject(target, messageId);
      return { result: { messageId, status } };
    },
  ),
  controlMethod<Message & { content?: unknown }>(
    'session/replace_inject',
    checks.messageRef,
    'message',
    async ({ messageId, content }, target, { controls }) => {
      await controls.replaceInject(target, messageId, contentOf(content));
      return { result: { messageId, status: 'replaced' } };
    },
  ),
  controlMethod<
    Session & {
      body: string;
      mode?: unknown;
      authority?: unknown;
      dedupeKey?: string;
      tags?: readonly string[];
    }
  >('session/remind', checks.remind, 'message', async (params, target, { controls }) => {
    const { body, mode, authority, dedupeKey, tags } = params;
    const { reminderId } = await controls.remind(target, {
      body,
      mode,
      ...(authority === undefined ? {} : { authority }),
      ...(dedupeKey === undefined ? {} : { dedupeKey }),
      ...(tags === undefined ? {} : { tags }),
      ...commandIdOf(params),
    });
    return { result: { reminderId } };
  }),
  controlMethod<Session & { reminderId: string }>(
    'session/revoke_reminder',
    checks.reminderRef,
    'message',
    async ({ reminderId }, target, { controls }) => {
      const { status } = await controls.revokeReminder(target, reminderId);
      return { result: { reminderId, status } };
    },
  ),
  controlMethod<Session & { toolCallId: string; reason?: string; injectReminder?: boolean }>(
    'session/cancel_tool_call',
    checks.callRef,
    'message',
    async (params, target, { controls }) => {
      const { toolCallId, reason, injectReminder } = params;
      const { status, tool } = await controls.cancelToolCall(target, {
        toolCallId,
        ...loopIdOf(params),
        ...(reason === undefined ? {} : { reason }),
        ...(injectReminder === undefined ? {} : { injectReminder }),
      });
      return { result: { status, callId: toolCallId, tool } };
    },
  ),
  controlMethod<Session & { content?: unknown; before?: string; itemId?: string }>(
    '_pilothouse/queue/add',
    checks.queueAdd,
    'message',
    async (params, target, { controls }) => {
      const { before, itemId } = params;
      // The same command id twice is the same item.
      const id = itemId ?? commandIdOf(params).commandId;
      return changed(
        await controls.changeQueue(target, {
          kind: 'add',
          content: contentOf(params.content) ?? [],
          before: before === undefined ? null : (before as QueueItemId),
          ...(id === undefined ? {} : { itemId: id as QueueItemId }),
        }),
      );
    },
  ),
  controlMethod<Item & { content?: unknown }>(
    '_pilothouse/queue/edit',
    checks.queueItem,
    'message',
    async ({ itemId, content }, target, { controls }) =>
      changed(
        await controls.changeQueue(target, {
          kind: 'edit',
          itemId: itemId as QueueItemId,
          content: contentOf(content) ?? [],
        }),
      ),
  ),
  controlMethod<Item>(
    '_pilothouse/queue/move',
    checks.queueItem,
    'message',
    async ({ itemId, before }, target, { controls }) =>
      changed(
        await controls.changeQueue(target, {
          kind: 'move',
          itemId: itemId as QueueItemId,
          before: before === undefined ? null : (before as QueueItemId),
        }),
      ),
  ),
  controlMethod<Item>(
    '_pilothouse/queue/remove',
    checks.queueItem,
    'message',
    async ({ itemId }, target, { controls }) =>
      changed(
        await controls.changeQueue(target, { kind: 'remove', itemId: itemId as QueueItemId }),
      ),
  ),
  controlMethod<Item>(
    '_pilothouse/queue/send_now',
    checks.queueItem,
    'message',
    async ({ itemId }, target, { controls }) =>
      changed(
        await controls.changeQueue(target, { kind: 'send_now', itemId: itemId as QueueItemId }),
      ),
  ),
  controlMethod<Session>(
    '_pilothouse/queue/pause',
    checks.sessionOnly,
    'message',
    async (_params, target, { controls }) =>
      changed(await controls.changeQueue(target, { kind: 'pause' })),
  ),
  controlMethod<Session>(
    '_pilothouse/queue/resume',
    checks.sessionOnly,
    'message',
    async (_params, target, { controls }) =>
      changed(await controls.changeQueue(target, { kind: 'resume' })),
  ),
];

function changed(done: { itemId: string | null; nextTurns: NextTurns }): { result: QueueChanged } {
  return { result: { itemId: done.itemId, queue: shownQueue(done.nextTurns) } };
}
