import type { OpenGate } from '../../../src/core/host/api.ts';
import type { DurableSession } from '../../../src/core/host/controls/durable-session.ts';
import type { LoopEntries } from '../../../src/core/session/commands/entry-points.ts';
import type { GateId, LoopId, SessionId } from '../../../src/core/session/words.ts';
import type { ListedLoop } from '../../../src/protocol/pilothouse.ts';
import type { FakeSession } from './fake-session.ts';

/** The delegates and durable commands of a session without an engine. */
export class FakeDurable implements DurableSession {
  readonly #session: FakeSession;
  /** What tests answer; what is missing rejects. A gate is answered by the fake session itself. */
  readonly scripted: Partial<LoopEntries> = {};
  readonly delegates = new Map<string, ListedLoop>();
  readonly messages: { loopId: LoopId; text: string }[] = [];
  activeLoopId: LoopId;

  constructor(session: FakeSession) {
    this.#session = session;
    this.activeLoopId = session.sessionId as string as LoopId;
  }

  get sessionId(): SessionId {
    return this.#session.sessionId;
  }

  entries(loopId: LoopId): LoopEntries | Promise<LoopEntries | null> {
    const isKnown = (loopId as string) === this.sessionId || this.delegates.has(loopId);
    if (!isKnown) return Promise.resolve(null);
    const respondToGate: LoopEntries['respondToGate'] = (gateId: GateId, answer, { actor }) =>
      this.#session.answerGate(gateId, answer, actor);
    return new Proxy({ respondToGate, ...this.scripted } as Partial<LoopEntries>, {
      get: (target, name) =>
        // It is no promise, though it may be awaited.
        name === 'then'
          ? undefined
          : (Reflect.get(target, name) ??
            (() => Promise.reject(new Error(`The test did not script ${String(name)}`)))),
    }) as LoopEntries;
  }

  openGates(): readonly OpenGate[] {
    return this.#session.openGates();
  }

  listLoops(): readonly ListedLoop[] {
    return [rootLoop(this.#session), ...this.delegates.values()];
  }

  async activate(loopId: LoopId): Promise<void> {
    this.activeLoopId = loopId;
  }

  messageDelegate: DurableSession['messageDelegate'] = async (loopId, text) => {
    this.messages.push({ loopId, text });
    return { requestId: `request-${this.messages.length}`, delivery: 'steered' };
  };

  stopDelegate: DurableSession['stopDelegate'] = async (loopId) =>
    this.delegates.get(loopId)?.state === 'running';

  createCheckpoint: DurableSession['createCheckpoint'] = async () => ({
    checkpointId: 'turn_kept',
    files: { before: 'a', after: 'b', coverage: 'full', changed: [] },
    isRepeat: false,
  });
}

function rootLoop(session: FakeSession): ListedLoop {
  return {
    loopId: session.sessionId,
    parentLoopId: null,
    name: '',
    state: session.isActive ? 'running' : 'idle',
    depth: 0,
    openGates: session.openGates().length,
    prompt: '',
    toolCallId: null,
    lastEventId: session.records.length,
  };
}
