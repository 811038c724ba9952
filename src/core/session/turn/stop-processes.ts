import { messageOf } from '../../../base/errors.ts';
import type { SessionDeps, SessionResources } from '../deps.ts';

/** How long Stop waits for background processes to be gone before it seals the turn anyway. */
const STOP_PROCESSES_MS = 1_000;

/** Ends the background processes of a session. Never rejects; bounded. */
export async function stopProcesses(deps: SessionDeps, resources: SessionResources): Promise<void> {
  const deadline = new AbortController();
  const gone = resources.processes
    .stopAll()
    .catch((failure: unknown) =>
      deps.log.warn('Background processes could not be stopped', { error: messageOf(failure) }),
    );
  const late = deps.clock.sleep(STOP_PROCESSES_MS, deadline.signal).catch(() => undefined);
  await Promise.race([gone, late]);
  deadline.abort();
}
