import type { ChatStatus } from '../../../src/protocol/chat.ts';
import type { StopState } from './view-state.ts';

/** True while a turn is under way that Stop can end. */
export function isBusy(status: ChatStatus): boolean {
  return (
    status.activity === 'running' || status.activity === 'waiting' || status.activity === 'stopping'
  );
}

/** The Stop that was pressed, as it stands once `status` is known; null when its turn has ended. */
export function stopAfter(stop: StopState | null, status: ChatStatus): StopState | null {
  if (stop === null || !isBusy(status)) return null;
  const turnId = status.turnId ?? null;
  if (stop.turnId !== null && turnId !== null && stop.turnId !== turnId) return null;
  if (status.activity === 'stopping') return { ...stop, confirmed: true };
  // Busy again after "stopping" without a turn id to compare: the next turn.
  return stop.confirmed && turnId === null ? null : stop;
}

/** True where the button reads `Stopping…`. */
export function isStopping(stop: StopState | null, status: ChatStatus): boolean {
  return status.activity === 'stopping' || (stop !== null && isBusy(status));
}
