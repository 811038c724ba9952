import * as z from 'zod/mini';
import type { Actor } from '../../../protocol/controls.ts';
import {
  AGENCIES,
  COMMAND_VERSION,
  DELEGATE_OUTCOMES,
  type DurableCommand,
  type LiveCommand,
  PROCESS_ENDS,
} from '../../session/commands/command.ts';
import type { ReminderTraits } from '../../session/control-events.ts';
import {
  AUTHORITIES,
  type Budget,
  INJECT_MODES,
  type LoopId,
  MODES,
  type SessionId,
  THOUGHT_LEVELS,
} from '../../session/words.ts';
import * as shape from './event-shapes.ts';

/** The strict form of every command: an unknown field, type or version is refused. */

const sessionId = shape.id<SessionId>();
export const loopId = shape.id<LoopId>();

const cause = z.strictObject({
  command_ids: z.array(shape.commandId),
  loop_id: z.exactOptional(loopId),
  turn_id: z.exactOptional(shape.turnId),
  tool_call_id: z.exactOptional(shape.toolCallId),
});

const actor: z.ZodMiniType<Actor> = z.strictObject({
  clientId: z.string(),
  role: z.enum(['host_owner', 'observer']),
  source: z.string(),
});

const reminder: z.ZodMiniType<ReminderTraits> = z.strictObject({
  dedupeKey: z.string(),
  authority: z.enum(AUTHORITIES),
  tags: z.array(z.string()),
});

const limit = z.exactOptional(z.number().check(z.nonnegative()));
const budget: z.ZodMiniType<Budget> = z.strictObject({
  steps: limit,
  seconds: limit,
  tokens: limit,
  costUsd: limit,
});

const envelope = {
  v: z.literal(COMMAND_VERSION),
  command_id: shape.commandId,
  cause: z.nullable(cause),
  agency: z.enum(AGENCIES),
  actor,
  target: z.strictObject({ session_id: sessionId, loop_id: loopId }),
  created_at: shape.count,
};

const blocks = z.array(shape.contentBlock);

/** The payload's shape of every command, by type: a command or a field without one does not compile. */
type FieldsOf<C extends { readonly type: string }> = {
  readonly [T in C['type']]: {
    readonly [K in Exclude<
      keyof Extract<C, { readonly type: T }>,
      keyof typeof envelope | 'type'
    >]-?: z.ZodMiniType<Extract<C, { readonly type: T }>[K]>;
  };
};

/** The durable lane. */
export const durableFields = {
  user_input: { blocks },
  inject: {
    message_id: shape.messageId,
    mode: z.enum(INJECT_MODES),
    blocks,
    reminder: z.exactOptional(reminder),
  },
  subagent_result: {
    request_id: shape.commandId,
    outcome: z.enum(DELEGATE_OUTCOMES),
    background: z.boolean(),
    blocks,
  },
  cancel_queued_input: { target_command_id: shape.commandId },
  cancel_delegate_request: { target_command_id: shape.commandId },
  approve_tool_call: {
    gate_id: shape.gateId,
    tool_call_id: shape.toolCallId,
    option_id: z.string(),
  },
  deny_tool_call: {
    gate_id: shape.gateId,
    tool_call_id: shape.toolCallId,
    note: z.exactOptional(z.string()),
  },
  provide_user_input: {
    gate_id: shape.gateId,
    outcome: z.enum(['accepted', 'declined']),
    content: z.exactOptional(shape.jsonObject),
    reason: z.exactOptional(z.string()),
  },
  compact: {},
  cancel: { reason: z.exactOptional(z.string()) },
  shutdown: { reason: z.string() },
  process_notification: {
    process_id: shape.processId,
    state: z.enum(PROCESS_ENDS),
    exit_code: z.nullable(z.int()),
    signal: z.nullable(z.string()),
  },
} satisfies FieldsOf<DurableCommand>;

/** The live lane. */
export const liveFields = {
  set_loop_mode: { mode: z.enum(MODES) },
  change_loop_inference: {
    model: z.exactOptional(z.string()),
    thought_level: z.exactOptional(z.enum(THOUGHT_LEVELS)),
    budget: z.exactOptional(budget),
    judge: z.exactOptional(z.nullable(z.string())),
  },
  replace_loop_external_tools: {
    source: z.string(),
    generation: z.string(),
    tools: z.array(z.strictObject({ name: z.string(), schema_digest: z.string() })),
  },
} satisfies FieldsOf<LiveCommand>;

function shapesOf<F extends Readonly<Record<string, Readonly<Record<string, z.ZodMiniType>>>>>(
  fields: F,
): ReadonlyMap<string, z.ZodMiniType> {
  return new Map(
    Object.entries(fields).map(([type, payload]) => [
      type,
      z.strictObject({ type: z.literal(type), ...envelope, ...payload }),
    ]),
  );
}

/** By type. */
export const durableShapes = shapesOf(durableFields);
export const liveShapes = shapesOf(liveFields);

function ofType(shapes: ReadonlyMap<string, z.ZodMiniType>, value: unknown): boolean {
  const { type } = (value ?? {}) as { type?: unknown };
  const found = typeof type === 'string' ? shapes.get(type) : undefined;
  return found?.safeParse(value).success ?? false;
}

export const durableCommand = z.custom<DurableCommand>((value) => ofType(durableShapes, value));
export const liveCommand = z.custom<LiveCommand>((value) => ofType(liveShapes, value));
