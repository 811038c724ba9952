import type { CreateElicitationRequest, RequestPermissionRequest } from '../../../protocol/acp.ts';
import type { GateExtras } from '../../../protocol/acp-meta.ts';
import type { PilothouseClientMethods } from '../../../protocol/pilothouse.ts';
import type { OpenGate } from '../../host/api.ts';
import type { GateRequest } from '../../session/gate-words.ts';
import type { SessionId } from '../../session/words.ts';
import type { ClientFacts } from '../client-facts.ts';

/** A gate as it is asked, without when it opened. */
export type AskedGate = Pick<OpenGate, 'gateId' | 'request' | 'loopId' | 'loopName'>;

type Of<K extends GateRequest['kind']> = Extract<GateRequest, { kind: K }>;

/** What is sent to the client for a gate. `none` says why it can't be asked there; the model reads it. */
export type GateCall =
  | { readonly method: 'session/request_permission'; readonly params: RequestPermissionRequest }
  | {
      readonly method: 'elicitation/create';
      readonly params: CreateElicitationRequest;
      readonly mode: 'form' | 'url';
    }
  | {
      readonly method: '_pilothouse/auth';
      readonly params: PilothouseClientMethods['_pilothouse/auth'][0];
    }
  | { readonly method: 'none'; readonly why: string };

/** Chooses how a client is asked. It is only ever asked in ways it said it knows. */
export function gateCall(sessionId: SessionId, gate: AskedGate, facts: ClientFacts): GateCall {
  const { request, gateId } = gate;
  switch (request.kind) {
    case 'permission':
      return { method: 'session/request_permission', params: permission(sessionId, gate, request) };
    case 'ask':
      return facts.forms
        ? { method: 'elicitation/create', mode: 'form', params: form(sessionId, gate, request) }
        : {
            method: 'none',
            why: 'The connected client cannot show questions. Go on without an answer.',
          };
    case 'auth': {
      const { target, targetKind, message, url, waitsFor } = request;
      const link = {
        ...(url === undefined ? {} : { url }),
        ...(waitsFor === undefined ? {} : { waitsFor }),
      };
      if (facts.pilothouse)
        return {
          method: '_pilothouse/auth',
          params: {
            sessionId,
            ...extras(gate),
            target,
            targetKind,
            message: named(gate, message),
            ...link,
          },
        };
      if (facts.urls && url !== undefined)
        return {
          method: 'elicitation/create',
          mode: 'url',
          params: {
            sessionId,
            mode: 'url',
            elicitationId: gateId,
            url,
            message: named(gate, message),
          },
        };
      return { method: 'none', why: 'The connected client cannot sign in.' };
    }
  }
}

function permission(
  sessionId: SessionId,
  gate: AskedGate,
  request: Of<'permission'>,
): RequestPermissionRequest {
  const { toolCallId, tool, title, toolKind, input, locations, content, options } = request;
  return {
    sessionId,
    toolCall: {
      toolCallId,
      name: tool,
      title: named(gate, title),
      kind: toolKind,
      status: 'pending',
      rawInput: input,
      locations: [...locations],
      content: [...content],
    },
    options: [...options],
    _meta: {
      pilothouse: { ...extras(gate), reason: request.reason, details: request.details },
    },
  };
}

function form(sessionId: SessionId, gate: AskedGate, request: Of<'ask'>): CreateElicitationRequest {
  return {
    sessionId,
    toolCallId: request.toolCallId,
    mode: 'form',
    message: named(gate, request.message),
    requestedSchema: request.schema,
    _meta: { pilothouse: extras(gate) },
  };
}

/** A delegate asks in its session's name: a person has to see who wants it. */
function named({ loopId, loopName }: AskedGate, text: string): string {
  return loopId === undefined ? text : `${loopName ?? loopId}: ${text}`;
}

function extras({ gateId, loopId }: AskedGate): Pick<GateExtras, 'gateId' | 'loopId'> {
  return { gateId, ...(loopId === undefined ? {} : { loopId }) };
}
