import type { ChatItem } from '../../../src/protocol/chat.ts';
import { format, type Strings } from '../strings.ts';

type TurnEnd = Extract<ChatItem, { kind: 'turn_end' }>;
type TurnOutcome = 'done' | 'stopped' | 'limited' | 'failed' | 'other';

/** True if the process ended while the turn ran: that is no failure of what was asked for. */
export function isInterrupted(item: TurnEnd): boolean {
  return item.terminal === 'runtime_error' && item.stopReason === 'cancelled';
}

/** True if the window or session that ran it was closed: no limit ended it, and nobody refused anything. */
export function isClosed(item: TurnEnd): boolean {
  return item.terminal === 'policy_stop' && item.stopReason === 'cancelled';
}

/** How many steps of the last turn may or may not have taken effect. */
export function unknownSteps(items: readonly ChatItem[]): number {
  let count = 0;
  for (let position = items.length - 1; position >= 0; position -= 1) {
    const item = items[position];
    if (item === undefined || item.kind === 'user') break;
    if (item.kind === 'tool' && item.status === 'outcome_unknown') count += 1;
  }
  return count;
}

/** How a turn ended, for its icon and for whether it can be tried again. */
export function turnOutcome(item: TurnEnd): TurnOutcome {
  if (isClosed(item)) return 'stopped';
  switch (item.terminal) {
    case 'natural':
      return 'done';
    case 'user_cancelled':
      return 'stopped';
    case 'policy_budget':
    case 'policy_stop':
    case 'policy_guardrail':
    case 'policy_no_progress':
    case 'completion_unverified':
      return 'limited';
    case 'provider_error':
    case 'runtime_error':
    case 'suspended':
      return 'failed';
    default:
      return byStopReason(item.stopReason);
  }
}

function byStopReason(stopReason: string): TurnOutcome {
  if (stopReason === 'end_turn') return 'done';
  if (stopReason === 'cancelled') return 'stopped';
  return stopReason.startsWith('max_') || stopReason === 'refusal' ? 'limited' : 'other';
}

/** The line under a turn: how it ended, why, and how long it took. */
export function turnEndText(item: TurnEnd, strings: Strings): string {
  const words = outcomeWords(item, strings);
  return item.seconds === null ? words : `${words} · ${duration(item.seconds, strings)}`;
}

function outcomeWords(item: TurnEnd, strings: Strings): string {
  if (isInterrupted(item)) return strings.interruptedTitle;
  if (isClosed(item)) return strings.closedTitle;
  if (item.terminal === 'suspended') return format(strings.turnInterrupted, item.reason);
  if (item.stopReason === 'refusal') return format(strings.turnRefused, item.reason);
  switch (turnOutcome(item)) {
    case 'done':
      return strings.turnDone;
    case 'stopped':
      return strings.turnStopped;
    case 'limited':
      return format(strings.turnBudget, item.reason || item.stopReason);
    case 'failed':
      return format(strings.turnError, item.reason || item.terminal);
    case 'other':
      return format(strings.turnEndedOther, item.reason || item.stopReason || item.terminal);
  }
}

/** How long it took, for reading. */
export function duration(seconds: number, strings: Strings): string {
  if (seconds < 60) {
    const shown = seconds < 10 ? seconds.toFixed(1) : seconds.toFixed(0);
    return format(strings.turnSeconds, shown);
  }
  return format(strings.turnMinutes, Math.floor(seconds / 60), Math.round(seconds % 60));
}
