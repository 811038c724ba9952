import * as z from 'zod/mini';
import { isObject } from '../../base/json.ts';
import type { ContentBlock, SessionUpdate, ToolCallContent } from '../../protocol/acp.ts';

const BLOCK = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('resource_link'), uri: z.string(), name: z.string() }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.union([
      z.looseObject({ uri: z.string(), text: z.string() }),
      z.looseObject({ uri: z.string(), blob: z.string() }),
    ]),
  }),
]);

const TOOL_CONTENT = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('content'), content: BLOCK }),
  z.looseObject({
    type: z.literal('diff'),
    path: z.string(),
    oldText: z.optional(z.nullable(z.string())),
    newText: z.string(),
  }),
  z.looseObject({ type: z.literal('terminal'), terminalId: z.string() }),
]);

const optional = <T extends z.ZodMiniType>(schema: T) => z.optional(z.nullable(schema));

const CHUNK = z.looseObject({ content: BLOCK, messageId: optional(z.string()) });
const TOOL = z.looseObject({
  toolCallId: z.string(),
  title: optional(z.string()),
  name: optional(z.string()),
  kind: optional(z.string()),
  status: optional(z.string()),
  content: optional(z.array(z.unknown())),
  locations: optional(z.array(z.looseObject({ path: z.string(), line: optional(z.number()) }))),
});

/** The update kinds that have a shape to check; others are passed on as they are and shown as nothing. */
const UPDATES: Readonly<Record<string, z.ZodMiniType>> = {
  user_message_chunk: CHUNK,
  agent_message_chunk: CHUNK,
  agent_thought_chunk: CHUNK,
  tool_call: TOOL,
  tool_call_update: TOOL,
  plan: z.looseObject({
    entries: z.array(
      z.looseObject({
        content: z.string(),
        status: z.enum(['pending', 'in_progress', 'completed']),
      }),
    ),
  }),
  available_commands_update: z.looseObject({
    availableCommands: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  }),
  current_mode_update: z.looseObject({ currentModeId: z.string() }),
  config_option_update: z.looseObject({
    configOptions: z.array(z.looseObject({ id: z.string(), name: z.string(), type: z.string() })),
  }),
  session_info_update: z.looseObject({ title: optional(z.string()) }),
  usage_update: z.looseObject({ used: z.number(), size: z.number() }),
  notice: z.looseObject({ severity: z.string(), title: z.string() }),
  compaction_update: z.looseObject({ compactionId: z.string(), status: z.string() }),
};

/** True if `value` has the fields that an update of its kind needs. Unknown kinds pass: newer agents send them. */
export function isSessionUpdate(value: unknown): value is SessionUpdate {
  if (!isObject(value) || typeof value['sessionUpdate'] !== 'string') return false;
  const schema = UPDATES[value['sessionUpdate']];
  return schema === undefined || z.safeParse(schema, value).success;
}

/** True if `value` is a block of content that can be shown. */
export function isContentBlock(value: unknown): value is ContentBlock {
  return z.safeParse(BLOCK, value).success;
}

/** True if `value` is a piece of a tool call's content that can be shown. */
export function toolContent(value: unknown): value is ToolCallContent {
  return z.safeParse(TOOL_CONTENT, value).success;
}

/** A `session/update` notification, or null. Pieces of tool content that can't be shown are left out. */
export function parseNotification(
  params: unknown,
): { sessionId: string; update: SessionUpdate; meta: unknown } | null {
  if (!isObject(params) || typeof params['sessionId'] !== 'string') return null;
  const update = withKnownContent(params['update']);
  if (!isSessionUpdate(update)) return null;
  return { sessionId: params['sessionId'], update, meta: params['_meta'] };
}

/** An update without the pieces of tool content that have no known shape. */
export function withKnownContent(update: unknown): unknown {
  if (!isObject(update)) return update;
  const isTool =
    update['sessionUpdate'] === 'tool_call' || update['sessionUpdate'] === 'tool_call_update';
  return isTool && Array.isArray(update['content'])
    ? { ...update, content: update['content'].filter(toolContent) }
    : update;
}
