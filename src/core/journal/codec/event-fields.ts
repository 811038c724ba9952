import * as z from 'zod/mini';
import type { ControlEvent } from '../../session/control-events.ts';
import type { HistoryEvent } from '../../session/events.ts';
import * as control from './control-shapes.ts';
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
    environmentPolicy: z.exactOptional(control.environmentPolicy),
    parent: z.exactOptional(control.parent),
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
    finish: z.enum([
      'stop',
      'pause',
      'tool_calls',
      'length',
      'refusal',
      'other',
      'aborted',
      'interrupted',
    ]),
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
  inject_delivered: {
    type: z.literal('inject_delivered'),
    turnId: shape.turnId,
    messageId: shape.messageId,
    mode: control.injectMode,
    content: z.array(shape.contentBlock),
    seam: control.seam,
    actor: shape.actor,
  },
  directives_issued: {
    type: z.literal('directives_issued'),
    turnId: shape.turnId,
    messageId: shape.messageId,
    seam: control.seam,
    nonce: z.string(),
    directives: z.array(control.directive),
  },
  judge_decision: {
    type: z.literal('judge_decision'),
    turnId: shape.turnId,
    iteration: shape.count,
    judge: z.string(),
    verdict: z.enum(['done', 'vetoed', 'failed']),
    reason: z.string(),
    correction: z.nullable(z.string()),
    usage: shape.usage,
  },
  compacted: {
    type: z.literal('compacted'),
    turnId: shape.turnId,
    messageId: shape.messageId,
    summary: z.string(),
    keptMessages: shape.count,
    beforeMessageCount: shape.count,
    afterMessageCount: shape.count,
  },
  turn_checkpoint: {
    type: z.literal('turn_checkpoint'),
    turnId: shape.turnId,
    checkpointId: control.checkpointId,
    onStack: z.boolean(),
    beforeMessageCount: shape.count,
    afterMessageCount: shape.count,
    beforeEventId: shape.count,
    files: z.nullable(control.checkpointFiles),
  },
  history_moved: {
    type: z.literal('history_moved'),
    reason: z.enum(['rollback', 'redo', 'truncate']),
    to: shape.count,
    checkpointId: z.nullable(control.checkpointId),
    beforeMessageCount: shape.count,
    afterMessageCount: shape.count,
    files: z.nullable(control.restoredFiles),
    turns: z.exactOptional(
      z.object({ kept: shape.count, removed: shape.count, tip: z.nullable(shape.turnId) }),
    ),
    actor: shape.actor,
  },
  files_restored: {
    type: z.literal('files_restored'),
    toolCallId: z.nullable(shape.toolCallId),
    checkpointId: z.nullable(control.checkpointId),
    files: control.restoredFiles,
    actor: shape.actor,
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
  inject_accepted: {
    type: z.literal('inject_accepted'),
    messageId: shape.messageId,
    mode: control.injectMode,
    content: z.array(shape.contentBlock),
    actor: shape.actor,
    reminder: z.exactOptional(control.reminder),
    commandId: z.exactOptional(shape.commandId),
    bodyHash: z.exactOptional(z.string()),
  },
  inject_replaced: {
    type: z.literal('inject_replaced'),
    messageId: shape.messageId,
    content: z.array(shape.contentBlock),
    actor: shape.actor,
  },
  inject_revoked: {
    type: z.literal('inject_revoked'),
    messageId: shape.messageId,
    why: z.enum(['revoked', 'given_back']),
    actor: shape.actor,
  },
  queue_changed: {
    type: z.literal('queue_changed'),
    change: control.queueChange,
    actor: shape.actor,
  },
  fs_mode_changed: {
    type: z.literal('fs_mode_changed'),
    mode: control.fsMode,
    actor: shape.actor,
  },
  file_staged: {
    type: z.literal('file_staged'),
    path: z.string(),
    base: z.nullable(z.string()),
    text: z.nullable(z.string()),
    toolCallId: z.nullable(shape.toolCallId),
  },
  staged_settled: {
    type: z.literal('staged_settled'),
    how: z.enum(['committed', 'discarded']),
    paths: z.array(z.string()),
    actor: shape.actor,
  },
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
