import { Deferred } from '../../base/deferred.ts';
import type { Frame, FramePort, FrameReceiver } from './frame-port.ts';
import { LineSplitter } from './line-splitter.ts';

/** Bytes that arrive; Node's `Readable` in binary mode is one. */
export interface ByteSource {
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** Where bytes go; Node's `Writable` is one. */
export interface ByteSink {
  on(event: 'drain' | 'finish' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  write(text: string): boolean;
  end(): unknown;
  destroy(): unknown;
}

/** Text gathered for one write is written at the latest when it is this long, in UTF-16 units. */
const GATHERED_CHARS = 32 * 1024;

/** How a port on two byte streams behaves. */
export type StreamPortOptions = {
  readonly maxLineBytes?: number;
  /**
   * Runs work soon: before anything else happens (`process.nextTick`), or at the end of this turn of the event loop
   * (`setImmediate`). With it, frames sent until then are written together; the first is written at once.
   */
  readonly soon?: (work: () => void) => void;
  /** A stream failed; the port ends quietly after that. A peer that closed its end is no failure. */
  readonly onError?: (error: Error) => void;
};

/** Newline-delimited JSON on two byte streams. The port owns both and ends them. */
export function createStreamPort(
  source: ByteSource,
  sink: ByteSink,
  options: StreamPortOptions = {},
): FramePort {
  return new StreamPort(source, sink, options);
}

class StreamPort implements FramePort {
  readonly #source: ByteSource;
  readonly #sink: ByteSink;
  readonly #options: StreamPortOptions;
  readonly #splitter: LineSplitter;
  readonly #done = new Deferred<void>();
  readonly #held: Frame[] = [];
  #receiver: FrameReceiver | undefined;
  #isHeld = false;
  #sourceOver = false;
  #endPassedOn = false;
  #sinkOver = false;
  #sentEnd = false;
  #isGathering = false;
  #gathered = '';
  #isBehind = false;

  constructor(source: ByteSource, sink: ByteSink, options: StreamPortOptions) {
    this.#source = source;
    this.#sink = sink;
    this.#options = options;
    this.#splitter = new LineSplitter(options.maxLineBytes);
    source.on('error', (error) => this.#failed(error));
    sink.on('error', (error) => this.#failed(error));
    sink.on('finish', () => this.#sinkClosed());
    sink.on('close', () => this.#sinkClosed());
    sink.on('drain', () => {
      this.#isBehind = false;
      if (!this.#sinkOver) this.#receiver?.drained();
    });
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  start(receiver: FrameReceiver): void {
    this.#receiver = receiver;
    this.#source.on('data', (chunk) => this.#splitter.push(chunk, this.#onFrame));
    this.#source.on('end', () => this.#sourceEnded());
    this.#source.on('close', () => this.#sourceEnded());
    if (this.#sourceOver) this.#passEndOn();
  }

  readonly #onFrame = (frame: Frame): void => {
    if (this.#isHeld) this.#held.push(frame);
    else if (this.#receiver?.frame(frame) === false) this.#hold();
  };

  #hold(): void {
    this.#isHeld = true;
    this.#source.pause();
  }

  ready(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    let next = this.#held.shift();
    while (next !== undefined) {
      if (this.#receiver?.frame(next) === false) {
        this.#isHeld = true;
        return;
      }
      next = this.#held.shift();
    }
    if (this.#sourceOver) this.#passEndOn();
    else this.#source.resume();
  }

  send(frame: Frame): boolean {
    if (this.#sentEnd || this.#sinkOver || typeof frame !== 'string') return true;
    if (!this.#isGathering) {
      this.#gatherOn();
      return this.#write(`${frame}\n`);
    }
    this.#gathered += `${frame}\n`;
    return this.#gathered.length < GATHERED_CHARS ? !this.#isBehind : this.#writeGathered();
  }

  #gatherOn(): void {
    const { soon } = this.#options;
    if (soon === undefined) return;
    this.#isGathering = true;
    soon(() => {
      this.#isGathering = false;
      this.#writeGathered();
    });
  }

  #writeGathered(): boolean {
    const text = this.#gathered;
    this.#gathered = '';
    return text === '' || this.#sinkOver ? !this.#isBehind : this.#write(text);
  }

  #write(text: string): boolean {
    const isFree = this.#sink.write(text);
    this.#isBehind = !isFree;
    return isFree;
  }

  end(): void {
    if (this.#sentEnd) return;
    this.#writeGathered();
    this.#sentEnd = true;
    if (this.#sinkOver) this.#settle();
    else this.#sink.end();
  }

  destroy(): void {
    this.#held.length = 0;
    this.#isHeld = false;
    this.#gathered = '';
    this.#source.destroy();
    this.#sink.destroy();
    this.#sourceEnded();
    this.#sinkClosed();
  }

  #failed(error: Error): void {
    this.#options.onError?.(error);
    this.destroy();
  }

  #sourceEnded(): void {
    if (this.#sourceOver) return;
    this.#sourceOver = true;
    this.#splitter.end(this.#onFrame);
    if (!this.#isHeld) this.#passEndOn();
  }

  #passEndOn(): void {
    if (this.#endPassedOn || this.#receiver === undefined) return;
    this.#endPassedOn = true;
    this.#receiver.ended();
    this.#settle();
  }

  #sinkClosed(): void {
    this.#sinkOver = true;
    this.#settle();
  }

  #settle(): void {
    if (this.#sinkOver && this.#sourceOver) this.#done.resolve();
  }
}
