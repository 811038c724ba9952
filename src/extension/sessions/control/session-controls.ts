import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ChatInjectMode } from '../../../protocol/chat.ts';
import type { QueueChanged } from '../../../protocol/pilothouse.ts';
import type { AgentConnection } from '../../core/connection.ts';
import type { AgentMethod, AgentMethods } from '../../core/methods.ts';
import { controlError } from './refused.ts';
import type { Waiting } from './waiting.ts';

/** How long a control may take, in milliseconds: the agent answers these from memory. */
const CONTROL_TIMEOUT_MS = 15_000;

/** What the controls work with. */
export type ControlPorts = {
  readonly sessionId: string;
  readonly newId: () => string;
  readonly connect: () => Promise<AgentConnection>;
  readonly waiting: Waiting;
  readonly changed: () => void;
  /** Hears of every error, as it came. */
  readonly refused: (error: unknown) => void;
};

/**
 * The controls of one session that act on its running turn and on what waits. They go out in the order of the calls.
 * Each rejects with a `ControlError` if the agent refused it, or an `AgentRequestError` if no answer came.
 */
export class SessionControls {
  readonly #ports: ControlPorts;

  constructor(ports: ControlPorts) {
    this.#ports = ports;
  }

  /** Puts a message on its way into the running turn; resolves with its id once the agent has it durably. */
  async inject(mode: ChatInjectMode, content: readonly ContentBlock[]): Promise<string> {
    const { sessionId, newId } = this.#ports;
    const _meta = { pilothouse: { commandId: newId() } };
    const answer = await this.#ask('session/inject', { sessionId, mode, content, _meta });
    return answer.messageId;
  }

  /** Takes a pending message back. */
  async revoke(messageId: string): Promise<void> {
    const { sessionId, waiting } = this.#ports;
    await this.#ask('session/revoke_inject', { sessionId, messageId });
    waiting.explain(messageId);
    this.#ports.changed();
  }

  /** Changes what a pending message says; it keeps its place. */
  async replace(messageId: string, content: readonly ContentBlock[]): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#ask('session/replace_inject', { sessionId, messageId, content });
  }

  /** Ends one call, of a delegate if its loop is named; the turn goes on. */
  async stopTool(toolCallId: string, loopId?: string): Promise<string> {
    const { sessionId } = this.#ports;
    const loop = loopId === undefined ? {} : { _meta: { pilothouse: { loopId } } };
    const params = { sessionId, toolCallId, ...loop };
    return (await this.#ask('session/cancel_tool_call', params)).status;
  }

  /** Holds a message for a later turn; resolves with its id. */
  async queue(content: readonly ContentBlock[]): Promise<string | null> {
    const { sessionId, newId } = this.#ports;
    return this.#queue('_pilothouse/queue/add', { sessionId, content, itemId: newId() });
  }

  async editQueued(itemId: string, content: readonly ContentBlock[]): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#queue('_pilothouse/queue/edit', { sessionId, itemId, content });
  }

  /** `before` null: to the end. */
  async moveQueued(itemId: string, before: string | null): Promise<void> {
    const { sessionId } = this.#ports;
    const place = before === null ? {} : { before };
    await this.#queue('_pilothouse/queue/move', { sessionId, itemId, ...place });
  }

  async removeQueued(itemId: string): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#queue('_pilothouse/queue/remove', { sessionId, itemId });
  }

  /** Stops what runs and sends this one next. */
  async sendQueuedNow(itemId: string): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#queue('_pilothouse/queue/send_now', { sessionId, itemId });
  }

  /** Nothing of the queue is sent until it is resumed. */
  async pauseQueue(): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#queue('_pilothouse/queue/pause', { sessionId });
  }

  async resumeQueue(): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#queue('_pilothouse/queue/resume', { sessionId });
  }

  async #queue<M extends AgentMethod & `_pilothouse/queue/${string}`>(
    method: Exclude<M, '_pilothouse/queue/list'>,
    params: AgentMethods[M][0],
  ): Promise<string | null> {
    const answer = (await this.#ask(method, params)) as QueueChanged;
    return answer.itemId;
  }

  async #ask<M extends AgentMethod>(
    method: M,
    params: AgentMethods[M][0],
  ): Promise<AgentMethods[M][1]> {
    const connection = await this.#ports.connect();
    try {
      return await connection.request(method, params, { timeoutMs: CONTROL_TIMEOUT_MS });
    } catch (error) {
      this.#ports.refused(error);
      throw controlError(error);
    }
  }
}
