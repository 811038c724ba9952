import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What becomes of a connection that is cut. */
export type Cut =
  /** Both ends are told. */
  | 'drop'
  /** Neither is: what either sends goes nowhere. */
  | 'half_open';

/** A TCP proxy that cuts connections in the middle of what they carry. */
export type CuttingProxy = {
  readonly port: number;
  /** How many connections were cut. */
  readonly cuts: number;
  /**
   * Cuts each connection once it has carried so many more bytes to its client; null leaves it whole. It is asked for
   * each new connection.
   */
  plan(next: () => { readonly bytes: number; readonly cut: Cut } | null): void;
  /** Cuts all that are open now. */
  cutAll(cut: Cut): void;
};

/** Starts one in front of a port of this machine; it is gone after the test. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const open = new Set<Pair>();
  let next: Parameters<CuttingProxy['plan']>[0] = () => null;
  let cuts = 0;
  const server = createServer((client) => {
    const pair = new Pair(client, connect(target, '127.0.0.1'), next(), () => {
      cuts += 1;
    });
    open.add(pair);
    client.once('close', () => open.delete(pair));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const pair of open) pair.end();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    plan: (asked) => {
      next = asked;
    },
    cutAll: (cut) => {
      for (const pair of open) pair.cut(cut);
    },
  };
}

class Pair {
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #onCut: () => void;
  #left: number | null;
  readonly #cut: Cut;
  #isCut = false;

  constructor(
    client: Socket,
    target: Socket,
    plan: { readonly bytes: number; readonly cut: Cut } | null,
    onCut: () => void,
  ) {
    this.#client = client;
    this.#target = target;
    this.#onCut = onCut;
    this.#left = plan?.bytes ?? null;
    this.#cut = plan?.cut ?? 'drop';
    for (const socket of [client, target]) socket.on('error', () => this.end());
    client.on('close', () => this.#closed());
    target.on('close', () => this.#closed());
    client.on('data', (chunk) => {
      if (!this.#isCut) target.write(chunk);
    });
    target.on('data', (chunk) => this.#toClient(chunk));
  }

  #toClient(chunk: Buffer): void {
    if (this.#isCut) return;
    if (this.#left === null || chunk.length < this.#left) {
      if (this.#left !== null) this.#left -= chunk.length;
      this.#client.write(chunk);
      return;
    }
    // What fits is delivered, so that a frame may be cut anywhere.
    const part = chunk.subarray(0, this.#left);
    this.#client.write(part, () => this.cut(this.#cut));
  }

  cut(how: Cut): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#onCut();
    if (how === 'drop') this.end();
  }

  /** A connection that is half open stays so for the end that is still there. */
  #closed(): void {
    if (!this.#isCut) this.end();
  }

  end(): void {
    this.#client.destroy();
    this.#target.destroy();
  }
}
