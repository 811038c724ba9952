import type { EventFeed } from '../../../../../src/core/host/feed/event-feed.ts';
import type { FeedItem, FeedSource } from '../../../../../src/core/host/feed/feed-types.ts';
import type { ControlEvent } from '../../../../../src/core/session/control-events.ts';
import type { HistoryEvent, LoopSignal, Stored } from '../../../../../src/core/session/events.ts';
import type { DelegateOrigin, LoopId, SessionId } from '../../../../../src/core/session/words.ts';

export const SESSION = 'root' as SessionId;
export const ROOT = 'root' as LoopId;

type Kind = 'history' | 'control';

/** A store with streams of several loops, read as slowly as a test wants. */
export class FeedRig implements FeedSource {
  readonly streams = new Map<string, LoopSignal[]>();
  readonly knownLoops: LoopId[] = [ROOT];
  /** Awaited by each read. */
  pace: () => Promise<void> = () => Promise.resolve();
  reads = 0;
  #time = 0;

  async describe(sessionId: SessionId) {
    await this.pace();
    return sessionId === SESSION ? { lastEventId: this.tip(ROOT, 'history') } : null;
  }

  async loops() {
    await this.pace();
    return [...this.knownLoops];
  }

  tip(loopId: LoopId, kind: Kind): number {
    return this.streams.get(`${kind} ${loopId}`)?.length ?? 0;
  }

  /** Stores one more; the signal is told by the test, at once or later, in the order of the calls. */
  store(loopId: LoopId, kind: Kind): LoopSignal {
    const key = `${kind} ${loopId}`;
    const stream = this.streams.get(key) ?? [];
    this.streams.set(key, stream);
    this.#time += 1;
    const event =
      kind === 'history'
        ? ({ type: 'title_changed', title: `${stream.length + 1}` } as const)
        : ({ type: 'fs_mode_changed', mode: 'staged', actor: ACTOR } as const);
    const record = {
      sessionId: loopId as string as SessionId,
      seq: stream.length + 1,
      at: this.#time,
      event,
      cause: { command_ids: [] },
      hash: `${stream.length + 1}`,
    };
    const signal = { stream: kind, record } as LoopSignal;
    stream.push(signal);
    return signal;
  }

  async readHistory(loopId: LoopId, range: { after?: number; limit: number }) {
    return (await this.#read(loopId, 'history', range)) as readonly Stored<HistoryEvent>[];
  }

  async readControl(loopId: LoopId, range: { after?: number; limit: number }) {
    return (await this.#read(loopId, 'control', range)) as readonly Stored<ControlEvent>[];
  }

  async #read(loopId: LoopId, kind: Kind, { after = 0, limit }: { after?: number; limit: number }) {
    this.reads += 1;
    await this.pace();
    const found = (this.streams.get(`${kind} ${loopId}`) ?? []).slice(after, after + limit);
    await this.pace();
    return found.flatMap((signal) => (signal.stream === 'ephemeral' ? [] : [signal.record]));
  }
}

const ACTOR = { clientId: 'x', role: 'host_owner', source: 'test' } as const;
const ORIGIN: DelegateOrigin = {
  rootId: SESSION,
  parentId: ROOT,
  requestId: 'r' as DelegateOrigin['requestId'],
  name: 'helper',
  depth: 1,
};

/** Tells a signal as the session would. */
export function tell(feed: EventFeed, loopId: LoopId, signal: LoopSignal): void {
  feed.publish(
    SESSION,
    loopId === ROOT ? signal : { stream: 'loop', loopId, origin: ORIGIN, signal },
  );
}

export function ephemeral(): LoopSignal {
  return {
    stream: 'ephemeral',
    event: { type: 'activity_changed', activePrompt: true, openGates: 0, queued: 0 },
  };
}

/** Stored deliveries as `class loop seq`. */
export function named(item: FeedItem): string {
  return item.class === 'ephemeral'
    ? `ephemeral ${item.loopId}`
    : `${item.class} ${item.loopId} ${item.record.seq}`;
}
