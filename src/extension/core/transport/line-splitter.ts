const NEWLINE = 10;

/** What a splitter hands on. */
export type LineSink = {
  readonly line: (text: string) => void;
  /** A line grew past the limit; it is dropped up to its end. */
  readonly tooLong: (bytes: number) => void;
};

/**
 * Cuts a byte stream into lines at `\n` only (U+2028 is text), so that characters split over chunks stay whole.
 * Blank lines are skipped; a line longer than `maxBytes` is dropped without being kept in memory.
 */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      this.#emit();
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** The stream ended: what is left is a line even without its `\n`. */
  end(): void {
    if (this.#size > 0) this.#emit();
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  #emit(): void {
    const size = this.#size;
    const parts = this.#parts;
    this.#parts = [];
    this.#size = 0;
    if (size > this.#maxBytes) {
      this.#sink.tooLong(size);
      return;
    }
    const text = Buffer.concat(parts).toString('utf8').trim();
    if (text !== '') this.#sink.line(text);
  }
}
