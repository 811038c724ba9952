import * as z from 'zod/mini';
import type { ControlEvent, HistoryEvent } from '../../session/events.ts';
import * as shape from './event-shapes.ts';

/** A shape for every property of every event: an event or a property without one does not compile. */
type FieldsOf<E extends { readonly type: string }> = {
  readonly [T in E['type']]: {
    readonly [K in keyof Extract<E, { readonly type: T }>]-?: z.ZodMiniType<
      Extract<E, { readonly type: T }>[K]
    >;
  };
};

/** The closed union of stored history events, by type. */
export const historyFields = {
  session_created: {
    type: z.literal('session_created'),
    cwd: z.string(),
    additionalDirectories: z.array(z.string()),
    config: shape.sessionConfig,
  },
  config_changed: {
    type: z.literal('config_changed'),
    config: shape.sessionConfig,
    actor: shape.actor,
  },
  title_changed: { type: z.literal('title_changed'), title: z.string() },
  commands_changed: {
    type: z.literal('commands_changed'),
    commands: z.array(shape.availableCommand),
  },
  turn_started: {
    type: z.literal('turn_started'),
    turnId: shape.turnId,
    commandId: shape.commandId,
    messageId: shape.messageId,
    content: z.array(shape.contentBlock),
    modelText: z.exactOptional(z.string()),
    config: shape.sessionConfig,
  },
  message_delta: {
    type: z.literal('message_delta'),
    turnId: shape.turnId,
    messageId: shape.messageId,
    kind: z.enum(['text', 'thought']),
    offset: shape.count,
    text: z.string(),
  },
  model_replied: {
    type: z.literal('model_replied'),
    turnId: shape.turnId,
    iteration: shape.count,
    messageId: shape.messageId,
    calls: z.array(shape.modelToolCall),
    finish: z.enum(['stop', 'pause', 'tool_calls', 'length', 'refusal', 'other', 'aborted']),
    usage: shape.usage,
    providerState: z.exactOptional(shape.json),
  },
  model_failed: {
    type: z.literal('model_failed'),
    turnId: shape.turnId,
    iteration: shape.count,
    attempt: shape.count,
    code: z.string(),
    message: z.string(),
    retryInMs: z.nullable(z.number()),
  },
  tool_proposed: {
    type: z.literal('tool_proposed'),
    turnId: shape.turnId,
    toolCallId: shape.toolCallId,
    name: z.string(),
    title: z.string(),
    kind: shape.toolKind,
    input: shape.jsonObject,
    locations: z.array(shape.toolCallLocation),
    content: z.array(shape.toolCallContent),
  },
  tool_started: {
    type: z.literal('tool_started'),
    turnId: shape.turnId,
    toolCallId: shape.toolCallId,
  },
  tool_ended: {
    type: z.literal('tool_ended'),
    turnId: shape.turnId,
    toolCallId: shape.toolCallId,
    result: shape.modelToolResult,
    content: z.array(shape.toolCallContent),
    locations: z.array(shape.toolCallLocation),
    rawOutput: z.exactOptional(shape.json),
  },
  plan_changed: {
    type: z.literal('plan_changed'),
    turnId: shape.turnId,
    entries: z.array(shape.planEntry),
  },
  gate_opened: {
    type: z.literal('gate_opened'),
    turnId: shape.turnId,
    gateId: shape.gateId,
    request: shape.gateRequest,
  },
  gate_resolved: {
    type: z.literal('gate_resolved'),
    turnId: shape.turnId,
    gateId: shape.gateId,
    answer: shape.gateAnswer,
    actor: shape.actor,
  },
  process_started: {
    type: z.literal('process_started'),
    processId: shape.processId,
    command: z.string(),
  },
  process_ended: {
    type: z.literal('process_ended'),
    processId: shape.processId,
    state: z.enum(['exited', 'stopped', 'lost']),
    exitCode: z.nullable(z.number()),
    signal: z.nullable(z.string()),
  },
  machine_message: {
    type: z.literal('machine_message'),
    turnId: z.nullable(shape.turnId),
    messageId: shape.messageId,
    text: z.string(),
  },
  usage_changed: {
    type: z.literal('usage_changed'),
    used: z.number(),
    size: z.number(),
    costUsd: z.nullable(z.number()),
  },
  notice: {
    type: z.literal('notice'),
    severity: z.enum(['info', 'warning', 'error']),
    title: z.string(),
    description: z.string(),
  },
  turn_ended: {
    type: z.literal('turn_ended'),
    turnId: shape.turnId,
    terminal: shape.terminal,
    stopReason: shape.stopReason,
    usage: shape.usage,
    iterations: shape.count,
  },
} satisfies FieldsOf<HistoryEvent>;

/** The closed union of stored control events, by type. */
export const controlFields = {
  command_accepted: {
    type: z.literal('command_accepted'),
    commandId: shape.commandId,
    command: z.string(),
    bodyHash: z.string(),
    actor: shape.actor,
  },
  command_resolved: {
    type: z.literal('command_resolved'),
    commandId: shape.commandId,
    resolution: z.string(),
    reason: z.exactOptional(z.string()),
  },
  control_outcome: { type: z.literal('control_outcome'), receipt: shape.receipt },
  client_attached: { type: z.literal('client_attached'), actor: shape.actor },
  client_detached: { type: z.literal('client_detached'), actor: shape.actor },
  session_closed: {
    type: z.literal('session_closed'),
    actor: shape.actor,
    reason: z.string(),
  },
  session_restored: {
    type: z.literal('session_restored'),
    interruptedTurnId: z.nullable(shape.turnId),
  },
} satisfies FieldsOf<ControlEvent>;
