import type { Gate } from '../approvals/gate.ts';
import type { LiveSession } from './live-session.ts';
import type { SessionRow } from './tree/row.ts';

/** What a session is doing, as lists show it. */
export type SessionState = 'waiting' | 'stopping' | 'running' | 'failed' | 'idle';

/** A session as the tree shows it. */
export type SessionView = {
  readonly row: SessionRow;
  readonly state: SessionState;
  readonly unread: boolean;
  readonly gates: readonly Gate[];
};

/** The state of a session from what the list says and, where this window follows it, what it knows itself. */
export function sessionState(
  row: SessionRow,
  live: LiveSession | null,
  openGates: number,
): SessionState {
  if (live?.stopState.kind === 'stopping') return 'stopping';
  if (openGates > 0) return 'waiting';
  if (live?.isAttached) {
    if (live.isRunning) return 'running';
    return live.hasFailed ? 'failed' : 'idle';
  }
  if (row.openGates > 0) return 'waiting';
  if (row.activePrompt) return 'running';
  return live?.hasFailed ? 'failed' : 'idle';
}
