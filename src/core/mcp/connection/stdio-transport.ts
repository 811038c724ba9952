import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { LineSplitter } from '../../../protocol/transport/line-splitter.ts';
import { McpError } from '../errors.ts';
import type { Sdk } from './load-sdk.ts';
import type { ProcessEnd, ServerProcess } from './server-process.ts';

/**
 * Newline-delimited JSON over a process of ours: the library's own stdio transport starts no process group and lets
 * parts of this process's environment through.
 */
export class StdioTransport implements Transport {
  readonly #sdk: Sdk;
  readonly #process: ServerProcess;
  readonly #lines = new LineSplitter();
  readonly #onErrorText: (text: string) => void;
  #how: 'gently' | 'now' = 'gently';
  #end: ProcessEnd | Error | null = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;

  constructor(sdk: Sdk, process: ServerProcess, onErrorText: (text: string) => void) {
    this.#sdk = sdk;
    this.#process = process;
    this.#onErrorText = onErrorText;
  }

  /** How the process ended, once it has. */
  get end(): ProcessEnd | Error | null {
    return this.#end;
  }

  async start(): Promise<void> {
    this.#process.listen((chunk) => this.#take(chunk), this.#onErrorText);
    void this.#process.ended.then((end) => {
      this.#end = end;
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#process.write(this.#sdk.serializeMessage(message));
  }

  /** Makes a later `close` quick. */
  hurry(): void {
    this.#how = 'now';
  }

  async close(): Promise<void> {
    await this.#process.stop(this.#how);
  }

  #take(chunk: Buffer): void {
    this.#lines.push(chunk, (frame) => {
      if (typeof frame === 'string') this.#receive(frame);
      else {
        const text = `The server sent a line that can't be read (${frame.fault}, ${frame.bytes} bytes)`;
        this.onerror?.(new McpError('mcp.failed', text));
        // Whoever waits for that answer would wait in vain.
        if (frame.fault === 'too_long') void this.#process.stop('now');
      }
    });
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.#sdk.deserializeMessage(line);
    } catch {
      // Servers print banners and debug output where only protocol belongs; the rest of the stream is still good.
      this.onerror?.(new McpError('mcp.failed', 'The server wrote something that is no message'));
      return;
    }
    this.onmessage?.(message);
  }
}
