import type { Disposable } from '../../../base/disposables.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { JsonObject } from '../../../base/json.ts';
import { RpcError } from '../../../protocol/errors.ts';
import type {
  EventsFrom,
  PilothouseAgentMethods,
  PilothouseClientNotifications,
} from '../../../protocol/pilothouse.ts';
import type { IncomingRequest, Reply, RpcPeer } from '../../../protocol/transport/rpc-types.ts';
import type { SessionHost } from '../../host/api.ts';
import type { FeedItem, FeedRequest } from '../../host/feed/feed-types.ts';
import type { EventSubscription } from '../../host/feed/subscription.ts';
import type { Log } from '../../session/ports.ts';
import type { LoopId, SessionId } from '../../session/words.ts';
import { normalised } from '../control/control-params.ts';
import * as checks from '../generated/schema-checks.mjs';
import { requireValid } from '../params.ts';
import { causeOf } from '../projection/projected.ts';
import { asRpcError } from '../wire-errors.ts';

/** How many subscriptions one client may have at once. */
const MOST_SUBSCRIPTIONS = 64;

/** Methods by which a client follows events. */
export const EVENT_METHODS = [
  '_pilothouse/events/subscribe',
  '_pilothouse/events/unsubscribe',
] as const satisfies readonly (keyof PilothouseAgentMethods)[];

type Params<M extends (typeof EVENT_METHODS)[number]> = PilothouseAgentMethods[M][0];
type Notified = PilothouseClientNotifications['_pilothouse/event'];

/** What the desk needs around it. */
export type EventDeskDeps = {
  readonly events: SessionHost['events'];
  readonly peer: RpcPeer;
  readonly ids: Ids;
  readonly log: Log;
};

/** The subscriptions of one client. Each is read as fast as the client takes what it is sent. */
export class EventDesk implements Disposable {
  readonly #deps: EventDeskDeps;
  readonly #open = new Map<string, EventSubscription>();
  #opening = 0;
  #isDisposed = false;

  constructor(deps: EventDeskDeps) {
    this.#deps = deps;
  }

  /** What answers the method; undefined if it is none of these. */
  handler(name: string): ((request: IncomingRequest) => Promise<Reply>) | undefined {
    switch (name) {
      case '_pilothouse/events/subscribe':
        return (request) => this.#subscribe(request.params);
      case '_pilothouse/events/unsubscribe':
        return (request) => this.#unsubscribe(request.params);
      default:
        return undefined;
    }
  }

  async #subscribe(given: unknown): Promise<Reply> {
    // The params have just passed the check that states their type.
    const params = requireValid(
      checks.eventsSubscribe,
      normalised(given),
    ) as Params<'_pilothouse/events/subscribe'>;
    if (this.#open.size + this.#opening >= MOST_SUBSCRIPTIONS)
      throw new RpcError(
        'invalidRequest',
        `This client follows ${MOST_SUBSCRIPTIONS} subscriptions already. End one with _pilothouse/events/unsubscribe.`,
        { reason: 'too_many_subscriptions' },
      );
    this.#opening += 1;
    try {
      const { events, lastEventId } = await this.#deps.events.subscribe(requestOf(params));
      const subscriptionId = this.#deps.ids.unique();
      this.#open.set(subscriptionId, events);
      if (this.#isDisposed) events.dispose();
      return {
        result: { subscriptionId, lastEventId },
        after: () => void this.#follow(subscriptionId, events),
      };
    } catch (error) {
      throw asRpcError(error, { sessionId: params.sessionId });
    } finally {
      this.#opening -= 1;
    }
  }

  /** Ending what has ended is harmless. */
  async #unsubscribe(given: unknown): Promise<Reply> {
    const { subscriptionId } = requireValid(
      checks.eventsUnsubscribe,
      given ?? {},
    ) as Params<'_pilothouse/events/unsubscribe'>;
    this.#close(subscriptionId);
    return { result: {} };
  }

  /** Never rejects. */
  async #follow(subscriptionId: string, events: EventSubscription): Promise<void> {
    const { peer, log } = this.#deps;
    try {
      for await (const item of events) {
        if (!this.#open.has(subscriptionId)) return;
        peer.notify('_pilothouse/event', shown(subscriptionId, item));
        if (peer.isBehind) await peer.taken();
      }
      this.#ended(subscriptionId, { reason: 'deleted' });
    } catch (error) {
      log.error('A subscription ended: its events could not be read', {
        message: messageOf(error),
      });
      this.#ended(subscriptionId, { reason: 'failed', message: messageOf(error) });
    }
  }

  #ended(
    subscriptionId: string,
    why: Omit<PilothouseClientNotifications['_pilothouse/events_ended'], 'subscriptionId'>,
  ): void {
    if (!this.#open.delete(subscriptionId)) return;
    this.#deps.peer.notify('_pilothouse/events_ended', { subscriptionId, ...why });
  }

  #close(subscriptionId: string): void {
    const events = this.#open.get(subscriptionId);
    // Forgotten first: what ends by the client's wish is not told.
    this.#open.delete(subscriptionId);
    events?.dispose();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const subscriptionId of [...this.#open.keys()]) this.#close(subscriptionId);
  }
}

function requestOf(params: Params<'_pilothouse/events/subscribe'>): FeedRequest {
  const { sessionId, loops, classes, from } = params;
  return {
    sessionId: sessionId as SessionId,
    ...(loops === undefined ? {} : { loops: loops as readonly string[] as readonly LoopId[] }),
    ...(classes === undefined ? {} : { classes }),
    ...(from === undefined ? {} : { from: fromOf(from) }),
  };
}

function fromOf(from: EventsFrom): NonNullable<FeedRequest['from']> {
  if (typeof from === 'number') return from;
  return new Map(Object.entries(from).map(([loopId, place]) => [loopId as LoopId, place]));
}

function shown(subscriptionId: string, item: FeedItem): Notified {
  const { loopId } = item;
  // What the journal holds is JSON, and what is only told is made of the same.
  const json = (event: object): JsonObject => event as JsonObject;
  if (item.class === 'ephemeral')
    return { subscriptionId, loopId, class: item.class, event: json(item.event) };
  const { seq, at, hash, event } = item.record;
  return {
    subscriptionId,
    loopId,
    class: item.class,
    eventId: seq,
    at,
    hash,
    ...causeOf(item.record),
    event: json(event),
  };
}
