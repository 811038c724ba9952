import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/** A client's two streams and the way to its host. */
export type Pipe = {
  readonly input: Readable;
  readonly output: Writable;
  readonly socket: Socket;
  /** How long the host may take to let go of a client that sends no more, in milliseconds. */
  readonly letGoMs: number;
};

/** Who ended it. */
export type PipeEnd = 'client' | 'host';

/**
 * Carries bytes both ways and looks into nothing; each side is held back while the other is behind. The client's end
 * of input is passed on, and what the host still has to say is delivered. Resolves with whoever ended it; never
 * rejects.
 */
export function pipeClient({ input, output, socket, letGoMs }: Pipe): {
  readonly done: Promise<PipeEnd>;
  /** The client is gone, or shall be. */
  readonly close: () => void;
} {
  let who: PipeEnd | null = null;
  let timer: NodeJS.Timeout | undefined;
  const clientGone = (): void => {
    who ??= 'client';
    socket.end();
    timer ??= setTimeout(() => socket.destroy(), letGoMs);
  };
  const done = new Promise<PipeEnd>((resolve) => {
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(who ?? 'host');
    });
  });
  socket.on('end', () => {
    who ??= 'host';
  });
  // A host that died shows as the end of its socket.
  socket.on('error', () => undefined);
  input.on('error', clientGone);
  input.on('end', clientGone);
  // A client that stopped reading gets nothing more.
  output.on('error', () => {
    who ??= 'client';
    socket.destroy();
  });
  input.pipe(socket, { end: false });
  socket.pipe(output, { end: false });
  return { done, close: clientGone };
}
