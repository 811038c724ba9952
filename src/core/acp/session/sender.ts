import type { Json, JsonObject } from '../../../base/json.ts';
import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { ControlOutcome } from '../../../protocol/controls.ts';
import type { FrameMark } from '../../../protocol/harn.ts';
import type { RpcPeer } from '../../../protocol/transport/rpc-types.ts';
import type { SessionId } from '../../session/words.ts';

/** What a frame says about the event it carries, without the session. */
export type EventMark = Omit<FrameMark, 'sessionId'>;

/** Sends what happens in sessions as notifications, each with its mark (design §6). */
export class UpdateSender {
  readonly #peer: RpcPeer;

  constructor(peer: RpcPeer) {
    this.#peer = peer;
  }

  /** True while the client does not read what it was sent. */
  get isBehind(): boolean {
    return this.#peer.isBehind;
  }

  update(sessionId: SessionId, update: SessionUpdate, mark: EventMark): void {
    this.#send('session/update', { sessionId, update }, { ...mark, sessionId });
  }

  /** A Harn event that is not part of ACP. */
  agentEvent(
    sessionId: SessionId,
    kind: string,
    payload: ControlOutcome | { readonly [key: string]: Json },
    mark: EventMark,
  ): void {
    this.#send('_harn/agentEvent', { sessionId, kind, ...payload }, { ...mark, sessionId });
  }

  #send(method: string, params: object, mark: FrameMark): void {
    const marked = { ...params, _meta: { harn: mark } };
    this.#peer.notify(method, marked, { _harn: mark });
  }
}

/**
 * Joins two updates that follow each other while a client is behind: streamed text of one message, or live output
 * of one tool call. The joined frame carries the offset of the first and the event id of the second.
 */
export function mergeUpdates(earlier: object, later: object): object | undefined {
  const first = updateFrame(earlier);
  const second = updateFrame(later);
  if (!first || !second || first.params.sessionId !== second.params.sessionId) return undefined;
  if (first._harn.replayed !== second._harn.replayed) return undefined;
  const update = joined(first.params.update, second.params.update);
  if (update === undefined) return undefined;
  const { offset } = first._harn;
  const mark = { ...second._harn, ...(offset === undefined ? {} : { offset }) };
  return {
    ...second,
    _harn: mark,
    params: { ...second.params, update, _meta: { harn: mark } },
  };
}

type UpdateFrame = {
  readonly method: 'session/update';
  readonly params: { readonly sessionId: string; readonly update: SessionUpdate };
  readonly _harn: FrameMark;
};

/** Only `UpdateSender` makes messages with this method, so the method tells the shape. */
function updateFrame(message: object): UpdateFrame | undefined {
  return 'method' in message && message.method === 'session/update'
    ? (message as UpdateFrame)
    : undefined;
}

function joined(first: SessionUpdate, second: SessionUpdate): SessionUpdate | undefined {
  const { sessionUpdate } = first;
  if (sessionUpdate === 'tool_call_update') return joinedOutput(first, second);
  if (sessionUpdate !== 'agent_message_chunk' && sessionUpdate !== 'agent_thought_chunk')
    return undefined;
  if (second.sessionUpdate !== sessionUpdate || second.messageId !== first.messageId)
    return undefined;
  if (first.content.type !== 'text' || second.content.type !== 'text') return undefined;
  return { ...first, content: { type: 'text', text: first.content.text + second.content.text } };
}

function joinedOutput(
  first: Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }>,
  second: SessionUpdate,
): SessionUpdate | undefined {
  if (second.sessionUpdate !== 'tool_call_update' || second.toolCallId !== first.toolCallId)
    return undefined;
  const [before, after] = [liveOutput(first._meta), liveOutput(second._meta)];
  if (before === undefined || after === undefined) return undefined;
  return { ...first, _meta: { pilothouse: { output: before + after } } };
}

function liveOutput(meta: unknown): string | undefined {
  const { pilothouse } = (meta ?? {}) as { pilothouse?: JsonObject };
  const output = pilothouse?.['output'];
  return typeof output === 'string' ? output : undefined;
}
