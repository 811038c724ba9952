import type { Unmarked } from './frame-stamp.ts';

/** A frame as it was sent to a client; `replayed` if it tells something anew by itself. */
export type SentFrame = Unmarked & {
  readonly eventId: number;
  readonly sessionId?: string;
  readonly kind: 'answer' | 'request' | 'notification';
  /** Of an answer: what it answers, as a key. */
  readonly answers?: string;
  /** What it tells: the kind of an update, else its method. */
  readonly type: string;
};

/** How much is kept to be sent again. */
export type BufferLimits = {
  readonly frames: number;
  /** Of all texts together, in UTF-16 units. */
  readonly chars: number;
};

/** Source: Harn session control, ACP over WebSocket; the size is ours, so that memory is bounded. */
export const BUFFER_LIMITS: BufferLimits = { frames: 4096, chars: 16 * 1024 * 1024 };

/** The last frames that went out, oldest first. Ids may have gaps; what was not kept is not missed. */
export class FrameBuffer {
  readonly #limits: BufferLimits;
  #frames: SentFrame[] = [];
  #first = 0;
  #chars = 0;
  /** Of the newest frame that was dropped. */
  #dropped = 0;

  constructor(limits: BufferLimits = BUFFER_LIMITS) {
    this.#limits = limits;
  }

  push(frame: SentFrame): void {
    this.#frames.push(frame);
    this.#chars += frame.body.length;
    while (this.#length > this.#limits.frames || this.#chars > this.#limits.chars) this.#drop();
    if (this.#first < this.#limits.frames) return;
    this.#frames = this.#frames.slice(this.#first);
    this.#first = 0;
  }

  get #length(): number {
    return this.#frames.length - this.#first;
  }

  #drop(): void {
    const oldest = this.#frames[this.#first];
    if (oldest === undefined) return;
    this.#first += 1;
    this.#chars -= oldest.body.length;
    this.#dropped = oldest.eventId;
  }

  /** True if nothing behind the cursor was dropped. */
  covers(cursor: number): boolean {
    return cursor >= this.#dropped;
  }

  /** What went out behind the cursor. */
  after(cursor: number): readonly SentFrame[] {
    return this.#frames.slice(this.#first).filter(({ eventId }) => eventId > cursor);
  }
}
