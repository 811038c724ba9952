import * as z from 'zod/mini';
import type { JsonObject } from '../../../base/json.ts';
import type { FromChat } from '../../../protocol/chat.ts';

const ATTACHMENT = z.object({
  name: z.string(),
  uri: z.string(),
  kind: z.enum(['file', 'folder', 'selection', 'diagnostics', 'image']),
  range: z.exactOptional(z.string()),
});

const IMAGE = z.object({
  mimeType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  data: z.string().check(z.maxLength(20 * 1024 * 1024)),
  name: z.exactOptional(z.string()),
});

const CONTENT = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

const MESSAGE = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    sessionId: z.exactOptional(z.nullable(z.string())),
  }),
  z.object({
    type: z.literal('send'),
    requestId: z.number(),
    text: z.string(),
    attachments: z.array(ATTACHMENT),
    images: z.array(IMAGE),
    mode: z.exactOptional(z.enum(['prompt', 'steer', 'interrupt', 'next', 'note'])),
  }),
  z.object({ type: z.literal('stop') }),
  z.object({ type: z.literal('delegate_open'), loopId: z.string() }),
  z.object({ type: z.literal('delegate_close'), loopId: z.string() }),
  z.object({ type: z.literal('delegate_stop'), loopId: z.string() }),
  z.object({ type: z.literal('delegate_transcript'), loopId: z.string() }),
  z.object({ type: z.literal('talk_to'), loopId: z.nullable(z.string()) }),
  z.object({
    type: z.literal('stop_tool'),
    toolCallId: z.string(),
    loopId: z.optional(z.string()),
  }),
  z.object({ type: z.literal('pending_edit'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('pending_revoke'), id: z.string() }),
  z.object({ type: z.literal('pending_recompose'), id: z.string() }),
  z.object({ type: z.literal('next_edit'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('next_move'), id: z.string(), before: z.nullable(z.string()) }),
  z.object({ type: z.literal('next_remove'), id: z.string() }),
  z.object({ type: z.literal('next_send_now'), id: z.string() }),
  z.object({ type: z.literal('next_pause') }),
  z.object({ type: z.literal('next_resume') }),
  z.object({ type: z.literal('restore_tool'), toolCallId: z.string() }),
  z.object({
    type: z.literal('message_action'),
    action: z.enum(['rollback', 'restore', 'fork', 'truncate']),
    messageId: z.string(),
  }),
  z.object({ type: z.literal('focus'), focused: z.boolean() }),
  z.object({
    type: z.literal('answer'),
    gateId: z.string(),
    optionId: z.exactOptional(z.string()),
    content: z.exactOptional(CONTENT),
    declined: z.exactOptional(z.boolean()),
  }),
  z.object({ type: z.literal('load_before') }),
  z.object({ type: z.literal('complete'), requestId: z.number(), query: z.string() }),
  z.object({
    type: z.literal('set_option'),
    configId: z.string(),
    value: z.union([z.string(), z.boolean()]),
  }),
  z.object({ type: z.literal('retry'), turnEndId: z.string() }),
  z.object({ type: z.literal('resolve_uris'), uris: z.array(z.string()) }),
  z.object({
    type: z.literal('open_attachment'),
    uri: z.string(),
    range: z.exactOptional(z.string()),
  }),
  z.object({
    type: z.literal('open_location'),
    path: z.string(),
    line: z.exactOptional(z.number()),
  }),
  z.object({ type: z.literal('open_diff'), toolCallId: z.string(), path: z.string() }),
  z.object({ type: z.literal('open_output'), toolCallId: z.string() }),
  z.object({ type: z.literal('open_link'), href: z.string() }),
  z.object({ type: z.literal('copy'), text: z.string() }),
  z.object({
    type: z.literal('command'),
    name: z.enum([
      'new_session',
      'restart',
      'show_log',
      'show_changes',
      'show_transcript',
      'manage_trust',
      'open_folder',
      'set_key',
      'redo',
      'show_receipts',
      'show_staged',
      'keep_staged',
      'discard_staged',
      'toggle_staged',
      'continue',
      'compact',
      'reopen',
      'open_data_folder',
      'take_control',
    ]),
  }),
]);

/** A message of the webview, or null if it is none that we know. */
export function parseFromChat(value: unknown): FromChat | null {
  const result = z.safeParse(MESSAGE, value);
  return result.success ? result.data : null;
}
