import { Deferred } from '../../../base/deferred.ts';
import type { Disposable } from '../../../base/disposables.ts';
import type { LoopSignal } from '../../session/events.ts';
import type { LoopId } from '../../session/words.ts';
import {
  EVENT_CLASSES,
  type EventClass,
  type FeedItem,
  type FeedSource,
  type StoredClass,
} from './feed-types.ts';
import { Lane } from './lane.ts';

/** How many events wait for a reader before it is sent back to the store. */
export const MOST_BUFFERED = 256;

/** Where a stream of a loop begins for a subscriber: behind a seq, or with what happens from now on. */
export type Beginning = number | 'now';

/** What makes a subscription. */
export type SubscriptionParts = {
  readonly source: FeedSource;
  readonly classes?: readonly EventClass[] | undefined;
  /** True for the loops that are followed. */
  readonly wants: (loopId: LoopId) => boolean;
  readonly mostBuffered?: number | undefined;
  readonly onClosed: () => void;
};

/**
 * One subscriber of a session's events. Nobody waits for it: what it does not read in time is dropped here and read
 * from the store when it asks again. Stored events are never lost or repeated; ephemeral ones are while it lags.
 */
export class EventSubscription implements AsyncIterable<FeedItem>, Disposable {
  readonly #parts: SubscriptionParts;
  readonly #classes: ReadonlySet<EventClass>;
  readonly #most: number;
  readonly #lanes = new Map<string, Lane>();
  #buffer: FeedItem[] = [];
  #first = 0;
  /** True while the reader is served from the store; from the beginning, until the lanes are set up. */
  #isLagging = true;
  #isSetUp = false;
  #isClosed = false;
  #wake = new Deferred<void>();

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    this.#classes = new Set(parts.classes ?? EVENT_CLASSES);
    this.#most = parts.mostBuffered ?? MOST_BUFFERED;
  }

  /** How many events wait here; never more than the bound. */
  get buffered(): number {
    return this.#buffer.length - this.#first;
  }

  /** Says where each stream of the known loops begins. Loops that come later begin at their beginning. */
  begin(loops: readonly LoopId[], where: (loopId: LoopId, kind: StoredClass) => Beginning): void {
    const known = new Set(loops);
    for (const lane of this.#lanes.values()) if (!known.has(lane.loopId)) lane.beginBehind(0);
    for (const loopId of loops.filter(this.#parts.wants))
      for (const kind of ['history', 'control'] as const) {
        const beginning = where(loopId, kind);
        if (this.#classes.has(kind) && beginning !== 'now')
          this.#lane(loopId, kind).beginBehind(beginning);
        else if (this.#classes.has(kind)) this.#lane(loopId, kind);
      }
    this.#isSetUp = true;
    this.#wakeReader();
  }

  /** The last history event of a loop before what is delivered; null if nothing has happened in it since. */
  beginningOf(loopId: LoopId): number | null {
    return this.#lanes.get(keyOf(loopId, 'history'))?.given ?? null;
  }

  /** Something happened in a loop of the session. Never waits, never throws. */
  offer(loopId: LoopId, signal: LoopSignal): void {
    if (this.#isClosed || !this.#parts.wants(loopId) || !this.#classes.has(signal.stream)) return;
    if (signal.stream === 'ephemeral') {
      if (!this.#isLagging && this.buffered < this.#most)
        this.#push({ class: 'ephemeral', loopId, event: signal.event });
      return;
    }
    this.#lane(loopId, signal.stream).noted(signal.record.seq);
    if (this.#isLagging) this.#wakeReader();
    else if (this.#hasRoom()) this.#push(itemOf(loopId, signal));
    else this.#lag();
  }

  /** Ends it for its reader, who may be waiting. Idempotent. */
  dispose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#clear();
    this.#parts.onClosed();
    this.#wakeReader();
  }

  /** One reader at a time. Rejects with `FeedError` where the store has lost what was to come. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FeedItem, void> {
    try {
      while (!this.#isClosed) {
        const item = this.#isLagging ? await this.#fromStore() : this.#fromBuffer();
        if (this.#isClosed) return;
        if (item === undefined) await this.#more();
        else yield item;
      }
    } finally {
      this.dispose();
    }
  }

  /** Undefined if there is nothing, or if the reader has to look at the other place. */
  #fromBuffer(): FeedItem | undefined {
    for (;;) {
      const item = this.#buffer[this.#first];
      if (item === undefined) return undefined;
      this.#first += 1;
      if (this.#first === this.#buffer.length) this.#clear();
      if (item.class === 'ephemeral') return item;
      const lane = this.#lane(item.loopId, item.class);
      const { seq } = item.record;
      const given = lane.given ?? seq - 1;
      if (seq <= given) continue;
      if (seq > given + 1) {
        this.#lag();
        return undefined;
      }
      lane.given = seq;
      return item;
    }
  }

  /** The oldest record that was not given; where there is none, the reader is live from this tick on. */
  async #fromStore(): Promise<FeedItem | undefined> {
    if (!this.#isSetUp) return undefined;
    for (;;) {
      const oldest = await this.#oldest();
      if (oldest !== undefined) {
        oldest.lane.take();
        return oldest.item;
      }
      if (this.#isClosed || [...this.#lanes.values()].some((lane) => lane.isBehind)) {
        if (this.#isClosed) return undefined;
        continue;
      }
      this.#isLagging = false;
      return undefined;
    }
  }

  /** Across the streams of a loop time decides, and a control comes before what it brought about. */
  async #oldest(): Promise<{ readonly lane: Lane; readonly item: FeedItem } | undefined> {
    let oldest: { lane: Lane; item: FeedItem & { record: { at: number } } } | undefined;
    for (const lane of [...this.#lanes.values()]) {
      const item = await lane.peek(this.#parts.source);
      if (item === undefined) continue;
      const at = oldest?.item.record.at ?? Number.POSITIVE_INFINITY;
      const isOlder = item.record.at < at || (item.record.at === at && item.class === 'control');
      if (isOlder) oldest = { lane, item };
    }
    return oldest;
  }

  /** Resolves when there may be something to read. */
  async #more(): Promise<void> {
    if (this.#isClosed || this.buffered > 0) return;
    if (this.#isSetUp && this.#isLagging) return;
    this.#wake = new Deferred();
    await this.#wake.promise;
  }

  #wakeReader(): void {
    this.#wake.resolve();
  }

  #push(item: FeedItem): void {
    this.#buffer.push(item);
    this.#wakeReader();
  }

  /** What is only told makes way for what is stored. */
  #hasRoom(): boolean {
    if (this.buffered < this.#most) return true;
    this.#buffer = this.#buffer.slice(this.#first).filter((item) => item.class !== 'ephemeral');
    this.#first = 0;
    return this.#buffer.length < this.#most;
  }

  #lag(): void {
    this.#clear();
    for (const lane of this.#lanes.values()) lane.forget();
    this.#isLagging = true;
    this.#wakeReader();
  }

  #clear(): void {
    this.#buffer = [];
    this.#first = 0;
  }

  /** A loop that nobody knew is new: it is followed from its beginning. */
  #lane(loopId: LoopId, kind: StoredClass): Lane {
    const key = keyOf(loopId, kind);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane = new Lane(loopId, kind);
    if (this.#isSetUp) lane.beginBehind(0);
    this.#lanes.set(key, lane);
    if (this.#isSetUp && !this.#isLagging) this.#lag();
    return lane;
  }
}

function keyOf(loopId: LoopId, kind: StoredClass): string {
  return `${kind} ${loopId}`;
}

function itemOf(loopId: LoopId, signal: Exclude<LoopSignal, { stream: 'ephemeral' }>): FeedItem {
  return signal.stream === 'history'
    ? { class: 'history', loopId, record: signal.record }
    : { class: 'control', loopId, record: signal.record };
}
