import { TextDecoder } from 'node:util';
import { boundaryAfter, boundaryBefore } from '../text-limit.ts';

/** Keeps the last part of an output, addressed by the number of UTF-8 bytes since its beginning. */
export class OutputRing {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #capacity: number;
  #bytes: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Position of the first byte that is kept. */
  #start = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Takes the next bytes; what is not UTF-8 becomes U+FFFD. */
  write(bytes: Uint8Array): void {
    this.#push(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Takes what an unfinished character left over. */
  end(): void {
    this.#push(this.#decoder.decode());
  }

  /**
   * Text from position `from` on, at most `maxBytes`, cut between characters; `next` is where it goes on. A part that
   * is not kept any more is replaced by a note.
   */
  read(from: number, maxBytes: number): { text: string; next: number } {
    this.#join();
    const missed = Math.max(0, this.#start - from);
    const begin = boundaryAfter(
      this.#bytes,
      Math.min(Math.max(0, from - this.#start), this.#bytes.length),
    );
    const end = boundaryBefore(this.#bytes, Math.min(begin + maxBytes, this.#bytes.length));
    const text = this.#bytes.toString('utf8', begin, Math.max(begin, end));
    return {
      text: missed > 0 ? `[… ${missed} earlier bytes are not kept …]\n${text}` : text,
      next: this.#start + Math.max(begin, end),
    };
  }

  #push(text: string): void {
    if (text === '') return;
    const bytes = Buffer.from(text, 'utf8');
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    // Joined now and then: at every piece it would be quadratic.
    if (this.#pendingBytes > this.#capacity) this.#join();
  }

  #join(): void {
    if (this.#pending.length === 0) return;
    const all = Buffer.concat([this.#bytes, ...this.#pending]);
    const cut = boundaryAfter(all, Math.max(0, all.length - this.#capacity));
    this.#bytes = cut === 0 ? all : Buffer.from(all.subarray(cut));
    this.#start += cut;
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}
