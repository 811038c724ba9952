import type { Clock } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import type { Ids } from '../../../base/ids.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { resolution } from '../commands/resolution.ts';
import type { ControlEvent, NextTurns, QueueChange } from '../control-events.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import { HOST } from '../state/gates.ts';
import type { Recorder } from '../state/recorder.ts';
import type { CommandId, QueueItemId, Terminal } from '../words.ts';
import { collision, type HeldTurn, type NextTurnQueue } from './next-turns.ts';
import { ControlRefused } from './refusal.ts';
import type { QueueChanged, QueueRequest } from './session-control.ts';

/** What the next-turn queue needs from the loop that its messages are sent to. */
export type DeskParts = {
  readonly queue: NextTurnQueue;
  readonly recorder: Recorder;
  readonly ids: Ids;
  readonly clock: Clock;
  /** True if a command of this id was admitted. */
  readonly isTaken: (commandId: CommandId) => boolean;
  /** True for a command that was accepted before a restart and waits here since. */
  readonly isHeld: (commandId: CommandId) => boolean;
  /** Begins the next turn if none runs. */
  readonly wake: () => void;
  /** Stops the running turn and every prompt that waits, so that a message can be sent now. */
  readonly makeWay: (actor: Actor) => void;
  /** Tells subscribers what waits now; called when a change is on disk. */
  readonly announce: () => void;
};

/** An item that becomes the next prompt, with the record that has to go into the same append as its admission. */
export type SentTurn = { readonly item: HeldTurn; readonly sent: ControlEvent };

/** An input of before a restart, as it waits now. */
export type HeldInput = {
  readonly itemId: QueueItemId;
  readonly content: readonly ContentBlock[];
  readonly actor: Actor;
  /** The command that brought it. */
  readonly cause: CommandId;
};

type Urgent = { readonly itemId: QueueItemId; readonly sent: Deferred<void> };

/** Endings after which the rest of the queue would be sent on without anybody having looked. */
function isFailure({ kind }: Terminal): boolean {
  return kind !== 'natural' && kind !== 'user_cancelled';
}

/**
 * Takes requests about the next-turn queue, and hands its items to the loop one after another. An item leaves the
 * queue in the append that begins its turn, so that a crash neither loses nor doubles it.
 */
export class NextTurnDesk {
  readonly #parts: DeskParts;
  #urgent: Urgent | null = null;
  #closed = false;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  get view(): NextTurns {
    return this.#parts.queue.view;
  }

  /** True if an item would be sent as soon as nothing runs. */
  get willSend(): boolean {
    return this.#next() !== null;
  }

  /** True if an item goes before every prompt that waits. */
  get isUrgent(): boolean {
    return this.#urgent !== null;
  }

  /** True if the id belongs to an item that is not sent yet, or that was removed. */
  reserves(commandId: CommandId): boolean {
    const { queue, isTaken } = this.#parts;
    return queue.knows(toItemId(commandId)) && !isTaken(commandId);
  }

  /** See `SessionControl.changeQueue`. */
  async change(request: QueueRequest, actor: Actor): Promise<QueueChanged> {
    const { queue, ids } = this.#parts;
    if (this.#closed)
      throw new ControlRefused('session_closed', 'The session is closed. Load or resume it first.');
    if (request.kind === 'add' && request.itemId !== undefined) this.#refuseTaken(request.itemId);
    const decision = queue.decide(request, () => ids.unique() as QueueItemId);
    if (decision.kind === 'send') {
      await this.#sendNow(decision.itemId, actor);
      return { itemId: decision.itemId };
    }
    if (decision.kind === 'nothing') return { itemId: decision.itemId, isRepeat: true };
    const recorded = this.#record(decision.change, actor);
    const { change } = decision;
    if (change.kind === 'removed' && change.itemId === this.#urgent?.itemId)
      this.#giveUp('It was removed before it could be sent.');
    this.#parts.wake();
    await recorded;
    return { itemId: decision.itemId };
  }

  /** The item whose turn it is, taken out of the queue; null if there is none or the queue is paused. */
  take(): SentTurn | null {
    const item = this.#next();
    if (item === null) return null;
    const { queue, clock } = this.#parts;
    const change: QueueChange = { kind: 'sent', itemId: item.itemId };
    queue.apply(change, item.owner, clock.now());
    return { item, sent: { type: 'queue_changed', change, actor: item.owner } };
  }

  /** The append of a taken item came to this. */
  began(commandId: CommandId, appended: Promise<void>): void {
    const urgent = this.#urgent?.itemId === toItemId(commandId) ? this.#urgent : null;
    if (urgent !== null) this.#urgent = null;
    appended.then(
      () => {
        urgent?.sent.resolve();
        this.#parts.announce();
      },
      (cause: unknown) => urgent?.sent.reject(cause),
    );
  }

  /** A person pressed Stop: nothing more is sent until they say so. */
  stopped(): void {
    this.#giveUp('Stop was pressed before it could be sent; it is still in the queue.');
    const change = this.#pausing('stopped');
    // A failed append has stopped the session already.
    if (change !== null) this.#record(change, HOST).catch(() => undefined);
  }

  /** What has to be recorded with the end of a turn. */
  turnEnded(terminal: Terminal): readonly ControlEvent[] {
    return isFailure(terminal) ? this.#paused('turn_failed') : [];
  }

  /**
   * What has to be recorded when the session comes back after its process ended: inputs that were accepted and did not
   * begin are held in front of the others, and nothing is sent before a person says so.
   */
  restored(held: readonly HeldInput[]): readonly NewRecord[] {
    const { queue, clock } = this.#parts;
    const before = queue.first?.itemId ?? null;
    const records = held.map(({ itemId, content, actor, cause }): NewRecord => {
      const change: QueueChange = { kind: 'added', itemId, content, before };
      queue.apply(change, actor, clock.now());
      return {
        stream: 'control',
        event: { type: 'queue_changed', change, actor },
        cause: { command_ids: [cause] },
      };
    });
    const paused = this.#paused('restart');
    return [...records, ...controlRecords(paused)];
  }

  /** Nothing is sent any more; what is held stays for the next time. */
  close(): void {
    this.#closed = true;
    this.#giveUp('The session was closed before it could be sent; it is still in the queue.');
  }

  #next(): HeldTurn | null {
    const { queue } = this.#parts;
    if (this.#closed) return null;
    if (this.#urgent !== null) return queue.held(this.#urgent.itemId);
    return queue.paused === null ? queue.first : null;
  }

  async #sendNow(itemId: QueueItemId, actor: Actor): Promise<void> {
    if (this.#urgent !== null && this.#urgent.itemId !== itemId)
      this.#giveUp('Another message was sent first; it is still in the queue.');
    const urgent = this.#urgent ?? { itemId, sent: new Deferred<void>() };
    this.#urgent = urgent;
    this.#parts.makeWay(actor);
    this.#parts.wake();
    await urgent.sent.promise;
  }

  #giveUp(why: string): void {
    const urgent = this.#urgent;
    this.#urgent = null;
    urgent?.sent.reject(new ControlRefused('failed', why, { itemId: urgent.itemId }));
  }

  #refuseTaken(itemId: QueueItemId): void {
    const { queue, isTaken } = this.#parts;
    if (!queue.knows(itemId) && isTaken(toCommandId(itemId))) throw collision(itemId);
  }

  #pausing(why: NonNullable<NextTurns['paused']>): QueueChange | null {
    const { queue } = this.#parts;
    return queue.first === null || queue.paused !== null ? null : { kind: 'paused', why };
  }

  #paused(why: NonNullable<NextTurns['paused']>): readonly ControlEvent[] {
    const change = this.#pausing(why);
    if (change === null) return [];
    const { queue, clock } = this.#parts;
    queue.apply(change, HOST, clock.now());
    return [{ type: 'queue_changed', change, actor: HOST }];
  }

  async #record(change: QueueChange, actor: Actor): Promise<void> {
    const { queue, recorder, clock } = this.#parts;
    queue.apply(change, actor, clock.now());
    const taken = change.kind === 'removed' ? toCommandId(change.itemId) : null;
    const isHeld = taken !== null && this.#parts.isHeld(taken);
    await recorder.control(
      { type: 'queue_changed', change, actor },
      ...resolution(isHeld ? taken : null, 'cancelled', 'removed'),
    );
    this.#parts.announce();
  }
}

/** The command id that an item is sent with. */
export function toCommandId(itemId: QueueItemId): CommandId {
  return String(itemId) as CommandId;
}

function toItemId(commandId: CommandId): QueueItemId {
  return String(commandId) as QueueItemId;
}
