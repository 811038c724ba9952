import type { Actor } from '../../../protocol/controls.ts';
import type { ListedLoop } from '../../../protocol/pilothouse.ts';
import type { LoopEntries } from '../../session/commands/entry-points.ts';
import type { LoopId, SessionId } from '../../session/words.ts';
import type { OpenGate } from '../api.ts';
import type { HostedSession } from '../hosted-session.ts';
import type { DurableSession } from './durable-session.ts';

/** A hosted session as durable commands reach it. */
export class HostedDurable implements DurableSession {
  readonly #hosted: HostedSession;

  constructor(hosted: HostedSession) {
    this.#hosted = hosted;
  }

  get sessionId(): SessionId {
    return this.#hosted.sessionId;
  }

  get activeLoopId(): LoopId {
    return this.#hosted.activeLoopId;
  }

  get #root(): LoopId {
    return this.sessionId as string as LoopId;
  }

  entries(loopId: LoopId): LoopEntries | Promise<LoopEntries | null> {
    return loopId === this.#root
      ? this.#hosted.session.entries
      : this.#hosted.delegates.entries(loopId);
  }

  openGates(): readonly OpenGate[] {
    return this.#hosted.openGates();
  }

  listLoops(): readonly ListedLoop[] {
    return this.#hosted.delegates.loops();
  }

  async activate(loopId: LoopId, actor: Actor): Promise<void> {
    const { activeLoopId: previous } = this;
    await this.#hosted.session.recordControl({
      type: 'active_loop_changed',
      previous,
      active: loopId,
      actor,
    });
  }

  messageDelegate: DurableSession['messageDelegate'] = (loopId, text, origin) =>
    this.#hosted.delegates.message(loopId, text, origin);

  stopDelegate: DurableSession['stopDelegate'] = (loopId) => this.#hosted.delegates.stop(loopId);

  createCheckpoint: DurableSession['createCheckpoint'] = (origin) =>
    this.#hosted.session.checkpointWorkspace(origin);
}
