import type { Json, JsonObject } from '../../../base/json.ts';
import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { ControlOutcome } from '../../../protocol/controls.ts';
import type { FrameMark, WireUpdate } from '../../../protocol/harn.ts';
import type { PilothouseClientNotifications } from '../../../protocol/pilothouse.ts';
import type { Merged } from '../../../protocol/transport/outbound-queue.ts';
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

  /** How much waits for it, in characters. */
  get queuedChars(): number {
    return this.#peer.queuedChars;
  }

  /** Resolves when it has read what it was sent, or reads no more. */
  taken(): Promise<void> {
    return this.#peer.taken();
  }

  update(sessionId: SessionId, update: WireUpdate, mark: EventMark): void {
    const harn: FrameMark = { ...mark, sessionId };
    this.#peer.notify('session/update', { sessionId, update, _meta: { harn } }, { _harn: harn });
  }

  /** A notification of our own extension; only for clients that declared it. */
  extension<M extends keyof PilothouseClientNotifications>(
    method: M,
    params: PilothouseClientNotifications[M],
  ): void {
    this.#peer.notify(method, params);
  }

  /** A Harn event that is not part of ACP. */
  agentEvent(
    sessionId: SessionId,
    kind: string,
    payload: ControlOutcome | { readonly [key: string]: Json },
    mark: EventMark,
  ): void {
    const harn: FrameMark = { ...mark, sessionId };
    const params = { sessionId, kind, ...payload, _meta: { harn } };
    this.#peer.notify('_harn/agentEvent', params, { _harn: harn });
  }
}

/**
 * Joins two updates that follow each other while a client is behind: streamed text of one message, or live output
 * of one tool call. The joined frame carries the offset of the first and the event id of the second.
 */
export function mergeUpdates(earlier: object, later: object): Merged | undefined {
  const first = updateFrame(earlier);
  const second = updateFrame(later);
  if (!first || !second || first.params.sessionId !== second.params.sessionId) return undefined;
  if (first._harn.replayed !== second._harn.replayed) return undefined;
  const joint = joined(first.params.update, second.params.update);
  if (joint === undefined) return undefined;
  const { offset } = first._harn;
  const mark = { ...second._harn, ...(offset === undefined ? {} : { offset }) };
  const params = { ...second.params, update: joint.update, _meta: { harn: mark } };
  return { message: { ...second, _harn: mark, params }, added: joint.added };
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

type Joint = { readonly update: SessionUpdate; readonly added: number };

function joined(first: SessionUpdate, second: SessionUpdate): Joint | undefined {
  const { sessionUpdate } = first;
  if (sessionUpdate === 'tool_call_update') return joinedOutput(first, second);
  if (sessionUpdate !== 'agent_message_chunk' && sessionUpdate !== 'agent_thought_chunk')
    return undefined;
  if (second.sessionUpdate !== sessionUpdate || second.messageId !== first.messageId)
    return undefined;
  if (first.content.type !== 'text' || second.content.type !== 'text') return undefined;
  const { text } = second.content;
  const content = { type: 'text', text: first.content.text + text } as const;
  return { update: { ...first, content }, added: text.length };
}

function joinedOutput(
  first: Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }>,
  second: SessionUpdate,
): Joint | undefined {
  if (second.sessionUpdate !== 'tool_call_update' || second.toolCallId !== first.toolCallId)
    return undefined;
  const [before, after] = [liveOutput(first._meta), liveOutput(second._meta)];
  if (before === undefined || after === undefined) return undefined;
  const update = { ...first, _meta: { pilothouse: { output: before + after } } };
  return { update, added: after.length };
}

function liveOutput(meta: unknown): string | undefined {
  const { pilothouse } = (meta ?? {}) as { pilothouse?: JsonObject };
  const output = pilothouse?.['output'];
  return typeof output === 'string' ? output : undefined;
}
