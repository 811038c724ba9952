import type { RawData, WebSocket } from 'ws';
import { Deferred } from '../../../base/deferred.ts';
import { messageOf } from '../../../base/errors.ts';
import { RPC_CODES } from '../../../protocol/errors.ts';
import { FaultAnswers } from '../../../protocol/transport/fault-answers.ts';
import { type ParsedFrame, parseFrame } from '../../../protocol/transport/message.ts';
import type { Role } from '../../acp/access/credential.ts';
import type { Log } from '../../session/ports.ts';
import { type BeatTimes, Heartbeat } from './heartbeat.ts';
import { asLine, SocketSink, textOf } from './socket-port.ts';
import type { Worker, WorkerClient } from './worker.ts';

/** More messages than this, and the client is not read on before the earlier ones are dealt with. */
const MOST_WAITING = 256;

/** The close codes that this door gives. Source: RFC 6455, 7.4, and the IANA registry of close codes. */
export const CLOSE = { goingAway: 1001, hostGone: 1012, tryLater: 1013 } as const;

/** A client's message. */
export type ClientMessage = { readonly text: string; readonly parsed: ParsedFrame };

/** What a socket's client is made of. */
export type WsClientOptions = {
  readonly socket: WebSocket;
  readonly role: Role;
  /** It relays a client that comes by other means, and never comes back to where it was. */
  readonly isRelay: boolean;
  readonly times: BeatTimes;
  /**
   * Looks at a message before it goes to the worker. A promise holds all later ones back until it is settled; it never
   * rejects. Undefined: the worker gets the message.
   */
  readonly look: (message: ClientMessage, client: WsClient) => Promise<void> | undefined;
  readonly onClosed: (client: WsClient) => void;
  readonly log: Log;
};

/** One open socket and the worker that it speaks to. Messages are dealt with in their order. */
export class WsClient implements WorkerClient {
  readonly role: Role;
  readonly isRelay: boolean;
  readonly #options: WsClientOptions;
  readonly #socket: WebSocket;
  readonly #sink: SocketSink;
  readonly #beat: Heartbeat;
  readonly #faults = new FaultAnswers(Date.now);
  readonly #waiting: (ClientMessage | null)[] = [];
  readonly #gone = new Deferred<void>();
  readonly #asked = new Deferred<Extract<ParsedFrame, { kind: 'request' }> | null>();
  #worker: Worker | null = null;
  #isBusy = false;
  #isHostBehind = false;

  constructor(options: WsClientOptions) {
    const { socket, role, isRelay, times, log } = options;
    this.#options = options;
    this.#socket = socket;
    this.role = role;
    this.isRelay = isRelay;
    this.#sink = new SocketSink(socket, () => this.#worker?.clientReady(this));
    this.#beat = new Heartbeat(socket, times, () => {
      log.info('A WebSocket client gives no sign of life any more');
      socket.terminate();
    });
    socket.on('message', (data, isBinary) => this.#came(data, isBinary));
    socket.on('close', () => this.#closed());
    // What is wrong with a socket is told by its close.
    socket.on('error', (error) => log.debug('A WebSocket failed', { error: messageOf(error) }));
  }

  /** Null until the host is reached. */
  get worker(): Worker | null {
    return this.#worker;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** False if it gives no sign of life in time; its socket is closed then. */
  probe(): Promise<boolean> {
    return this.#beat.probe();
  }

  /** Speaks to this worker from now on. */
  speakTo(worker: Worker): void {
    this.#worker = worker;
    this.#isHostBehind = false;
    this.#drain();
    this.#readOn();
  }

  send(text: string): boolean {
    return this.#sink.send(text);
  }

  hostReady(): void {
    this.#isHostBehind = false;
    this.#drain();
    this.#readOn();
  }

  hostGone(): void {
    this.close(CLOSE.hostGone, 'The session host has ended. Connect again.');
  }

  /** Resolves when the socket is closed. */
  get closed(): Promise<void> {
    return this.#gone.promise;
  }

  /** What a client without a worker asks first; null if it asks nothing in time. */
  async firstRequest(
    deadlineMs: number,
  ): Promise<Extract<ParsedFrame, { kind: 'request' }> | null> {
    const limit = setTimeout(() => this.#asked.resolve(null), deadlineMs);
    const request = await this.#asked.promise;
    clearTimeout(limit);
    return request;
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  /** Ends it without a goodbye. */
  terminate(): void {
    this.#socket.terminate();
  }

  #closed(): void {
    this.#beat.dispose();
    this.#waiting.length = 0;
    this.#asked.resolve(null);
    this.#options.onClosed(this);
    this.#gone.resolve();
  }

  #came(data: RawData, isBinary: boolean): void {
    const text = isBinary ? '' : textOf(data);
    const parsed = parseFrame(text);
    if (parsed.kind === 'request') this.#asked.resolve(parsed);
    this.#waiting.push(isBinary ? null : { text, parsed });
    this.#drain();
    if (this.#waiting.length > MOST_WAITING) this.#socket.pause();
  }

  #drain(): void {
    while (this.#worker !== null && !this.#isBusy && !this.#isHostBehind) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next === null) this.#fault(RPC_CODES.invalidRequest, BINARY);
      else this.#deal(next, this.#worker);
    }
  }

  #deal(message: ClientMessage, worker: Worker): void {
    const { parsed, text } = message;
    if (parsed.kind === 'unparsable') {
      this.#fault(RPC_CODES.parseError, `Parse error: ${parsed.reason}`);
      return;
    }
    const looked = this.#options.look(message, this);
    if (looked === undefined) {
      if (worker.fromClient(asLine(text), parsed)) return;
      this.#isHostBehind = true;
      this.#socket.pause();
      return;
    }
    this.#isBusy = true;
    void looked.then(() => {
      this.#isBusy = false;
      this.#drain();
      this.#readOn();
    });
  }

  #readOn(): void {
    if (!this.#isHostBehind && this.#waiting.length <= MOST_WAITING / 2) this.#socket.resume();
  }

  /** What is no message is answered, though not as often as somebody likes to send it. */
  #fault(code: number, message: string): void {
    const answer = this.#faults.answer(code, message);
    if (answer !== null) this.#worker?.say(answer);
  }
}

const BINARY = 'Invalid request: messages are text, one in each frame';
