import type { Socket } from 'node:net';
import { Deferred } from '../../../base/deferred.ts';
import type { HostClientSide, HostHello, HostWelcome } from '../../../protocol/host-link.ts';
import { HOST_LINK_VERSION } from '../../../protocol/host-link.ts';
import type { FramePort } from '../../../protocol/transport/frame-port.ts';
import { createStreamPort } from '../../../protocol/transport/stream-port.ts';
import type { AcpConnection } from '../../acp/types.ts';
import { sendWelcome } from './listener.ts';

/** How long a door may take to take what a host said last, in milliseconds. */
const LAST_WORD_MS = 1_000;

/** What the host's process knows of itself. */
export type HostSelf = {
  readonly version: string;
  readonly startedAt: number;
  /** Live sessions, and those of them that work. */
  readonly activity: () => { readonly sessions: number; readonly running: number };
  /** True once its store takes no more records: only another process can go on. */
  readonly isBroken: () => boolean;
};

/** What visitors are served with. */
export type VisitorParts = {
  readonly self: HostSelf;
  readonly serve: (port: FramePort, client: HostClientSide) => AcpConnection;
  /** Somebody asked the host to end. */
  readonly onStop: () => void;
  /** A client came or went. */
  readonly onChange: () => void;
};

/** Everybody who said hello: clients, and those who ask how the host is or want it to end. */
export class Visitors {
  readonly #parts: VisitorParts;
  readonly #connections = new Set<AcpConnection>();
  readonly #waiting = new Set<Socket>();
  #isClosing = false;

  constructor(parts: VisitorParts) {
    this.#parts = parts;
  }

  /** How many clients there are. */
  get clients(): number {
    return this.#connections.size;
  }

  get isNeeded(): boolean {
    return this.clients > 0 || this.#parts.self.activity().running > 0;
  }

  hello(hello: HostHello, socket: Socket): void {
    const { isBroken, activity } = this.#parts.self;
    // Whoever comes now is looking for a host that works.
    if (hello.asks === 'connect' && isBroken() && activity().running === 0) this.#leave();
    if (this.#isClosing) {
      this.#refuse(socket, 'host.closing', 'The session host is ending. Try again in a moment.');
      return;
    }
    switch (hello.asks) {
      case 'connect':
        this.#connect(hello.client, socket);
        break;
      case 'status':
        sendWelcome(socket, this.#welcome());
        this.#letGo(socket);
        break;
      case 'step_down':
        if (this.isNeeded) {
          this.#refuse(socket, 'host.busy', 'The session host works or has clients.');
          break;
        }
        this.#end(socket);
        break;
      case 'stop':
        this.#end(socket);
        break;
    }
  }

  /** Ends every client's connection as if the client had gone, and takes nobody in any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const ends = [...this.#connections].map((connection) => {
      connection.close();
      return connection.done;
    });
    await Promise.all(ends);
  }

  /** Who waits for the end of the host hears nothing more: the end of the socket is the answer. */
  dispose(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  #connect(client: HostClientSide | undefined, socket: Socket): void {
    if (client === undefined) {
      socket.destroy();
      return;
    }
    sendWelcome(socket, this.#welcome());
    // One write a turn of the event loop: what many sessions tell one client at once costs one system call.
    const port = createStreamPort(socket, socket, { soon: (work) => setImmediate(work) });
    const connection = this.#parts.serve(port, client);
    socket.resume();
    this.#connections.add(connection);
    this.#parts.onChange();
    void connection.done.then(() => {
      this.#connections.delete(connection);
      this.#parts.onChange();
    });
  }

  #end(socket: Socket): void {
    sendWelcome(socket, this.#welcome());
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    this.#leave();
  }

  #leave(): void {
    this.#isClosing = true;
    this.#parts.onStop();
  }

  #refuse(socket: Socket, code: string, message: string): void {
    sendWelcome(socket, { ok: false, code, message });
    this.#letGo(socket);
  }

  #letGo(socket: Socket): void {
    socket.end();
    const gone = new Deferred<void>();
    const timer = setTimeout(() => gone.resolve(), LAST_WORD_MS);
    socket.once('end', () => gone.resolve());
    socket.resume();
    void gone.promise.then(() => {
      clearTimeout(timer);
      socket.destroy();
    });
  }

  #welcome(): HostWelcome {
    const { version, startedAt, activity } = this.#parts.self;
    return {
      ok: true,
      link: HOST_LINK_VERSION,
      pid: process.pid,
      version,
      startedAt,
      sessions: activity().sessions,
      clients: this.clients,
    };
  }
}
