import { isObject } from '../../../../src/base/json.ts';
import type { AcpTestClient } from '../../acp-client/client.ts';
import type { Told } from '../checker/evidence.ts';

/** What clients were told of events that are kept, over all connections. */
export class ToldLog {
  readonly all: Told[] = [];
  readonly #taken = new WeakMap<AcpTestClient, number>();

  /** Takes what a client received since it was taken last. */
  take(client: AcpTestClient): void {
    const from = this.#taken.get(client) ?? 0;
    this.#taken.set(client, client.frames.length);
    for (const { message } of client.frames.slice(from)) {
      if (message === null) continue;
      const params = isObject(message['params']) ? message['params'] : {};
      const told =
        message['method'] === '_pilothouse/event' ? toldEvent(params) : toldUpdate(message, params);
      if (told !== null) this.all.push(told);
    }
  }

  /** What a load said of the whole history. */
  loaded(sessionId: string, result: Readonly<Record<string, unknown>>): void {
    const { lastEventId, prefix_hash: hash } = result;
    if (typeof lastEventId === 'number' && typeof hash === 'string')
      this.all.push({ sessionId, eventId: lastEventId, hash });
  }
}

function toldEvent(params: Readonly<Record<string, unknown>>): Told | null {
  const { loopId, class: kind, eventId, hash } = params;
  if (kind !== 'history' || typeof eventId !== 'number' || typeof hash !== 'string') return null;
  return { sessionId: String(loopId), eventId, hash };
}

function toldUpdate(
  message: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, unknown>>,
): Told | null {
  const mark = message['_harn'];
  if (!isObject(mark) || typeof mark['eventId'] !== 'number') return null;
  const update = isObject(params['update']) ? params['update'] : {};
  const { sessionUpdate, toolCallId } = update;
  const isCall = sessionUpdate === 'tool_call' && typeof toolCallId === 'string';
  return {
    sessionId: String(mark['sessionId']),
    eventId: mark['eventId'],
    ...(isCall ? { toolCallId } : {}),
  };
}
