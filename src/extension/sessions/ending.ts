import type { ChatItem } from '../../protocol/chat.ts';
import type { TurnEnd } from '../chat/model/turn-items.ts';

/** How a session's last turn ended, where that is something to know of; `interrupted`: the agent process ended first, or its window was closed. */
export type Ending = 'failed' | 'interrupted' | null;

const FAILURES: ReadonlySet<string> = new Set(['provider_error', 'runtime_error', 'suspended']);

/** With the stop reason `cancelled`: the process ended, or the turn's window or session was closed. */
const BROKEN_OFF: ReadonlySet<string> = new Set(['runtime_error', 'policy_stop']);

/** A turn that the agent process did not live to end. */
export function interruptedEnd(turnId: string): Omit<TurnEnd, 'seconds'> {
  return { turnId, stopReason: 'cancelled', terminal: 'runtime_error', reason: '' };
}

/** What an end says of the session. */
export function endingOf(end: Pick<TurnEnd, 'terminal' | 'stopReason'>): Ending {
  if (end.stopReason === 'cancelled' && BROKEN_OFF.has(end.terminal)) return 'interrupted';
  return FAILURES.has(end.terminal) ? 'failed' : null;
}

/** The ending of the newest turn, if nothing was sent since. */
export function lastEnding(items: readonly ChatItem[]): Ending {
  const last = items.findLast(({ kind }) => kind === 'turn_end' || kind === 'user');
  return last?.kind === 'turn_end' ? endingOf(last) : null;
}
