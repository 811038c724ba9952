import type { FramePort } from './frame-port.ts';

/** How much may wait for a peer that does not read, in characters: 64 Mi. */
export const MAX_QUEUED_CHARS = 64 * 1024 * 1024;

/** Two messages made one; `added` is how many characters longer it is than the earlier one, about. */
export type Merged = { readonly message: object; readonly added: number };

/** Makes one message of two that follow each other, or undefined if they must stay two. */
export type Merge = (earlier: object, later: object) => Merged | undefined;

/** How a queue deals with a peer that is behind. */
export type OutboundOptions = {
  readonly merge?: Merge | undefined;
  readonly maxQueuedChars?: number | undefined;
  /** The limit was passed: everything queued was dropped and nothing more is taken. */
  readonly onOverflow: () => void;
};

/**
 * What goes out through a port, in order. While the peer is behind, messages wait here and mergeable neighbours
 * become one, so that a slow reader of streamed text is sent fewer, larger pieces.
 */
export class OutboundQueue {
  readonly #port: FramePort;
  readonly #options: OutboundOptions;
  readonly #waiting: string[] = [];
  #first = 0;
  /** The last message is kept apart, since the next may merge into it; `text` is null once that has happened. */
  #tail: { message: object; text: string | null; chars: number } | undefined;
  #chars = 0;
  #isBehind = false;
  #isClosed = false;
  #waiters: (() => void)[] = [];

  constructor(port: FramePort, options: OutboundOptions) {
    this.#port = port;
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#tail === undefined && this.#first === this.#waiting.length;
  }

  /** True while the peer has not taken what was sent. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** How many characters wait here. */
  get chars(): number {
    return this.#chars;
  }

  /** Resolves when the peer has taken everything, or when nothing is sent any more; never rejects. */
  async taken(): Promise<void> {
    if (this.#isClosed || (!this.#isBehind && this.isEmpty)) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #wakeWaiters(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Throws if the message can't be written as JSON. */
  send(message: object): void {
    if (this.#isClosed) return;
    if (!this.#isBehind && this.isEmpty) {
      this.#isBehind = !this.#port.send(JSON.stringify(message));
      return;
    }
    if (!this.#mergeIntoTail(message)) this.#enqueue(message);
    if (this.#chars <= (this.#options.maxQueuedChars ?? MAX_QUEUED_CHARS)) return;
    this.close();
    this.#options.onOverflow();
  }

  #mergeIntoTail(message: object): boolean {
    if (this.#tail === undefined) return false;
    const merged = this.#options.merge?.(this.#tail.message, message);
    if (merged === undefined) return false;
    this.#chars += merged.added;
    this.#tail = { message: merged.message, text: null, chars: this.#tail.chars + merged.added };
    return true;
  }

  #enqueue(message: object): void {
    const text = JSON.stringify(message);
    this.#writeTail();
    this.#chars += text.length;
    this.#tail = { message, text, chars: text.length };
  }

  #writeTail(): void {
    if (this.#tail === undefined) return;
    const text = this.#tail.text ?? JSON.stringify(this.#tail.message);
    this.#chars += text.length - this.#tail.chars;
    this.#waiting.push(text);
    this.#tail = undefined;
  }

  /** The port takes frames again. */
  drained(): void {
    this.#isBehind = false;
    while (!this.#isBehind && !this.isEmpty) {
      if (this.#first === this.#waiting.length) this.#writeTail();
      const text = this.#waiting[this.#first] ?? '';
      this.#waiting[this.#first] = '';
      this.#first += 1;
      this.#chars -= text.length;
      this.#isBehind = !this.#port.send(text);
    }
    if (this.#first === this.#waiting.length || this.#first > 4096) {
      this.#waiting.splice(0, this.#first);
      this.#first = 0;
    }
    if (!this.#isBehind && this.isEmpty) this.#wakeWaiters();
  }

  /** Hands everything to the port whether it wants it or not; used before the end. */
  flush(): void {
    this.#writeTail();
    for (const text of this.#waiting.slice(this.#first)) this.#port.send(text);
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#first = 0;
    this.#tail = undefined;
    this.#chars = 0;
    this.#wakeWaiters();
  }
}
