import type { Frame, FramePort } from '../../protocol/transport/frame-port.ts';
import {
  type ByteSink,
  type ByteSource,
  createStreamPort,
} from '../../protocol/transport/stream-port.ts';
import type { Log } from '../session/ports.ts';

/** A client's two byte streams and the way to the host. */
export type Door = {
  /** What the client writes; the process's stdin. */
  readonly input: ByteSource;
  /** What the client reads; the process's stdout. */
  readonly output: ByteSink;
  /** The door's end of the duplex whose other end the host serves. */
  readonly host: FramePort;
  readonly log: Log;
};

/**
 * Joins a client's streams to the host and looks into nothing. Each side is held back while the other is behind; the
 * client's end of input is passed on, and the host's end closes the client's output after all of it was written. A
 * client that stopped reading (EPIPE) ends the door quietly. Resolves when both sides have ended; never rejects.
 */
export async function openDoor(door: Door): Promise<void> {
  const client = createStreamPort(door.input, door.output, {
    soon: (work) => process.nextTick(work),
    onError: (error) => door.log.info('The client closed its pipe', { message: error.message }),
  });
  join(client, door.host);
  join(door.host, client);
  await Promise.all([client.done, door.host.done]);
}

function join(from: FramePort, to: FramePort): void {
  from.start({
    frame: (frame: Frame) => to.send(frame),
    // What was held on the other side, since this one was behind, may come now.
    drained: () => to.ready(),
    ended: () => to.end(),
    broken: () => to.destroy(),
  });
}
