import { canonicalJson } from '../../../base/canonical-json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ChatInjectMode } from '../../../protocol/chat.ts';
import type { PendingInjection } from '../../../protocol/harn.ts';
import type { NextTurnQueue } from '../../../protocol/pilothouse.ts';

/** A message for the running turn that waits for its seam. */
export type PendingMessage = {
  readonly messageId: string;
  /** `prompt`: a prompt of this window that the agent did not take. */
  readonly mode: ChatInjectMode | 'prompt';
  readonly content: readonly ContentBlock[];
  readonly behindGate: boolean;
};

/** Nothing is held for later turns. */
export const EMPTY_QUEUE: NextTurnQueue = { paused: null, items: [] };

/**
 * What waits in one session: messages for the running turn, messages for later turns, and those that came back because
 * their turn ended first. A message that leaves the list was delivered, taken back or given back; the first two are
 * told by marks and receipts, and what nothing explains was given back: no text is lost silently.
 */
export class Waiting {
  #pending: readonly PendingMessage[] = [];
  #queue: NextTurnQueue = EMPTY_QUEUE;
  readonly #givenBack = new Map<string, PendingMessage>();
  /** Left the list, and nothing has told why yet. */
  readonly #vanished = new Map<string, PendingMessage>();
  /** Delivered or taken back. */
  readonly #explained = new Set<string>();

  get pending(): readonly PendingMessage[] {
    return this.#pending;
  }

  get queue(): NextTurnQueue {
    return this.#queue;
  }

  /** Messages that came back, oldest first. */
  get givenBack(): readonly PendingMessage[] {
    return [...this.#givenBack.values()];
  }

  find(messageId: string): PendingMessage | null {
    return (
      this.#pending.find((one) => one.messageId === messageId) ??
      this.#givenBack.get(messageId) ??
      null
    );
  }

  /**
   * The lists as the agent has them now; null leaves one as it is. `running`: a turn runs, so that a message may still
   * turn out delivered.
   */
  replace(
    pending: readonly PendingInjection[] | null,
    queue: NextTurnQueue | null,
    running: boolean,
  ): void {
    if (queue) {
      this.#queue = queue;
      this.#heldNow(queue);
    }
    if (!pending) return;
    const now = pending.flatMap(asMessage);
    const left = this.#pending.filter(
      (one) => !now.some((other) => other.messageId === one.messageId),
    );
    this.#pending = now;
    for (const one of now) this.#givenBack.delete(one.messageId);
    for (const one of left)
      if (!this.#explained.has(one.messageId)) this.#vanished.set(one.messageId, one);
    if (!running) this.turnEnded();
  }

  /** The model reads it, or somebody took it back: where it went is known. */
  explain(messageId: string): void {
    this.#explained.add(messageId);
    this.#vanished.delete(messageId);
    this.#givenBack.delete(messageId);
  }

  /** Its turn ended before a seam came. */
  giveBack(messageId: string): void {
    const known =
      this.#vanished.get(messageId) ?? this.#pending.find((one) => one.messageId === messageId);
    if (!known || this.#explained.has(messageId)) return;
    this.#pending = this.#pending.filter((one) => one !== known);
    this.#vanished.delete(messageId);
    this.#givenBack.set(messageId, known);
  }

  /** No turn runs any more: what left the list without a word was given back. */
  turnEnded(): void {
    for (const messageId of [...this.#vanished.keys()]) this.giveBack(messageId);
  }

  /** The connection is gone: what was pending was not delivered as far as anybody here knows. */
  lost(): void {
    for (const { messageId } of this.#pending) this.giveBack(messageId);
    this.turnEnded();
  }

  /** A prompt that the agent does not have. */
  unsent(commandId: string, content: readonly ContentBlock[]): void {
    const isHeld = this.#queue.items.some(({ itemId }) => itemId === commandId);
    if (isHeld || this.#explained.has(commandId)) return;
    this.#givenBack.set(commandId, {
      messageId: commandId,
      mode: 'prompt',
      content,
      behindGate: false,
    });
  }

  /** What a new process holds has not come back: it waits there, under the same id or with the same content. */
  #heldNow({ paused, items }: NextTurnQueue): void {
    if (paused !== 'restart') return;
    const held = new Set(items.flatMap(({ itemId, content }) => [itemId, canonicalJson(content)]));
    for (const { messageId, mode, content } of this.givenBack)
      if (mode !== 'queue' && (held.has(messageId) || held.has(canonicalJson(content))))
        this.#givenBack.delete(messageId);
  }

  /** The person has dealt with a message that came back. */
  forget(messageId: string): void {
    this.#givenBack.delete(messageId);
  }
}

function asMessage(one: PendingInjection): PendingMessage[] {
  const { kind, messageId, mode, content, behindGate } = one;
  return kind === 'user' && messageId !== undefined
    ? [{ messageId, mode, content, behindGate }]
    : [];
}

/** The content with its text exchanged; what is attached stays. */
export function withText(content: readonly ContentBlock[], text: string): ContentBlock[] {
  return [{ type: 'text', text }, ...content.filter((block) => block.type !== 'text')];
}
