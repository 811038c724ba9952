import type { Disposable } from '../../../base/disposables.ts';
import type { ChatItem, ToChat } from '../../../protocol/chat.ts';

/** A frame at 60 Hz, in milliseconds: the webview gets no more batches than it can paint. */
export const FRAME_MS = 1000 / 60;

/** How far back a message may be merged into an earlier one. */
const MERGE_DEPTH = 24;

/** Sends later; returns what takes it back. */
export type Schedule = (run: () => void, delayMs: number) => Disposable;

/**
 * What waits to be sent to the webview. Messages leave in order, at most once a frame; pieces of one row's text become
 * one piece, and a row replaced twice is sent once.
 */
export class Outbox implements Disposable {
  readonly #post: (message: ToChat) => void;
  readonly #schedule: Schedule;
  #queue: ToChat[] = [];
  #timer: Disposable | null = null;

  constructor(post: (message: ToChat) => void, schedule: Schedule) {
    this.#post = post;
    this.#schedule = schedule;
  }

  push(message: ToChat): void {
    if (message.type === 'reset') this.#queue = this.#queue.filter(survivesReset);
    if (!this.#merge(message)) this.#queue.push(message);
    this.#timer ??= this.#schedule(() => this.flush(), FRAME_MS);
  }

  /** Sends everything now. */
  flush(): void {
    this.#timer?.dispose();
    this.#timer = null;
    const queue = this.#queue;
    this.#queue = [];
    for (const message of queue) this.#post(message);
  }

  /** Forgets what waits: the webview is gone and will ask anew. */
  clear(): void {
    this.#timer?.dispose();
    this.#timer = null;
    this.#queue = [];
  }

  #merge(message: ToChat): boolean {
    const from = Math.max(0, this.#queue.length - MERGE_DEPTH);
    for (let at = this.#queue.length - 1; at >= from; at -= 1) {
      const earlier = this.#queue[at];
      if (!earlier) return false;
      const merged = mergeTwo(earlier, message);
      if (merged) {
        this.#queue[at] = merged;
        return true;
      }
      if (mustStayBehind(earlier, message)) return false;
    }
    return false;
  }

  dispose(): void {
    this.clear();
  }
}

function survivesReset(message: ToChat): boolean {
  return (
    message.type === 'sent' ||
    message.type === 'compose' ||
    message.type === 'completions' ||
    message.type === 'answer_failed'
  );
}

function mergeTwo(earlier: ToChat, later: ToChat): ToChat | null {
  if (isAppend(earlier) && isAppend(later)) return mergeAppends(earlier, later);
  if (earlier.type === 'upsert' && later.type === 'upsert')
    return { type: 'upsert', items: mergeItems(earlier.items, later.items) };
  if (earlier.type === later.type && (later.type === 'status' || later.type === 'gates'))
    return later;
  return null;
}

type Append = Extract<ToChat, { type: 'append' | 'delegate_append' }>;

function isAppend(message: ToChat): message is Append {
  return message.type === 'append' || message.type === 'delegate_append';
}

function mergeAppends(earlier: Append, later: Append): Append | null {
  const goesOn =
    loopOf(earlier) === loopOf(later) &&
    earlier.id === later.id &&
    earlier.field === later.field &&
    earlier.offset + earlier.text.length === later.offset;
  return goesOn ? { ...earlier, text: earlier.text + later.text } : null;
}

function loopOf(message: Append): string | null {
  return message.type === 'delegate_append' ? message.loopId : null;
}

function mergeItems(earlier: readonly ChatItem[], later: readonly ChatItem[]): ChatItem[] {
  const items = new Map(earlier.map((item) => [item.id, item]));
  for (const item of later) items.set(item.id, item);
  return [...items.values()];
}

/** True if `later` may not overtake `earlier`. */
function mustStayBehind(earlier: ToChat, later: ToChat): boolean {
  if (later.type === 'status' || later.type === 'gates') return earlier.type === 'reset';
  if (later.type !== 'append' && later.type !== 'upsert') return true;
  switch (earlier.type) {
    case 'append':
      return rowIds(later).includes(earlier.id);
    case 'upsert':
      return earlier.items.some((item) => rowIds(later).includes(item.id));
    case 'reset':
    case 'prepend':
    case 'remove':
      return true;
    default:
      return false;
  }
}

function rowIds(message: Extract<ToChat, { type: 'append' | 'upsert' }>): string[] {
  return message.type === 'append' ? [message.id] : message.items.map((item) => item.id);
}
