import type { Disposable } from '../../../base/disposables.ts';
import type { SessionSignal } from '../../session/events.ts';
import type { LoopId, SessionId } from '../../session/words.ts';
import { unknownSession } from '../errors.ts';
import { FeedError, type FeedRequest, type FeedSource, type StoredClass } from './feed-types.ts';
import { type Beginning, EventSubscription } from './subscription.ts';

/** How many may follow one session at once. */
const MOST_SUBSCRIBERS = 1_024;

/** A subscription and where its root loop stands. */
export type Subscribed = {
  readonly events: EventSubscription;
  /** The event of the root loop behind which it begins. */
  readonly lastEventId: number;
};

/**
 * Events of all sessions of a host, for whoever wants to follow one: live sessions tell theirs here, and what was told
 * before comes from the store, spliced without gap or repeat. A session may end and be opened again meanwhile.
 */
export class EventFeed implements Disposable {
  readonly #source: FeedSource;
  readonly #mostBuffered: number | undefined;
  readonly #subscribers = new Map<SessionId, Set<EventSubscription>>();

  constructor(source: FeedSource, options: { readonly mostBuffered?: number } = {}) {
    this.#source = source;
    this.#mostBuffered = options.mostBuffered;
  }

  /** Throws `host.unknown_session`, `feed.unknown_loop`, `feed.too_many`. The caller disposes what it gets. */
  async subscribe(request: FeedRequest): Promise<Subscribed> {
    const { sessionId, loops: wanted, classes, from } = request;
    const known = this.#subscribers.get(sessionId) ?? new Set();
    if (known.size >= MOST_SUBSCRIBERS)
      throw new FeedError(
        'feed.too_many',
        `Session ${sessionId} is followed ${MOST_SUBSCRIBERS} times already. End a subscription and try again.`,
        { retryable: true },
      );
    const events = new EventSubscription({
      source: this.#source,
      classes,
      wants: (loopId) => wanted === undefined || wanted.includes(loopId),
      mostBuffered: this.#mostBuffered,
      onClosed: () => this.#forget(sessionId, events),
    });
    // Heard before it is known where the session stands, so that nothing falls between the two.
    this.#subscribers.set(sessionId, known.add(events));
    try {
      const described = await this.#source.describe(sessionId);
      if (described === null) throw unknownSession(sessionId);
      const loops = await this.#source.loops(sessionId);
      const unknown = wanted?.find((loopId) => !loops.includes(loopId));
      if (unknown !== undefined) throw unknownLoop(sessionId, unknown);
      const root = sessionId as string as LoopId;
      const now = events.beginningOf(root) ?? described.lastEventId;
      requireReached(from, root, Math.max(now, described.lastEventId));
      const where = beginnings(root, now, from);
      events.begin(loops, where);
      const begins = where(root, 'history');
      return { events, lastEventId: begins === 'now' ? now : begins };
    } catch (error) {
      events.dispose();
      throw error;
    }
  }

  /** Something happened in a live session. Never waits. */
  publish(sessionId: SessionId, signal: SessionSignal): void {
    const subscribers = this.#subscribers.get(sessionId);
    if (subscribers === undefined) return;
    const [loopId, own] =
      signal.stream === 'loop'
        ? [signal.loopId, signal.signal]
        : [sessionId as string as LoopId, signal];
    for (const subscriber of subscribers) subscriber.offer(loopId, own);
  }

  /** The session was deleted: nothing of it is told any more. */
  deleted(sessionId: SessionId): void {
    for (const subscriber of [...(this.#subscribers.get(sessionId) ?? [])]) subscriber.dispose();
  }

  dispose(): void {
    for (const sessionId of [...this.#subscribers.keys()]) this.deleted(sessionId);
  }

  #forget(sessionId: SessionId, events: EventSubscription): void {
    const subscribers = this.#subscribers.get(sessionId);
    subscribers?.delete(events);
    if (subscribers?.size === 0) this.#subscribers.delete(sessionId);
  }
}

function beginnings(
  root: LoopId,
  now: number,
  from: FeedRequest['from'],
): (loopId: LoopId, kind: StoredClass) => Beginning {
  if (typeof from === 'object') return (loopId, kind) => from.get(loopId)?.[kind] ?? 0;
  if (from === 0) return () => 0;
  const event = from ?? now;
  return (loopId, kind) => (loopId === root && kind === 'history' ? event : 'now');
}

/** What is ahead of the session is another session's, or made up: what comes next would be left out. */
function requireReached(from: FeedRequest['from'], root: LoopId, lastEventId: number): void {
  const asked = typeof from === 'object' ? from.get(root)?.history : from;
  if (asked === undefined || asked <= lastEventId) return;
  throw new FeedError(
    'feed.unknown_event',
    `The session has no event ${asked}: its last one is ${lastEventId}. Begin behind an event that it has.`,
    { data: { from: asked, lastEventId } },
  );
}

function unknownLoop(sessionId: string, loopId: string): FeedError {
  return new FeedError(
    'feed.unknown_loop',
    `Session ${sessionId} has no loop ${loopId}. List its loops to see which there are.`,
    { data: { sessionId, loopId } },
  );
}
