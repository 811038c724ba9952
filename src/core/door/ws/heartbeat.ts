import type { WebSocket } from 'ws';

/** How often a peer is asked for a sign of life, and how long it may take to give one, in milliseconds. */
export type BeatTimes = { readonly pingMs: number; readonly pongMs: number };

/** Source: Harn session control, ACP over WebSocket. */
export const BEAT_TIMES: BeatTimes = { pingMs: 30_000, pongMs: 10_000 };

/** What is asked of a socket here. */
export type BeatSocket = Pick<
  WebSocket,
  'on' | 'off' | 'ping' | 'isPaused' | 'bufferedAmount' | 'readyState' | 'OPEN'
>;

/**
 * Finds out that the peer of an open socket is gone though nobody said so. Everything that it sends is a sign of life;
 * so is that it takes what was sent. Nothing is asked of a peer that this side does not read at the moment.
 */
export class Heartbeat {
  readonly #socket: BeatSocket;
  readonly #times: BeatTimes;
  readonly #onDead: () => void;
  #timer: NodeJS.Timeout | undefined;
  #waiters: ((isAlive: boolean) => void)[] = [];
  /** What had not been taken when the peer was asked; null while nothing is asked. */
  #asked: number | null = null;
  #isOver = false;

  constructor(socket: BeatSocket, times: BeatTimes, onDead: () => void) {
    this.#socket = socket;
    this.#times = times;
    this.#onDead = onDead;
    socket.on('pong', this.#alive);
    socket.on('ping', this.#alive);
    socket.on('message', this.#alive);
    this.#wait();
  }

  /** Asks at once. False if no sign of life came in time; the peer counts as dead then. */
  probe(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#ask();
    });
  }

  dispose(): void {
    this.#over();
  }

  readonly #alive = (): void => {
    if (this.#isOver) return;
    this.#asked = null;
    for (const tell of this.#waiters.splice(0)) tell(true);
    this.#wait();
  };

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), this.#times.pingMs);
  }

  #ask(): void {
    if (this.#socket.readyState !== this.#socket.OPEN) {
      this.#dead();
      return;
    }
    clearTimeout(this.#timer);
    this.#asked = this.#socket.bufferedAmount;
    this.#socket.ping();
    this.#timer = setTimeout(() => this.#late(), this.#times.pongMs);
  }

  #late(): void {
    const left = this.#socket.bufferedAmount;
    const takes = this.#asked !== null && this.#asked > 0 && left < this.#asked;
    if (this.#socket.isPaused || takes) this.#ask();
    else this.#dead();
  }

  #dead(): void {
    if (this.#isOver) return;
    this.#over();
    this.#onDead();
  }

  #over(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#socket.off('pong', this.#alive);
    this.#socket.off('ping', this.#alive);
    this.#socket.off('message', this.#alive);
    for (const tell of this.#waiters.splice(0)) tell(false);
  }
}
