import type { RawData, WebSocket } from 'ws';
import { MAX_LINE_BYTES } from '../../../protocol/transport/line-splitter.ts';

/** A message may be as long as a line: 64 MiB. */
export const MAX_MESSAGE_BYTES = MAX_LINE_BYTES;
/** More than this, in bytes, and the other side of a relay is held back until the peer has taken it. */
const HIGH_WATER = 1024 * 1024;

/** Sends text and says when there is room again; each message is one frame. */
export class SocketSink {
  readonly #socket: WebSocket;
  readonly #onRoom: () => void;
  #isBehind = false;

  /** `onRoom` is called once after `send` has returned false, when more may come. */
  constructor(socket: WebSocket, onRoom: () => void) {
    this.#socket = socket;
    this.#onRoom = onRoom;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** False asks to wait for `onRoom`. A socket that is closed takes everything and keeps nothing. */
  send(text: string): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return true;
    this.#socket.send(text, () => this.#sent());
    if (this.#socket.bufferedAmount > HIGH_WATER) this.#isBehind = true;
    return !this.#isBehind;
  }

  #sent(): void {
    if (!this.#isBehind || this.#socket.bufferedAmount > HIGH_WATER / 2) return;
    this.#isBehind = false;
    this.#onRoom();
  }
}

/** The text of a message as a line: a line break in JSON stands between its parts only. */
export function asLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/gu, ' ') : text;
}

/** The text of a message that was sent as text. */
export function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}
