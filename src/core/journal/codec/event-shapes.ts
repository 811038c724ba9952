import * as z from 'zod/mini';
import { isObject, type Json, type JsonObject } from '../../../base/json.ts';
import type {
  AvailableCommand,
  ContentBlock,
  ElicitationSchema,
  PermissionOption,
  PlanEntry,
  StopReason,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '../../../protocol/acp.ts';
import { type Actor, CONTROLS, type ControlOutcome } from '../../../protocol/controls.ts';
import type { GateAnswer, GateRequest } from '../../session/gate-words.ts';
import type { ModelToolCall, ModelToolResult } from '../../session/model.ts';
import {
  type Budget,
  CHECKPOINT_POLICIES,
  type CommandId,
  type GateId,
  type MessageId,
  MODES,
  type ProcessId,
  type SessionConfig,
  type Terminal,
  THOUGHT_LEVELS,
  type ToolCallId,
  type TurnId,
  type Usage,
} from '../../session/words.ts';

/** The pieces that stored events are made of. They check; the stored value itself is what is handed on. */

/** A string that names something. */
export function id<T extends string>(): z.ZodMiniType<T> {
  return z.custom<T>((value) => typeof value === 'string' && value.length > 0);
}

/** A piece whose type is stated elsewhere: `shape` checks what the mapper and the engine rely on. */
function checked<T>(shape: z.ZodMiniType): z.ZodMiniType<T> {
  return z.custom<T>((value) => shape.safeParse(value).success);
}

export const turnId = id<TurnId>();
export const messageId = id<MessageId>();
export const commandId = id<CommandId>();
export const toolCallId = id<ToolCallId>();
export const gateId = id<GateId>();
export const processId = id<ProcessId>();

export const count = z.int().check(z.nonnegative());
const amount = z.number().check(z.nonnegative());
export const json = z.custom<Json>((value) => value !== undefined);
export const jsonObject = z.custom<JsonObject>(isObject);

export const usage: z.ZodMiniType<Usage> = z.object({
  inputTokens: amount,
  outputTokens: amount,
  cachedInputTokens: z.exactOptional(amount),
  thoughtTokens: z.exactOptional(amount),
  costUsd: z.exactOptional(amount),
});

export const budget: z.ZodMiniType<Budget> = z.object({
  steps: z.exactOptional(amount),
  seconds: z.exactOptional(amount),
  tokens: z.exactOptional(amount),
  costUsd: z.exactOptional(amount),
});

export const mode = z.enum(MODES);
export const thoughtLevel = z.enum(THOUGHT_LEVELS);

export const sessionConfig: z.ZodMiniType<SessionConfig> = z.object({
  mode,
  model: z.string(),
  thoughtLevel,
  budget,
  judge: z.exactOptional(z.string()),
  gateSeconds: z.exactOptional(amount),
  checkpoints: z.exactOptional(z.enum(CHECKPOINT_POLICIES)),
});

export const actor: z.ZodMiniType<Actor> = z.object({
  clientId: z.string(),
  role: z.enum(['host_owner', 'observer']),
  source: z.string(),
});

export const terminal: z.ZodMiniType<Terminal> = z.object({
  kind: z.enum([
    'natural',
    'user_cancelled',
    'policy_budget',
    'completion_unverified',
    'policy_no_progress',
    'policy_guardrail',
    'policy_stop',
    'provider_error',
    'runtime_error',
    'suspended',
    'unknown',
  ]),
  owner: z.enum(['agent', 'user', 'policy', 'provider', 'harness', 'unknown']),
  reason: z.string(),
  limit: z.exactOptional(
    z.object({ kind: z.enum(['steps', 'seconds', 'tokens', 'costUsd']), value: z.number() }),
  ),
});

export const stopReason: z.ZodMiniType<StopReason> = z.enum([
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
]);

export const toolKind: z.ZodMiniType<ToolKind> = z.enum([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
]);

export const contentBlock = checked<ContentBlock>(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
    z.object({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
    z.object({ type: z.literal('resource_link'), name: z.string(), uri: z.string() }),
    z.object({ type: z.literal('resource'), resource: z.object({ uri: z.string() }) }),
  ]),
);

export const toolCallContent = checked<ToolCallContent>(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('content'), content: contentBlock }),
    z.object({
      type: z.literal('diff'),
      path: z.string(),
      newText: z.string(),
      oldText: z.nullish(z.string()),
    }),
    z.object({ type: z.literal('terminal'), terminalId: z.string() }),
  ]),
);

export const toolCallLocation = checked<ToolCallLocation>(
  z.object({ path: z.string(), line: z.nullish(z.number()) }),
);

export const planEntry = checked<PlanEntry>(
  z.object({
    content: z.string(),
    priority: z.enum(['high', 'medium', 'low']),
    status: z.enum(['pending', 'in_progress', 'completed']),
  }),
);

export const availableCommand = checked<AvailableCommand>(
  z.object({ name: z.string(), description: z.string() }),
);

const permissionOption = checked<PermissionOption>(
  z.object({
    optionId: z.string(),
    name: z.string(),
    kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
  }),
);

export const modelToolCall: z.ZodMiniType<ModelToolCall> = z.object({
  toolCallId,
  name: z.string(),
  input: jsonObject,
  inputError: z.exactOptional(z.string()),
});

export const modelToolResult: z.ZodMiniType<ModelToolResult> = z.object({
  toolCallId,
  name: z.string(),
  status: z.enum(['completed', 'failed', 'denied', 'cancelled', 'interrupted', 'outcome_unknown']),
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image'), mimeType: z.string(), data: z.string() }),
      z.object({ type: z.literal('audio'), mimeType: z.string(), data: z.string() }),
    ]),
  ),
});

export const gateRequest: z.ZodMiniType<GateRequest> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('permission'),
    toolCallId,
    tool: z.string(),
    title: z.string(),
    toolKind,
    input: jsonObject,
    locations: z.array(toolCallLocation),
    content: z.array(toolCallContent),
    reason: z.string(),
    details: z.array(z.string()),
    options: z.array(permissionOption),
  }),
  z.object({
    kind: z.literal('ask'),
    toolCallId,
    message: z.string(),
    schema: z.custom<ElicitationSchema>(isObject),
  }),
  z.object({
    kind: z.literal('auth'),
    target: z.string(),
    targetKind: z.enum(['model', 'mcp']),
    message: z.string(),
    url: z.exactOptional(z.string()),
    waitsFor: z.exactOptional(z.literal('editor')),
  }),
]);

export const gateAnswer: z.ZodMiniType<GateAnswer> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('selected'),
    optionId: z.string(),
    note: z.exactOptional(z.string()),
  }),
  z.object({ kind: z.literal('accepted'), content: jsonObject }),
  z.object({ kind: z.literal('declined'), reason: z.exactOptional(z.string()) }),
  z.object({
    kind: z.literal('cancelled'),
    reason: z.enum([
      'turn_cancelled',
      'interrupted',
      'call_cancelled',
      'client_gone',
      'session_closed',
      'restart',
    ]),
  }),
]);

export const receipt: z.ZodMiniType<ControlOutcome> = z.object({
  session_id: z.string(),
  control_id: z.string(),
  method: z.enum(CONTROLS),
  outcome: z.string(),
  status: z.enum(['accepted', 'idempotent', 'rejected']),
  actor,
  target: z.record(z.string(), z.string()),
  reason: z.exactOptional(z.string()),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
