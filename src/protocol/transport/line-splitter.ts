import type { Frame } from './frame-port.ts';

/** A longer line is refused without being kept: 64 MiB. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 10;

/**
 * Cuts a byte stream into lines at `\n` alone (U+2028 and a lone `\r` are text). A trailing `\r` and a byte order mark
 * are dropped, blank lines are skipped, and bytes may be cut anywhere, also inside a character. A line over the limit
 * becomes a fault as soon as the limit is passed; its remainder is skipped up to the next newline.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #maxBytes: number;
  /** The begin of an unfinished line: the first `#kept` bytes of a buffer that grows by doubling. */
  #buffer = new Uint8Array(0);
  #kept = 0;
  #isSkipping = false;

  constructor(maxBytes: number = MAX_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Takes the next bytes and calls `onFrame` for every line they complete; `chunk` may be reused afterwards. */
  push(chunk: Uint8Array, onFrame: (frame: Frame) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#complete(chunk.subarray(from, at), onFrame);
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from), onFrame);
  }

  /** The stream ended: what is left is a last line. */
  end(onFrame: (frame: Frame) => void): void {
    this.#complete(new Uint8Array(0), onFrame);
  }

  #keep(part: Uint8Array, onFrame: (frame: Frame) => void): void {
    if (this.#isSkipping) return;
    const length = this.#kept + part.length;
    if (length > this.#maxBytes) {
      this.#isSkipping = true;
      this.#drop();
      onFrame({ fault: 'too_long', bytes: length });
      return;
    }
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(part, this.#kept);
    this.#kept = length;
  }

  #grow(length: number): void {
    const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2, 1024));
    larger.set(this.#buffer.subarray(0, this.#kept));
    this.#buffer = larger;
  }

  #drop(): void {
    this.#kept = 0;
    this.#buffer = new Uint8Array(0);
  }

  /** `rest` is what completes the line, so that a line within one chunk is never copied. */
  #complete(rest: Uint8Array, onFrame: (frame: Frame) => void): void {
    if (this.#kept > 0 || rest.length > this.#maxBytes) this.#keep(rest, onFrame);
    const wasSkipping = this.#isSkipping;
    const line = this.#kept > 0 ? this.#buffer.subarray(0, this.#kept) : rest;
    this.#isSkipping = false;
    if (!wasSkipping && line.length > 0) this.#emit(line, onFrame);
    this.#drop();
  }

  #emit(line: Uint8Array, onFrame: (frame: Frame) => void): void {
    const text = this.#decode(line);
    if (text === null) onFrame({ fault: 'bad_utf8', bytes: line.length });
    else if (text.trim() !== '') onFrame(text.endsWith('\r') ? text.slice(0, -1) : text);
  }

  #decode(line: Uint8Array): string | null {
    try {
      return this.#decoder.decode(line);
    } catch (error) {
      if (error instanceof TypeError) return null;
      throw error;
    }
  }
}
