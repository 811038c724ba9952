import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { JsonObject } from '../../base/json.ts';
import type { CreateElicitationResponse, RequestPermissionResponse } from '../../protocol/acp.ts';
import { diffsOf, inputText } from '../chat/model/tool-state.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import { badParams } from '../core/client-requests.ts';
import { toolContent } from '../core/shapes.ts';
import type { Gate, GateQuestion } from './gate.ts';
import type { GateStore } from './gate-store.ts';

const META = z.optional(
  z.nullable(
    z.looseObject({
      pilothouse: z.optional(
        z.looseObject({
          gateId: z.optional(z.string()),
          loopId: z.optional(z.string()),
          reason: z.optional(z.string()),
          details: z.optional(z.array(z.string())),
        }),
      ),
    }),
  ),
);

const KINDS = [
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
] as const;

const PERMISSION = z.looseObject({
  sessionId: z.string(),
  toolCall: z.looseObject({
    toolCallId: z.string(),
    title: z.optional(z.nullable(z.string())),
    kind: z.optional(z.nullable(z.string())),
    content: z.optional(z.nullable(z.array(z.unknown()))),
    rawInput: z.optional(z.unknown()),
  }),
  options: z.array(
    z.looseObject({
      optionId: z.string(),
      name: z.string(),
      kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
    }),
  ),
  _meta: META,
});

const ELICITATION = z.looseObject({
  sessionId: z.optional(z.string()),
  message: z.string(),
  mode: z.string(),
  requestedSchema: z.optional(z.custom<JsonObject>((value) => typeof value === 'object')),
  elicitationId: z.optional(z.string()),
  url: z.optional(z.string()),
  _meta: META,
});

const AUTH = z.looseObject({
  sessionId: z.string(),
  gateId: z.string(),
  loopId: z.optional(z.string()),
  target: z.string(),
  targetKind: z.enum(['model', 'mcp']),
  message: z.string(),
  url: z.optional(z.string()),
  waitsFor: z.optional(z.literal('editor')),
});

/** Ids and time for gates whose asker named none. */
export type GatePorts = { readonly now: () => number; readonly newId: () => string };

/** Turns the agent's questions into gates and their answers into replies. */
export function serveGates(calls: ClientCalls, gates: GateStore, ports: GatePorts): Disposable {
  const store = new DisposableStore();
  store.add(
    calls.onRequest('session/request_permission', async (params, signal) =>
      askPermission(gates, ports, params, signal),
    ),
  );
  store.add(
    calls.onRequest('elicitation/create', async (params, signal) =>
      askForm(gates, ports, params, signal),
    ),
  );
  store.add(
    calls.onRequest('_pilothouse/auth', async (params, signal) => {
      const own = parsed('_pilothouse/auth', AUTH, params);
      const { sessionId, gateId, target, targetKind, message, url } = own;
      const { waitsFor } = own;
      const link = {
        ...(url === undefined ? {} : { url }),
        ...(waitsFor === undefined ? {} : { waitsFor }),
      };
      const question: GateQuestion = { kind: 'auth', target, targetKind, message, ...link };
      const answer = await gates.ask(
        { gateId, sessionId, ...loopOf(own), openedAt: ports.now(), question },
        signal,
      );
      return { outcome: answer.kind === 'accepted' ? 'done' : 'cancelled' };
    }),
  );
  store.add(
    calls.onNotification('elicitation/complete', (params) => {
      const id = z.safeParse(z.looseObject({ elicitationId: z.string() }), params);
      if (id.success) gates.answer(id.data.elicitationId, { kind: 'accepted', content: {} });
    }),
  );
  return store;
}

async function askPermission(
  gates: GateStore,
  ports: GatePorts,
  params: unknown,
  signal: AbortSignal,
): Promise<RequestPermissionResponse> {
  const request = parsed('session/request_permission', PERMISSION, params);
  const own = request._meta?.pilothouse;
  const { toolCall } = request;
  const gate: Gate = {
    gateId: own?.gateId ?? `permission:${request.sessionId}:${toolCall.toolCallId}`,
    sessionId: request.sessionId,
    ...loopOf(own),
    openedAt: ports.now(),
    question: {
      kind: 'permission',
      toolCallId: toolCall.toolCallId,
      title: toolCall.title ?? toolCall.toolCallId,
      toolKind: KINDS.find((kind) => kind === toolCall.kind) ?? 'other',
      reason: own?.reason ?? '',
      details: own?.details ?? detailsOf(toolCall.rawInput),
      diffs: diffsOf((toolCall.content ?? []).filter(toolContent)),
      options: request.options.map(({ optionId, name, kind }) => ({
        optionId,
        name: optionName(optionId, name),
        kind,
      })),
    },
  };
  const answer = await gates.ask(gate, signal);
  return answer.kind === 'selected'
    ? { outcome: { outcome: 'selected', optionId: answer.optionId } }
    : { outcome: { outcome: 'cancelled' } };
}

function loopOf(own: { readonly loopId?: string | undefined } | undefined): { loopId?: string } {
  return own?.loopId === undefined ? {} : { loopId: own.loopId };
}

/** The two answers that every question of our own agent offers, in the person's language. */
function optionName(optionId: string, name: string): string {
  if (optionId === 'allow_once') return l10n.t('Allow once');
  return optionId === 'reject_once' ? l10n.t('Reject') : name;
}

function detailsOf(rawInput: unknown): string[] {
  const text = inputText(rawInput);
  return text === '' ? [] : [text];
}

async function askForm(
  gates: GateStore,
  ports: GatePorts,
  params: unknown,
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  const request = parsed('elicitation/create', ELICITATION, params);
  const own = request._meta?.pilothouse;
  const gateId = own?.gateId ?? request.elicitationId ?? ports.newId();
  const gate = {
    gateId,
    sessionId: request.sessionId ?? '',
    ...loopOf(own),
    openedAt: ports.now(),
    question: formQuestion(request),
  };
  const answer = await gates.ask(gate, signal);
  switch (answer.kind) {
    case 'accepted':
      return request.mode === 'url'
        ? { action: 'accept' }
        : { action: 'accept', content: flatContent(answer.content) };
    case 'declined':
      return { action: 'decline' };
    case 'selected':
    case 'cancelled':
      return { action: 'cancel' };
  }
}

function formQuestion(request: z.infer<typeof ELICITATION>): GateQuestion {
  if (request.mode === 'url' && request.url !== undefined)
    return {
      kind: 'auth',
      target: hostOf(request.url),
      targetKind: 'link',
      message: request.message,
      url: request.url,
    };
  if (request.mode !== 'form' || !request.requestedSchema)
    throw badParams('elicitation/create', `mode ${request.mode} is not supported`);
  return { kind: 'ask', message: request.message, schema: request.requestedSchema };
}

function flatContent(content: JsonObject): Record<string, string | number | boolean | string[]> {
  const flat: Record<string, string | number | boolean | string[]> = {};
  for (const [name, value] of Object.entries(content)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      flat[name] = value;
    else if (Array.isArray(value)) flat[name] = value.map(String);
  }
  return flat;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function parsed<T extends z.ZodMiniType>(method: string, schema: T, params: unknown): z.infer<T> {
  const result = z.safeParse(schema, params);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw badParams(method, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}
