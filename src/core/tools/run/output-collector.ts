import { stripVTControlCharacters, TextDecoder } from 'node:util';
import { headOf, tailOf } from '../text-limit.ts';

/** What was kept of an output. */
export type CollectedOutput = {
  /** Beginning and end, with a note between them where something was left out. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
};

/**
 * Decodes an output as it arrives and keeps its beginning and its end within a limit, whatever its length. `onText`
 * gets every piece, but after `liveBytes` only a note. Nothing is ever cut inside a character.
 */
export class OutputCollector {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #half: number;
  readonly #liveBytes: number;
  readonly #onText: (text: string) => void;
  #head = '';
  #headFull = false;
  #tail = '';
  #totalBytes = 0;
  #leftOut = false;
  #live = 0;

  constructor(options: {
    readonly keepBytes: number;
    readonly liveBytes: number;
    readonly onText: (text: string) => void;
  }) {
    this.#half = Math.floor(options.keepBytes / 2);
    this.#liveBytes = options.liveBytes;
    this.#onText = options.onText;
  }

  /** Takes the next bytes. */
  write(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Takes what an unfinished character left over, and returns what was kept. */
  end(): CollectedOutput {
    this.#take(this.#decoder.decode());
    const tail = tailOf(this.#tail, this.#half);
    const truncated = this.#leftOut || tail.length < this.#tail.length;
    const note = truncated
      ? `\n\n[… the middle of ${this.#totalBytes} bytes was left out; write the output to a file to read all of it …]\n\n`
      : '';
    return {
      text: readableText(this.#head + note + tail),
      totalBytes: this.#totalBytes,
      truncated,
    };
  }

  #take(text: string): void {
    if (text === '') return;
    this.#sendLive(text);
    let rest = text;
    if (!this.#headFull) {
      const added = headOf(text, this.#half - Buffer.byteLength(this.#head));
      this.#head += added;
      rest = text.slice(added.length);
      this.#headFull = rest !== '';
    }
    if (rest === '') return;
    this.#tail += rest;
    // Trimmed only now and then: to trim at every piece would be quadratic.
    if (this.#tail.length < this.#half * 4) return;
    this.#tail = tailOf(this.#tail, this.#half);
    this.#leftOut = true;
  }

  #sendLive(text: string): void {
    if (this.#live > this.#liveBytes) return;
    this.#live += Buffer.byteLength(text);
    this.#onText(
      this.#live > this.#liveBytes
        ? '\n[… the output is too long to be followed; its end will be shown when the command ends …]\n'
        : text,
    );
  }
}

/** Takes out what only a terminal understands. */
function readableText(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\0', '\uFFFD');
}
