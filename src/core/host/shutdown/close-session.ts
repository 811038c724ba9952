import type { Actor } from '../../../protocol/controls.ts';
import { SessionError } from '../../session/commands/session-error.ts';
import type { Session } from '../../session/session.ts';
import type { OwnedResources } from '../session-resources.ts';
import { Phases, type ShutdownParts, type ShutdownReport } from './phases.ts';

/** Why a session ends; `left_open`: it is to be found with its turn at its question, as after a crash. */
export type EndReason = 'session_closed' | 'client_gone' | 'left_open';

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
  why: EndReason,
  actor: Actor,
): Promise<ShutdownReport> {
  const phases = new Phases(parts, session.sessionId);
  const isLeft = why === 'left_open';
  const drained = await phases.run('loop_drain', () =>
    isLeft
      ? session.recordControl({ type: 'session_closed', actor, reason: why })
      : session.close({ kind: 'closed', why }, actor),
  );
  await phases.run('delegates', () => delegates.dispose(isLeft ? 'client_gone' : why));
  await phases.run('processes', () => owned.processes.dispose());
  await phases.run('external', () => owned.external.dispose());
  await phases.run('checkpoints', () => owned.checkpoints.dispose());
  owned.environment.dispose();
  if (!drained || isLeft)
    session.abandon(
      new SessionError(
        'session.closed',
        'The session was closed before this came to its end. Load or resume it to see what was kept.',
      ),
    );
  return { timeouts: phases.timeouts };
}
