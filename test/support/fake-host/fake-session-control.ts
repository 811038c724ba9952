import { Inbox } from '../../../src/core/session/control/inbox.ts';
import { NextTurnQueue } from '../../../src/core/session/control/next-turns.ts';
import { ControlRefused } from '../../../src/core/session/control/refusal.ts';
import type {
  CallCancelled,
  NewInject,
  QueueChanged,
  QueueRequest,
} from '../../../src/core/session/control/session-control.ts';
import type {
  ControlEvent,
  NextTurns,
  PendingMessage,
} from '../../../src/core/session/control-events.ts';
import type { MessageId, QueueItemId, ToolCallId } from '../../../src/core/session/words.ts';
import type { ContentBlock } from '../../../src/protocol/acp.ts';
import type { Actor } from '../../../src/protocol/controls.ts';

/** The controls of a session without an engine: it keeps what waits, and delivers nothing by itself. */
export class FakeSessionControl {
  readonly inbox = new Inbox();
  readonly queue = new NextTurnQueue();
  /** Tool calls that can be cancelled, by id, with the tool's name. */
  readonly calls = new Map<string, { tool: string; state: 'running' | 'cancelled' }>();
  readonly injected: NewInject[] = [];
  readonly #isActive: () => boolean;
  readonly #record: (event: ControlEvent) => void;
  #minted = 0;

  constructor(isActive: () => boolean, record: (event: ControlEvent) => void) {
    this.#isActive = isActive;
    this.#record = record;
  }

  pending(): readonly PendingMessage[] {
    return this.inbox.pending().map(({ messageId, mode, content, owner, at, reminder }) => ({
      messageId,
      kind: reminder === null ? 'user' : 'reminder',
      mode,
      content,
      owner,
      at,
      behindGate: false,
    }));
  }

  nextTurns(): NextTurns {
    return this.queue.view;
  }

  async inject(message: NewInject): Promise<{ messageId: MessageId; isRepeat?: boolean }> {
    const { commandId, reminder, mode, content, actor } = message;
    const bodyHash = JSON.stringify([mode, content]);
    const repeated = this.inbox.repeated(commandId, bodyHash);
    if (repeated !== null) return { messageId: repeated, isRepeat: true };
    if (!this.#isActive())
      throw new ControlRefused('no_active_prompt', 'Session has no active prompt');
    this.injected.push(message);
    this.#minted += 1;
    const messageId = `inject-${this.#minted}` as MessageId;
    this.#take({
      type: 'inject_accepted',
      messageId,
      mode,
      content,
      actor,
      ...(reminder === undefined ? {} : { reminder }),
      ...(commandId === undefined ? {} : { commandId, bodyHash }),
    });
    return { messageId };
  }

  async revoke(messageId: MessageId, actor: Actor): Promise<'revoked' | 'already_revoked'> {
    if (this.inbox.revocable(messageId, actor) === null) return 'already_revoked';
    this.#take({ type: 'inject_revoked', messageId, why: 'revoked', actor });
    return 'revoked';
  }

  async replace(
    messageId: MessageId,
    content: readonly ContentBlock[],
    actor: Actor,
  ): Promise<void> {
    this.inbox.replaceable(messageId, actor);
    if (content.length === 0) throw new ControlRefused('invalid_content', 'The content is empty');
    this.#take({ type: 'inject_replaced', messageId, content, actor });
  }

  cancelToolCall(toolCallId: ToolCallId): CallCancelled {
    const call = this.calls.get(toolCallId);
    if (call === undefined) return { status: 'not_found', tool: null };
    const status = call.state === 'running' ? 'cancelled' : 'already_cancelled';
    call.state = 'cancelled';
    return { status, tool: call.tool };
  }

  async changeQueue(change: QueueRequest, actor: Actor): Promise<QueueChanged> {
    this.#minted += 1;
    const decided = this.queue.decide(change, () => `item-${this.#minted}` as QueueItemId);
    if (decided.kind === 'change') this.queue.apply(decided.change, actor, 0);
    return { itemId: decided.itemId, isRepeat: decided.kind === 'nothing' };
  }

  #take(event: ControlEvent): void {
    this.inbox.apply(event, 0);
    this.#record(event);
  }
}
