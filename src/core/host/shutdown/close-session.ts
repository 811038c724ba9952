import type { Actor } from '../../../protocol/controls.ts';
import { SessionError } from '../../session/commands/session-error.ts';
import type { Session } from '../../session/session.ts';
import type { OwnedResources } from '../session-resources.ts';
import { Phases, type ShutdownParts, type ShutdownReport } from './phases.ts';

/** A session with everything that ends with it. */
export type ClosingSession = {
  readonly session: Session;
  readonly owned: OwnedResources;
  /** Its delegates, with what they own. */
  readonly delegates: { dispose(why: 'session_closed' | 'client_gone'): Promise<void> };
};

/**
 * Ends a session in phases. One that can't be drained is cut off: what still runs in it records nothing any more, so
 * that the session can be opened again. Bounded; never rejects.
 */
export async function closeSession(
  { session, owned, delegates }: ClosingSession,
  parts: ShutdownParts,
  why: 'session_closed' | 'client_gone',
  actor: Actor,
): Promise<ShutdownReport> {
  const phases = new Phases(parts, session.sessionId);
  const drained = await phases.run('loop_drain', () =>
    session.close({ kind: 'closed', why }, actor),
  );
  await phases.run('delegates', () => delegates.dispose(why));
  await phases.run('processes', () => owned.processes.dispose());
  await phases.run('external', () => owned.external.dispose());
  await phases.run('checkpoints', () => owned.checkpoints.dispose());
  owned.environment.dispose();
  if (!drained)
    session.abandon(
      new SessionError(
        'session.closed',
        'The session was closed before this came to its end. Load or resume it to see what was kept.',
      ),
    );
  return { timeouts: phases.timeouts };
}
