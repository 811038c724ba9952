import { canonicalJson } from '../../../base/canonical-json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { NextTurns, QueueChange } from '../control-events.ts';
import type { QueueItemId } from '../words.ts';
import { ControlRefused } from './refusal.ts';
import { requireContent } from './required-content.ts';
import type { QueueRequest } from './session-control.ts';
import { requireRoom } from './waiting-limit.ts';

/** A message that waits to be a turn of its own. */
export type HeldTurn = NextTurns['items'][number];

/** What a request comes to: a change to record, nothing to do, or an item to send now. */
export type QueueDecision =
  | { readonly kind: 'change'; readonly change: QueueChange; readonly itemId: QueueItemId | null }
  | { readonly kind: 'nothing'; readonly itemId: QueueItemId | null }
  | { readonly kind: 'send'; readonly itemId: QueueItemId };

/**
 * The next-turn queue, folded from the `queue_changed` events of a session. It decides about requests and never changes
 * by itself. Live, a change is applied when its append is asked for, so that two requests in the same tick see each
 * other's effect.
 */
export class NextTurnQueue {
  #paused: NextTurns['paused'] = null;
  #items: readonly HeldTurn[] = [];
  /** What every id was added with, also of those that are gone: an id is used once. */
  readonly #added = new Map<QueueItemId, readonly ContentBlock[]>();

  /** As it stands; a value that later changes don't touch. */
  get view(): NextTurns {
    return { paused: this.#paused, items: this.#items };
  }

  get paused(): NextTurns['paused'] {
    return this.#paused;
  }

  get first(): HeldTurn | null {
    return this.#items[0] ?? null;
  }

  /** The item, if it is still held. */
  held(itemId: QueueItemId): HeldTurn | null {
    return this.#items.find((item) => item.itemId === itemId) ?? null;
  }

  /** True if an item of this id was ever added. */
  knows(itemId: QueueItemId): boolean {
    return this.#added.has(itemId);
  }

  /** Folds one recorded change. `at` is its time in milliseconds since the epoch. */
  apply(change: QueueChange, actor: Actor, at: number): void {
    switch (change.kind) {
      case 'added': {
        const { itemId, content, before } = change;
        this.#added.set(itemId, content);
        this.#items = placed(this.#items, { itemId, content, owner: actor, at }, before);
        break;
      }
      case 'edited':
        this.#items = this.#items.map((item) =>
          item.itemId === change.itemId ? { ...item, content: change.content } : item,
        );
        break;
      case 'moved': {
        const item = this.held(change.itemId);
        if (item === null) break;
        this.#items = placed(without(this.#items, change.itemId), item, change.before);
        break;
      }
      case 'removed':
      case 'sent':
        this.#items = without(this.#items, change.itemId);
        break;
      case 'paused':
        this.#paused = change.why;
        break;
      case 'resumed':
        this.#paused = null;
        break;
    }
  }

  /**
   * What a request would change. Throws `ControlRefused` with `unknown_item`, `invalid_content`, or, where an id was
   * used before with another content, `command_collision`.
   */
  decide(request: QueueRequest, newItemId: () => QueueItemId): QueueDecision {
    switch (request.kind) {
      case 'add':
        return this.#add(request, newItemId);
      case 'edit':
        return this.#edit(request.itemId, request.content);
      case 'move':
        return this.#move(request.itemId, request.before);
      case 'remove': {
        const { itemId } = this.#held(request.itemId);
        return { kind: 'change', change: { kind: 'removed', itemId }, itemId };
      }
      case 'pause':
        if (this.#paused !== null) return { kind: 'nothing', itemId: null };
        return { kind: 'change', change: { kind: 'paused', why: 'asked' }, itemId: null };
      case 'resume':
        if (this.#paused === null) return { kind: 'nothing', itemId: null };
        return { kind: 'change', change: { kind: 'resumed' }, itemId: null };
      case 'send_now':
        return { kind: 'send', itemId: this.#held(request.itemId).itemId };
    }
  }

  #add(
    request: Extract<QueueRequest, { kind: 'add' }>,
    newItemId: () => QueueItemId,
  ): QueueDecision {
    const { content, before } = request;
    requireContent(content);
    const known = request.itemId === undefined ? undefined : this.#added.get(request.itemId);
    if (request.itemId !== undefined && known !== undefined) {
      if (canonicalJson(known) !== canonicalJson(content)) throw collision(request.itemId);
      return { kind: 'nothing', itemId: request.itemId };
    }
    if (before !== null) this.#held(before);
    requireRoom(this.#items, content);
    const itemId = request.itemId ?? newItemId();
    return { kind: 'change', change: { kind: 'added', itemId, content, before }, itemId };
  }

  #edit(itemId: QueueItemId, content: readonly ContentBlock[]): QueueDecision {
    this.#held(itemId);
    requireContent(content);
    requireRoom(without(this.#items, itemId), content);
    return { kind: 'change', change: { kind: 'edited', itemId, content }, itemId };
  }

  #move(itemId: QueueItemId, before: QueueItemId | null): QueueDecision {
    this.#held(itemId);
    if (before !== null) this.#held(before);
    if (before === itemId) return { kind: 'nothing', itemId };
    return { kind: 'change', change: { kind: 'moved', itemId, before }, itemId };
  }

  #held(itemId: QueueItemId): HeldTurn {
    const item = this.held(itemId);
    if (item !== null) return item;
    throw new ControlRefused(
      'unknown_item',
      `The next-turn queue holds no message ${itemId}: it was sent, removed, or never added. List the queue again.`,
      { itemId },
    );
  }
}

/** The refusal of an id that already stands for something else. */
export function collision(itemId: QueueItemId): ControlRefused {
  return new ControlRefused(
    'command_collision',
    `The id ${itemId} was used before with another content. Use a new id.`,
    { itemId },
  );
}

function without(items: readonly HeldTurn[], itemId: QueueItemId): readonly HeldTurn[] {
  return items.filter((item) => item.itemId !== itemId);
}

function placed(
  items: readonly HeldTurn[],
  item: HeldTurn,
  before: QueueItemId | null,
): readonly HeldTurn[] {
  const at = items.findIndex(({ itemId }) => itemId === before);
  return at === -1 ? [...items, item] : [...items.slice(0, at), item, ...items.slice(at)];
}
