import type { WebSocket } from 'ws';
import { Deferred } from '../../../base/deferred.ts';
import { RPC_CODES } from '../../../protocol/errors.ts';
import { FaultAnswers, faultMessage } from '../../../protocol/transport/fault-answers.ts';
import type { Frame, FramePort } from '../../../protocol/transport/frame-port.ts';
import { type BeatTimes, Heartbeat } from '../ws/heartbeat.ts';
import { asLine, SocketSink, textOf } from '../ws/socket-port.ts';

/** A client's line-framed port and the socket it is brought to. */
export type SocketRelay = {
  readonly client: FramePort;
  /** Open and paused. */
  readonly socket: WebSocket;
  readonly times: BeatTimes;
  /** How long the other side may take to let go of a client that sends no more, in milliseconds. */
  readonly letGoMs: number;
};

/** A client that sends no more has heard everything once nothing came for so long, in milliseconds. */
const QUIET_MS = 500;

/** How a relay ended. */
export type RelayEnd =
  | { readonly who: 'client' }
  /** The other side closed: with the code and the reason that it gave. */
  | {
      readonly who: 'server';
      readonly code: number;
      readonly reason: string;
      /** What the client sent first, if it has heard nothing at all. */
      readonly unheard: string | null;
    }
  /** The other side gave no sign of life. */
  | { readonly who: 'nobody'; readonly unheard: string | null };

/**
 * Carries messages both ways, one line each, and looks into none; each side is held back while the other is behind.
 * Resolves with how it ended; never rejects. The client's port is left open, so that a last word can be said.
 */
export function relaySocket(parts: SocketRelay): {
  readonly done: Promise<RelayEnd>;
  /** The client is gone, or shall be. */
  readonly close: () => void;
} {
  const relay = new Relay(parts);
  return { done: relay.done, close: () => relay.close() };
}

class Relay {
  readonly #client: FramePort;
  readonly #socket: WebSocket;
  readonly #letGoMs: number;
  readonly #sink: SocketSink;
  readonly #beat: Heartbeat;
  readonly #faults = new FaultAnswers(Date.now);
  readonly #ended = new Deferred<RelayEnd>();
  #timer: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #isClientGone = false;
  #unheard: string | null = null;
  #hasHeard = false;

  constructor({ client, socket, times, letGoMs }: SocketRelay) {
    this.#client = client;
    this.#socket = socket;
    this.#letGoMs = letGoMs;
    this.#sink = new SocketSink(socket, () => client.ready());
    this.#beat = new Heartbeat(socket, times, () => this.#silent());
    socket.on('message', (data) => this.#heard(textOf(data)));
    socket.on('close', (code, reason) => this.#closed(code, reason.toString('utf8')));
    client.start({
      frame: (frame) => this.#said(frame),
      drained: () => socket.resume(),
      ended: () => this.close(),
    });
    socket.resume();
  }

  get done(): Promise<RelayEnd> {
    return this.#ended.promise;
  }

  close(): void {
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    this.#timer = setTimeout(() => this.#socket.terminate(), this.#letGoMs);
    this.#awaitQuiet();
  }

  /** A socket has no end of input: what was asked last may still be answered. */
  #awaitQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#socket.close(1000), QUIET_MS);
  }

  #said(frame: Frame): boolean {
    if (typeof frame !== 'string') {
      const answer = this.#faults.answer(RPC_CODES.parseError, faultMessage(frame));
      if (answer !== null) this.#client.send(JSON.stringify(answer));
      return true;
    }
    if (!this.#hasHeard) this.#unheard ??= frame;
    return this.#sink.send(frame);
  }

  #heard(text: string): void {
    this.#hasHeard = true;
    this.#unheard = null;
    if (this.#isClientGone) this.#awaitQuiet();
    if (!this.#client.send(asLine(text))) this.#socket.pause();
  }

  #silent(): void {
    this.#finish({ who: 'nobody', unheard: this.#unheard });
    this.#socket.terminate();
  }

  #closed(code: number, reason: string): void {
    this.#finish(
      this.#isClientGone
        ? { who: 'client' }
        : { who: 'server', code, reason, unheard: this.#unheard },
    );
  }

  #finish(end: RelayEnd): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#quiet);
    this.#beat.dispose();
    this.#ended.resolve(end);
  }
}
