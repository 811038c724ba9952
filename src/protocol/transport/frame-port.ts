import { Deferred } from '../../base/deferred.ts';

/** Why a line could not become a frame. `bytes` is how long it was, as far as it was read. */
export type FrameFault = {
  readonly fault: 'too_long' | 'bad_utf8';
  readonly bytes: number;
};

/** One JSON text without its newline, or what came instead of one. */
export type Frame = string | FrameFault;

/** Where a port's frames go. Nothing is called before `start` or after `ended`. */
export type FrameReceiver = {
  /** False asks the other side to hold on until `ready()` is called on this port. */
  frame(frame: Frame): boolean;
  /** The peer takes frames again after `send` returned false. */
  drained(): void;
  /** The peer will send no more. Called exactly once. */
  ended(): void;
  /** The peer reads no more either: what was sent and not delivered is lost. Comes after `ended`, at most once. */
  broken?(): void;
};

/**
 * One end of a framed duplex. Frames arrive in order and whole. What is sent while the peer is behind is still
 * delivered, but the sender is asked (by `false`) to wait for `drained`.
 */
export interface FramePort {
  /** Begins delivery; call it once. What arrived earlier comes first. */
  start(receiver: FrameReceiver): void;
  send(frame: Frame): boolean;
  /** Lets a peer go on that was held by `frame` returning false. */
  ready(): void;
  /** Sends no more; what was sent is still delivered. */
  end(): void;
  /** Ends both directions at once; what was not delivered is dropped. */
  destroy(): void;
  /** Resolves when both directions have ended; never rejects. */
  readonly done: Promise<void>;
}

/** Two ends of a duplex in memory. Delivery is synchronous once the receiving end has started. */
export function createFramePair(): readonly [FramePort, FramePort] {
  const left = new MemoryPort();
  const right = new MemoryPort();
  left.connect(right);
  right.connect(left);
  return [left, right];
}

class MemoryPort implements FramePort {
  readonly #done = new Deferred<void>();
  readonly #early: Frame[] = [];
  #peer: MemoryPort | undefined;
  #receiver: FrameReceiver | undefined;
  #isHeld = false;
  #sentEnd = false;
  #gotEnd = false;

  get done(): Promise<void> {
    return this.#done.promise;
  }

  connect(peer: MemoryPort): void {
    this.#peer = peer;
  }

  start(receiver: FrameReceiver): void {
    this.#receiver = receiver;
    const hadEarly = this.#early.length > 0;
    for (const frame of this.#early.splice(0)) this.#deliver(frame);
    if (hadEarly && !this.#isHeld) this.#peer?.drain();
    if (this.#gotEnd) receiver.ended();
  }

  send(frame: Frame): boolean {
    if (this.#sentEnd) return true;
    return this.#peer?.accept(frame) ?? true;
  }

  accept(frame: Frame): boolean {
    if (this.#receiver === undefined) {
      this.#early.push(frame);
      return false;
    }
    if (!this.#done.isSettled) this.#deliver(frame);
    return !this.#isHeld;
  }

  #deliver(frame: Frame): void {
    if (this.#receiver?.frame(frame) === false) this.#isHeld = true;
  }

  ready(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#peer?.drain();
  }

  drain(): void {
    if (!this.#done.isSettled) this.#receiver?.drained();
  }

  end(): void {
    if (this.#sentEnd) return;
    this.#sentEnd = true;
    this.#peer?.acceptEnd();
    this.#settle();
  }

  acceptEnd(): void {
    if (this.#gotEnd) return;
    this.#gotEnd = true;
    this.#receiver?.ended();
    this.#settle();
  }

  destroy(): void {
    if (this.#done.isSettled) return;
    this.#breakOff();
    this.#peer?.acceptBreak();
  }

  acceptBreak(): void {
    if (this.#done.isSettled) return;
    this.#breakOff();
    this.#receiver?.broken?.();
  }

  #breakOff(): void {
    const hadEnd = this.#gotEnd;
    this.#early.length = 0;
    this.#sentEnd = true;
    this.#gotEnd = true;
    this.#settle();
    if (!hadEnd) this.#receiver?.ended();
  }

  #settle(): void {
    if (this.#sentEnd && this.#gotEnd) this.#done.resolve();
  }
}
