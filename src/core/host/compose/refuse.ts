import { isObject } from '../../../base/json.ts';
import { RPC_CODES } from '../../../protocol/errors.ts';
import type { FramePort } from '../../../protocol/transport/frame-port.ts';

/** How long a client may take to ask something before it is left with the exit code alone. */
const FIRST_REQUEST_MS = 5_000;

/**
 * Answers a client's first request with why there is no host, so that it reads the reason where it looks for
 * answers. Resolves when that is said or nobody asked.
 */
export function refuse(port: FramePort, message: string, code: string): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      port.end();
      resolve();
    };
    const timer = setTimeout(finish, FIRST_REQUEST_MS);
    port.start({
      frame: (frame) => {
        const id = typeof frame === 'string' ? requestId(frame) : undefined;
        if (id === undefined) return true;
        const error = { code: RPC_CODES.internalError, message, data: { code } };
        port.send(JSON.stringify({ jsonrpc: '2.0', id, error }));
        finish();
        return true;
      },
      drained: () => undefined,
      ended: finish,
    });
  });
}

function requestId(frame: string): string | number | undefined {
  try {
    const message: unknown = JSON.parse(frame);
    if (!isObject(message) || typeof message['method'] !== 'string') return undefined;
    const id = message['id'];
    return typeof id === 'string' || typeof id === 'number' ? id : undefined;
  } catch {
    // A line that is no JSON asks nothing.
    return undefined;
  }
}
