import { codeOf, messageOf } from '../base/errors.ts';
import { createStreamPort } from '../protocol/transport/stream-port.ts';
import { findHost } from './door/find-host.ts';
import { pipeClient } from './door/pipe.ts';
import { startOwnHost } from './door/start-host.ts';
import { takeAccessKeys } from './host/compose/access-keys.ts';
import { exitWhenParentGone, onTermination } from './host/compose/lifetime.ts';
import { refuse } from './host/compose/refuse.ts';
import { systemClock } from './host/node-ports.ts';
import type { Log } from './session/ports.ts';
import { VERSION } from './version.ts';

/** How long the host may take to answer what a client asked last, in milliseconds. */
const LET_GO_MS = 4_000;

/** What a door is opened with. */
export type RunDoorOptions = {
  readonly dataFolder: string;
  readonly model: string | null;
  /** The arguments before `host --run` of a host that has to be started. */
  readonly program: readonly string[];
  readonly hostArgs: readonly string[];
  readonly log: Log;
};

/**
 * Brings the client on standard input and output to the host of its data folder until one of them goes. Resolves with
 * the exit code: 0 if the client went. A host that can't be had is told to the client as the answer to what it asks.
 */
export async function runDoor(options: RunDoorOptions): Promise<number> {
  const { dataFolder, log, model, program, hostArgs } = options;
  const keys = takeAccessKeys(process.env);
  const gone = new AbortController();
  let close = (): void => gone.abort();
  onTermination(() => close());
  exitWhenParentGone(() => close());
  try {
    const environment = definedOnly(process.env);
    const found = findHost({
      dataFolder,
      version: VERSION,
      client: { model, keys, environment },
      start: (deadlineMs) =>
        startOwnHost({ dataFolder, program, hostArgs, environment, deadlineMs }),
      clock: systemClock,
      log,
      signal: gone.signal,
    });
    // Nothing of the search holds up a client that goes: a host that was started is there for the next one.
    const { socket } = await Promise.race([found, aborted(gone.signal)]);
    const piped = pipeClient({
      input: process.stdin,
      output: process.stdout,
      socket,
      letGoMs: LET_GO_MS,
    });
    close = piped.close;
    if ((await piped.done) === 'client') return 0;
    log.error('The session host has ended');
    return 1;
  } catch (failure) {
    if (gone.signal.aborted) return 0;
    const code = codeOf(failure) ?? 'host.failed';
    log.error('No session host can be had', { code, error: messageOf(failure) });
    await refuse(createStreamPort(process.stdin, process.stdout), messageOf(failure), code);
    return 1;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** A copy without what is not set. */
export function definedOnly(environment: NodeJS.ProcessEnv): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}
