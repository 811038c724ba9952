import { createStreamPort } from '../protocol/transport/stream-port.ts';
import type { AccessKeys } from './acp/access/credential.ts';
import { findHost } from './door/find-host.ts';
import { type HostStart, startOwnHost } from './door/start-host.ts';
import type { HostConnection, HostConnectionFor } from './door/ws/worker.ts';
import { systemClock } from './host/node-ports.ts';
import type { RunDoorOptions } from './run-door.ts';
import { VERSION } from './version.ts';

/** What every connection of a door with many clients is made with. */
export type HostConnectorOptions = RunDoorOptions & {
  readonly keys: AccessKeys;
  /** What hosts and the sessions of clients first see. */
  readonly environment: { readonly [name: string]: string };
};

const NO_KEYS: AccessKeys = { owner: null, observer: null };

/** Makes connections to the host of a data folder; many that are asked for at once start one host. */
export function hostConnector(
  options: HostConnectorOptions,
): (use: HostConnectionFor, signal: AbortSignal) => Promise<HostConnection> {
  const { dataFolder, log, model, keys, environment, program, hostArgs } = options;
  let starting: Promise<HostStart> | null = null;
  const start = (deadlineMs: number): Promise<HostStart> => {
    starting ??= startOwnHost({
      dataFolder,
      program,
      hostArgs,
      environment,
      deadlineMs,
    }).finally(() => {
      starting = null;
    });
    return starting;
  };
  return async ({ ceiling, isOwn }, signal) => {
    const narrowed = ceiling === 'observer' ? ({ ceiling } as const) : {};
    const { socket } = await findHost({
      dataFolder,
      version: VERSION,
      client: { model, keys: isOwn ? NO_KEYS : keys, environment, ...narrowed },
      start,
      clock: systemClock,
      log,
      signal,
    });
    const port = createStreamPort(socket, socket, { soon: (work) => process.nextTick(work) });
    return { port, resume: () => socket.resume() };
  };
}
