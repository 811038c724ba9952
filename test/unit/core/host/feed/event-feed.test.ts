import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventFeed } from '../../../../../src/core/host/feed/event-feed.ts';
import type { FeedItem, FeedRequest } from '../../../../../src/core/host/feed/feed-types.ts';
import {
  type EventSubscription,
  MOST_BUFFERED,
} from '../../../../../src/core/host/feed/subscription.ts';
import type { LoopId, SessionId } from '../../../../../src/core/session/words.ts';
import { ephemeral, FeedRig, named, ROOT, SESSION, tell } from './feed-rig.ts';

const CHILD = 'child' as LoopId;

/** Takes so many deliveries; all that come if the feed ends before. */
async function take(events: AsyncIterator<FeedItem>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done === true) break;
    taken.push(named(next.value));
  }
  return taken;
}

function idle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function rig(): Promise<{ store: FeedRig; feed: EventFeed }> {
  const store = new FeedRig();
  return { store, feed: new EventFeed(store) };
}

describe('a subscription', () => {
  test('begins with what is stored and goes on with what happens, without a seam', async () => {
    const { store, feed } = await rig();
    for (let i = 0; i < 3; i += 1) store.store(ROOT, 'history');
    const { events, lastEventId } = await feed.subscribe({ sessionId: SESSION, from: 1 });
    expect(lastEventId).toBe(1);
    tell(feed, ROOT, store.store(ROOT, 'history'));
    tell(feed, ROOT, store.store(ROOT, 'control'));
    expect(await take(events[Symbol.asyncIterator](), 4)).toEqual([
      'history root 2',
      'history root 3',
      'history root 4',
      'control root 1',
    ]);
  });

  test('without a beginning tells only what happens from now on', async () => {
    const { store, feed } = await rig();
    store.store(ROOT, 'history');
    store.store(ROOT, 'control');
    const { events, lastEventId } = await feed.subscribe({ sessionId: SESSION });
    expect(lastEventId).toBe(1);
    tell(feed, ROOT, store.store(ROOT, 'control'));
    tell(feed, ROOT, store.store(ROOT, 'history'));
    expect(await take(events[Symbol.asyncIterator](), 2)).toEqual([
      'control root 2',
      'history root 2',
    ]);
  });

  test('tells only the loops and classes that it asked for', async () => {
    const { store, feed } = await rig();
    store.knownLoops.push(CHILD);
    const asked: readonly [Partial<FeedRequest>, readonly string[]][] = [
      [{ loops: [CHILD], classes: ['history'] }, ['history child 1']],
      [{ loops: [ROOT], classes: ['control', 'ephemeral'] }, ['control root 1', 'ephemeral root']],
      [{ classes: ['ephemeral'] }, ['ephemeral child', 'ephemeral root']],
      [
        {},
        [
          'control child 1',
          'ephemeral child',
          'history child 1',
          'control root 1',
          'ephemeral root',
          'history root 1',
        ],
      ],
    ];
    const following = await Promise.all(
      asked.map(([request]) => feed.subscribe({ sessionId: SESSION, ...request })),
    );
    const iterators = following.map(({ events }) => events[Symbol.asyncIterator]());
    const first = iterators.map((iterator) => iterator.next());
    await idle();
    for (const loopId of [CHILD, ROOT]) {
      tell(feed, loopId, store.store(loopId, 'control'));
      tell(feed, loopId, ephemeral());
      tell(feed, loopId, store.store(loopId, 'history'));
    }
    for (const [index, [, expected]] of asked.entries()) {
      const iterator = iterators[index];
      const begun = await first[index];
      if (iterator === undefined || begun === undefined || begun.done === true) throw new Error();
      const rest = await take(iterator, expected.length - 1);
      expect([named(begun.value), ...rest]).toEqual(expected);
    }
  });

  test('follows a delegate that begins later from its first event on', async () => {
    const { store, feed } = await rig();
    const { events } = await feed.subscribe({ sessionId: SESSION, classes: ['history'] });
    // Stored before anybody was told of the loop.
    store.store(CHILD, 'history');
    tell(feed, CHILD, store.store(CHILD, 'history'));
    expect(await take(events[Symbol.asyncIterator](), 2)).toEqual([
      'history child 1',
      'history child 2',
    ]);
  });

  test('keeps no more than its bound for a reader who does not read, and loses nothing stored', async () => {
    const { store, feed } = await rig();
    const { events } = await feed.subscribe({ sessionId: SESSION });
    const reader = events[Symbol.asyncIterator]();
    tell(feed, ROOT, store.store(ROOT, 'history'));
    expect(await take(reader, 1)).toEqual(['history root 1']);
    const isLive = reader.next();
    await idle();
    tell(feed, ROOT, ephemeral());
    expect((await isLive).value).toMatchObject({ class: 'ephemeral' });
    const total = MOST_BUFFERED * 10;
    for (let i = 0; i < total; i += 1) {
      tell(feed, ROOT, ephemeral());
      tell(feed, ROOT, store.store(ROOT, 'history'));
      expect(events.buffered).toBeLessThanOrEqual(MOST_BUFFERED);
    }
    const all = await take(reader, total);
    expect(all).toEqual(Array.from({ length: total }, (_, i) => `history root ${i + 2}`));
    // The negative control: it is live again, and is told what is only told.
    const next = reader.next();
    await idle();
    tell(feed, ROOT, ephemeral());
    expect((await next).value).toMatchObject({ class: 'ephemeral' });
  });

  test('one that does not read keeps nobody waiting and nobody else from being told', async () => {
    const { store, feed } = await rig();
    const stuck = await feed.subscribe({ sessionId: SESSION });
    const reading = await feed.subscribe({ sessionId: SESSION });
    const iterator = reading.events[Symbol.asyncIterator]();
    for (let i = 0; i < 1_000; i += 1) {
      tell(feed, ROOT, store.store(ROOT, 'history'));
      expect(await take(iterator, 1)).toEqual([`history root ${i + 1}`]);
    }
    expect(stuck.events.buffered).toBeLessThanOrEqual(MOST_BUFFERED);
  });

  test('ends once for a reader who waits, for one who reads later, and when it is closed again', async () => {
    const { store, feed } = await rig();
    const { events } = await feed.subscribe({ sessionId: SESSION });
    const waiting = take(events[Symbol.asyncIterator](), 1);
    await idle();
    events.dispose();
    events.dispose();
    expect(await waiting).toEqual([]);
    tell(feed, ROOT, store.store(ROOT, 'history'));
    expect(await take(events[Symbol.asyncIterator](), 1)).toEqual([]);
    const other = await feed.subscribe({ sessionId: SESSION });
    const ended = take(other.events[Symbol.asyncIterator](), 1);
    feed.deleted(SESSION);
    expect(await ended).toEqual([]);
  });

  test('names what it can not follow', async () => {
    const { store, feed } = await rig();
    store.store(ROOT, 'history');
    await expect(feed.subscribe({ sessionId: 'no' as SessionId })).rejects.toMatchObject({
      code: 'host.unknown_session',
    });
    await expect(
      feed.subscribe({ sessionId: SESSION, loops: ['no' as LoopId] }),
    ).rejects.toMatchObject({ code: 'feed.unknown_loop' });
    await expect(feed.subscribe({ sessionId: SESSION, from: 2 })).rejects.toMatchObject({
      code: 'feed.unknown_event',
    });
  });

  test('says when the store has lost what was to come', async () => {
    const { store, feed } = await rig();
    const { events } = await feed.subscribe({ sessionId: SESSION, from: 0 });
    tell(feed, ROOT, store.store(ROOT, 'history'));
    store.streams.clear();
    await expect(take(events[Symbol.asyncIterator](), 1)).rejects.toMatchObject({
      code: 'feed.missing_records',
    });
  });
});

/** What may happen between two reads. */
const steps = fc.array(
  fc.record({
    loop: fc.constantFrom(ROOT, CHILD),
    kind: fc.constantFrom('history' as const, 'control' as const, 'ephemeral' as const),
    /** Events of this kind in a row. */
    burst: fc.integer({ min: 1, max: 12 }),
    /** Deliveries that the reader takes afterwards. */
    reads: fc.integer({ min: 0, max: 6 }),
    /** Turns of the event loop before it does. */
    pause: fc.integer({ min: 0, max: 3 }),
    /** The connection breaks: the reader comes back with what it has. */
    breaks: fc.boolean(),
    /** Stored, but not told yet when the reader reads. */
    late: fc.boolean(),
  }),
  { maxLength: 40 },
);

/** A reader that keeps what it got, reads as a connection would, and comes back where it left off. */
class Reader {
  readonly got = new Map<string, number[]>();
  readonly #cursor = new Map<LoopId, { history?: number; control?: number }>();
  #events: EventSubscription;
  #iterator: AsyncIterator<FeedItem, void>;
  #pending: Promise<IteratorResult<FeedItem, void>> | undefined;

  constructor(events: EventSubscription) {
    this.#events = events;
    this.#iterator = events[Symbol.asyncIterator]();
  }

  get buffered(): number {
    return this.#events.buffered;
  }

  /** False if nothing came in a while; the read stays under way. */
  async read(): Promise<boolean> {
    this.#pending ??= this.#iterator.next();
    const next = await Promise.race([this.#pending, aWhile()]);
    if (next === null) return false;
    this.#pending = undefined;
    if (next.done === true) return false;
    this.#note(next.value);
    return true;
  }

  async reconnect(feed: EventFeed): Promise<void> {
    this.#events.dispose();
    const last = await this.#pending;
    if (last !== undefined && last.done !== true) this.#note(last.value);
    this.#pending = undefined;
    const from = new Map(this.#cursor);
    this.#events = (await feed.subscribe({ sessionId: SESSION, from })).events;
    this.#iterator = this.#events[Symbol.asyncIterator]();
  }

  #note(item: FeedItem): void {
    if (item.class === 'ephemeral') return;
    const { loopId, record } = item;
    const key = `${item.class} ${loopId}`;
    this.got.set(key, [...(this.got.get(key) ?? []), record.seq]);
    this.#cursor.set(loopId, { ...this.#cursor.get(loopId), [item.class]: record.seq });
  }
}

/** Longer than any read of the store takes here. */
async function aWhile(): Promise<null> {
  for (let i = 0; i < 40; i += 1) await idle();
  return null;
}

describe('whatever the order of events, reads and reconnections', () => {
  test('a reader gets every stored event of every loop exactly once and in order', async () => {
    const runs = fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      async (plan, mostBuffered, isSlow) => {
        const store = new FeedRig();
        if (isSlow) store.pace = idle;
        const feed = new EventFeed(store, { mostBuffered });
        const reader = new Reader((await feed.subscribe({ sessionId: SESSION, from: 0 })).events);
        const untold: (() => void)[] = [];
        const tellAll = (): void => {
          for (const telling of untold.splice(0)) telling();
        };
        for (const { loop, kind, burst, reads, pause, breaks, late } of plan) {
          for (let i = 0; i < burst; i += 1) {
            const signal = kind === 'ephemeral' ? ephemeral() : store.store(loop, kind);
            untold.push(() => tell(feed, loop, signal));
            if (!late) tellAll();
            expect(reader.buffered).toBeLessThanOrEqual(mostBuffered);
          }
          if (!store.knownLoops.includes(loop)) store.knownLoops.push(loop);
          for (let i = 0; i < pause; i += 1) await idle();
          for (let i = 0; i < reads; i += 1) await reader.read();
          if (breaks) await reader.reconnect(feed);
        }
        tellAll();
        for (let more = true; more; ) more = await reader.read();
        for (const [key, stored] of store.streams)
          expect(reader.got.get(key) ?? [], key).toEqual(stored.map((_, index) => index + 1));
        feed.dispose();
      },
    );
    await fc.assert(runs, { numRuns: 150 });
  });
});
