import { messageOf } from '../../../base/errors.ts';
import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { PendingInjection } from '../../../protocol/harn.ts';
import type { NextTurnQueue } from '../../../protocol/pilothouse.ts';
import type { AgentConnection } from '../../core/connection.ts';
import { deliveredMessage, type LiveReceipt, messageOfReceipt } from './receipts.ts';
import type { Waiting } from './waiting.ts';

/** What the feed works with. */
export type FeedPorts = {
  readonly sessionId: string;
  readonly waiting: Waiting;
  readonly isRunning: () => boolean;
  readonly changed: () => void;
  readonly log: (message: string) => void;
};

/** Keeps what waits in one session as the agent tells it: by lists, receipts and delivered messages. */
export class WaitingFeed {
  readonly #ports: FeedPorts;

  constructor(ports: FeedPorts) {
    this.#ports = ports;
  }

  /** Every change is told; how it stands at first has to be asked. Never rejects: the next change tells it whole. */
  async fetch(connection: AgentConnection): Promise<void> {
    const { sessionId, log } = this.#ports;
    const params = { sessionId };
    // Each list counts as soon as it is here: a change that is told in between is newer than the one before it.
    const pending = connection
      .request('session/pending_injections', params)
      .then(({ injections }) => this.lists(injections, null));
    const queue = connection
      .request('_pilothouse/queue/list', params)
      .then((items) => this.lists(null, items));
    for (const result of await Promise.allSettled([pending, queue]))
      if (result.status === 'rejected')
        log(`session ${sessionId}: what waits is not known: ${messageOf(result.reason)}`);
  }

  /** The lists as the agent has them now; null: not told. */
  lists(pending: readonly PendingInjection[] | null, queue: NextTurnQueue | null): void {
    const { waiting, isRunning, changed } = this.#ports;
    waiting.replace(pending, queue, isRunning());
    changed();
  }

  receipt(receipt: LiveReceipt): void {
    const messageId = messageOfReceipt(receipt);
    if (receipt.method !== 'session/revoke_inject' || messageId === null) return;
    const { waiting, changed } = this.#ports;
    if (receipt.outcome === 'given_back') waiting.giveBack(messageId);
    else if (receipt.status !== 'rejected') waiting.explain(messageId);
    changed();
  }

  /** An update of the conversation: it may be a message that waited. */
  update(update: SessionUpdate, frameMeta: unknown): void {
    const messageId = deliveredMessage(update, frameMeta);
    if (messageId !== null) this.#ports.waiting.explain(messageId);
  }

  /** The person has dealt with a message that came back. */
  dismiss(messageId: string): void {
    this.#ports.waiting.forget(messageId);
    this.#ports.changed();
  }
}
