import type { JsonObject } from '../../../base/json.ts';
import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { GateMark } from '../../../protocol/acp-meta.ts';
import type { HistoryEvent } from '../../session/events.ts';
import { type Audience, metaFor } from './projected.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;

/** The person's message, one chunk a content block; what the machine began a turn with is no person's. */
export function promptOf(event: Of<'turn_started'>, audience: Audience): readonly SessionUpdate[] {
  if (event.origin === 'machine') {
    const texts = event.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return machineText(texts.join('\n'), audience);
  }
  return event.content.map((content) => ({
    sessionUpdate: 'user_message_chunk',
    messageId: event.messageId,
    content,
  }));
}

/** Tells clients of ours that a turn began. */
export function turnStarted(event: Of<'turn_started'>, audience: Audience): SessionUpdate[] {
  if (!audience.extras) return [];
  const { turnId, commandId, messageId, origin } = event;
  const machine = origin === undefined ? {} : { origin };
  const turn = { state: 'started', turnId, commandId, messageId, ...machine } as const;
  return [{ sessionUpdate: 'session_info_update', ...metaFor(audience, { pilothouse: { turn } }) }];
}

/** A turn's end moves the session's time; why a failed one failed has to be said somewhere people look. */
export function turnEnded(
  event: Of<'turn_ended'>,
  at: number,
  audience: Audience,
): SessionUpdate[] {
  const { turnId, stopReason, terminal } = event;
  const isFailure = terminal.kind === 'provider_error' || terminal.kind === 'runtime_error';
  const turn = { state: 'ended', turnId, stopReason, terminal } as const;
  return [
    ...(isFailure && !audience.extras ? [failure(event, audience)] : []),
    {
      sessionUpdate: 'session_info_update',
      updatedAt: isoTime(at),
      ...metaFor(audience, { pilothouse: { turn } }),
    },
  ];
}

function failure(event: Of<'turn_ended'>, audience: Audience): SessionUpdate {
  const { reason } = event.terminal;
  if (audience.notices)
    return {
      sessionUpdate: 'notice',
      severity: 'error',
      title: 'The turn failed',
      description: reason,
    };
  return {
    sessionUpdate: 'agent_message_chunk',
    messageId: `failure-${event.turnId}`,
    content: { type: 'text', text: `The turn failed: ${reason}` },
  };
}

/** A gate's opening, for clients that show a history of decisions. */
export function gateOpened(event: Of<'gate_opened'>, audience: Audience): SessionUpdate[] {
  const { gateId, request } = event;
  return gateMark(audience, {
    state: 'opened',
    gateId,
    kind: request.kind,
    ...(request.kind === 'auth' ? {} : { toolCallId: request.toolCallId }),
    title: request.kind === 'permission' ? request.title : request.message,
  });
}

/** A gate's answer. */
export function gateResolved(event: Of<'gate_resolved'>, audience: Audience): SessionUpdate[] {
  const answer: JsonObject = { ...event.answer };
  return gateMark(audience, {
    state: 'resolved',
    gateId: event.gateId,
    answer,
    by: event.actor.clientId,
  });
}

function gateMark(audience: Audience, gate: GateMark): SessionUpdate[] {
  if (!audience.extras) return [];
  return [{ sessionUpdate: 'session_info_update', ...metaFor(audience, { pilothouse: { gate } }) }];
}

/** Machine input, which ACP has no update for. */
export function machineMessage(event: Of<'machine_message'>, audience: Audience): SessionUpdate[] {
  return machineText(event.text, audience);
}

function machineText(machine: string, audience: Audience): SessionUpdate[] {
  if (!audience.extras) return [];
  const pilothouse = { machine };
  return [{ sessionUpdate: 'session_info_update', ...metaFor(audience, { pilothouse }) }];
}

/** ACP's form of a time. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
