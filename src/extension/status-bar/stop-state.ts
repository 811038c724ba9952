/** Whether a session is being stopped. `overdue`: the agent had its grace and has not ended the turn. */
export type StopState =
  | { readonly kind: 'none' }
  | { readonly kind: 'stopping'; readonly since: number; readonly overdue: boolean };

/** How long the agent may take to end a turn, in milliseconds. */
export const STOP_GRACE_MS = 10_000;

/** No stop is under way. */
export const NOT_STOPPING: StopState = { kind: 'none' };

/**
 * Stop was pressed. A cancel is sent at every press, whatever we believe runs; the state changes only while there is
 * a prompt to wait for, and a second press does not start the grace again.
 */
export function pressStop(state: StopState, now: number, hasPrompt: boolean): StopState {
  if (state.kind === 'stopping' || !hasPrompt) return state;
  return { kind: 'stopping', since: now, overdue: false };
}

/** Time has passed. */
export function checkGrace(state: StopState, now: number): StopState {
  if (state.kind !== 'stopping' || state.overdue || now - state.since < STOP_GRACE_MS) return state;
  return { ...state, overdue: true };
}
