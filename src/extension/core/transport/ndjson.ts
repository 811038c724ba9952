import type { Readable, Writable } from 'node:stream';
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  type Message,
} from 'vscode-jsonrpc/node';
import { type Frame, parseLine } from './frames.ts';
import { LineSplitter } from './line-splitter.ts';

/** Longest line taken from the agent. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Reads newline-delimited JSON-RPC. What is not a message goes to `onJunk`, and the stream goes on. ACP's
 * `$/cancel_request {requestId}` becomes the `$/cancelRequest {id}` that the connection understands.
 */
export class NdjsonReader extends AbstractMessageReader {
  readonly #stream: Readable;
  readonly #onJunk: (text: string) => void;

  constructor(stream: Readable, onJunk: (text: string) => void) {
    super();
    this.#stream = stream;
    this.#onJunk = onJunk;
    stream.on('error', (error) => this.fireError(error));
    stream.on('close', () => this.fireClose());
  }

  listen(callback: DataCallback): Disposable {
    const splitter = new LineSplitter(
      {
        line: (text) => {
          const parsed = parseLine(text);
          if (parsed.kind === 'frame') callback(toMessage(parsed.frame));
          else this.#onJunk(parsed.text);
        },
        tooLong: (bytes) => this.#onJunk(`(a line of ${bytes} bytes was dropped)`),
      },
      MAX_LINE_BYTES,
    );
    const onData = (chunk: Buffer): void => splitter.push(chunk);
    const onEnd = (): void => splitter.end();
    this.#stream.on('data', onData);
    this.#stream.on('end', onEnd);
    return {
      dispose: () => {
        this.#stream.off('data', onData);
        this.#stream.off('end', onEnd);
      },
    };
  }
}

/** Writes one message a line. A write to a closed stream rejects. */
export class NdjsonWriter extends AbstractMessageWriter {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    super();
    this.#stream = stream;
    stream.on('error', (error) => this.fireError(error));
    stream.on('close', () => this.fireClose());
  }

  async write(message: Message): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(`${JSON.stringify(message)}\n`, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  end(): void {
    this.#stream.end();
  }
}

function toMessage(frame: Frame): Message {
  if (frame['method'] !== '$/cancel_request' || frame['id'] !== undefined) return frame;
  const params = frame['params'];
  const id =
    typeof params === 'object' && params !== null && 'requestId' in params
      ? params.requestId
      : undefined;
  const message: Frame & { method: string; params: unknown } = {
    jsonrpc: '2.0',
    method: '$/cancelRequest',
    params: { id },
  };
  return message;
}
