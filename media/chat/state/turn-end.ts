import type { ChatItem } from '../../../src/protocol/chat.ts';
import { format, type Strings } from '../strings.ts';

type TurnEnd = Extract<ChatItem, { kind: 'turn_end' }>;
type TurnOutcome = 'done' | 'stopped' | 'limited' | 'failed' | 'other';

/** How a turn ended, for its icon and for whether it can be tried again. */
export function turnOutcome(item: TurnEnd): TurnOutcome {
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

function duration(seconds: number, strings: Strings): string {
  if (seconds < 60) {
    const shown = seconds < 10 ? seconds.toFixed(1) : seconds.toFixed(0);
    return format(strings.turnSeconds, shown);
  }
  return format(strings.turnMinutes, Math.floor(seconds / 60), Math.round(seconds % 60));
}
