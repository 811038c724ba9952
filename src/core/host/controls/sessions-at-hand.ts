import { ControlRefused } from '../../session/control/refusal.ts';
import type { SessionControl } from '../../session/control/session-control.ts';

/** The part of a live session that controls act on. */
export type ControlledSession = {
  readonly entries: SessionControl;
  /** True while a turn runs or a prompt waits for one. */
  readonly isActive: boolean;
};

/** A delegate that controls reach through its session. */
export type ControlledDelegate = Pick<ControlledSession, 'entries'> & { readonly loopId: string };

/** The sessions of a host, as its controls find them. */
export interface SessionsAtHand {
  /** Synchronous, so that a control takes effect in its place among prompts and cancels. */
  live(sessionId: string): ControlledSession | undefined;
  /** The delegates of a live session that live themselves, at every depth, parents before children. */
  delegates(sessionId: string): readonly ControlledDelegate[];
  /** True if it is on disk, live or not. */
  isStored(sessionId: string): Promise<boolean>;
}

/** A session that is nowhere. */
export function noSuchSession(sessionId: string): ControlRefused {
  return new ControlRefused(
    'unknown_session',
    `Session not found: ${sessionId}. List the sessions to see which there are.`,
    { sessionId },
  );
}

/** The live session. Throws `unknown_session`, with what to do where it is only stored. */
export async function liveSession(
  sessions: SessionsAtHand,
  sessionId: string,
): Promise<ControlledSession> {
  const live = sessions.live(sessionId);
  if (live !== undefined) return live;
  if (!(await sessions.isStored(sessionId))) throw noSuchSession(sessionId);
  throw new ControlRefused(
    'unknown_session',
    `Session ${sessionId} is stored but not open. Load or resume it first.`,
    { sessionId, liveState: 'persisted' },
  );
}

/** A loop that its session does not have, or that has ended. */
export function unknownLoop(sessionId: string, loopId: string): ControlRefused {
  return new ControlRefused(
    'unknown_loop',
    `Session ${sessionId} has no open loop ${loopId}. List its loops to see which there are.`,
    { sessionId, loopId },
  );
}
