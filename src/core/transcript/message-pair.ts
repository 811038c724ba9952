import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  type Message,
} from 'vscode-languageserver';
import type { JsonObject } from '../../base/json.ts';

/** Hands messages that arrived by another road to a JSON-RPC connection. */
export class PushReader extends AbstractMessageReader {
  #callback: DataCallback | null = null;

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    return {
      dispose: () => {
        this.#callback = null;
      },
    };
  }

  push(message: Message): void {
    this.#callback?.(message);
  }
}

/** Sends messages by another road. */
export class SendWriter extends AbstractMessageWriter {
  readonly #send: (message: JsonObject) => void;

  constructor(send: (message: JsonObject) => void) {
    super();
    this.#send = send;
  }

  async write(message: Message): Promise<void> {
    this.#send({ ...message });
  }

  end(): void {
    // The road is not ours to close.
  }
}
