import * as l10n from '@vscode/l10n';
import { isObject } from '../../../base/json.ts';
import type { PromptResponse } from '../../../protocol/acp.ts';
import type { ChatItem } from '../../../protocol/chat.ts';

/** How a turn ended, from the history's mark or, where that is missing, from the prompt's answer. */
export type TurnEnd = {
  readonly turnId: string;
  readonly stopReason: string;
  readonly terminal: string;
  readonly reason: string;
  readonly seconds: number | null;
};

/** The turn whose updates come now. */
export type RunningTurn = {
  readonly turnId: string;
  readonly commandId: string;
  /** When it began; null where that was not read. */
  readonly at: number | null;
};

/** A turn's begin or end as `_meta.pilothouse.turn` tells it. */
export type TurnEvent =
  | {
      readonly state: 'started';
      readonly turnId: string;
      readonly commandId: string;
      readonly messageId: string | null;
    }
  | { readonly state: 'ended'; readonly end: Omit<TurnEnd, 'seconds'> };

/** A gate's begin or end as `_meta.pilothouse.gate` tells it. */
export type GateEvent =
  | { readonly state: 'opened'; readonly gateId: string; readonly title: string }
  | {
      readonly state: 'resolved';
      readonly gateId: string;
      readonly answer: Readonly<Record<string, unknown>>;
    };

/** Reads the turn mark, or null. Source: `protocol/acp-meta.ts`. */
export function turnEventOf(extra: Readonly<Record<string, unknown>>): TurnEvent | null {
  const mark = extra['turn'];
  if (!isObject(mark) || typeof mark['turnId'] !== 'string') return null;
  const turnId = mark['turnId'];
  if (mark['state'] === 'started')
    return {
      state: 'started',
      turnId,
      commandId: text(mark['commandId'], turnId),
      messageId: typeof mark['messageId'] === 'string' ? mark['messageId'] : null,
    };
  if (mark['state'] !== 'ended') return null;
  return { state: 'ended', end: turnEnd(turnId, mark['stopReason'], mark['terminal']) };
}

/** The end of a turn from a stop reason and a terminal as they stand on the wire. */
export function turnEnd(
  turnId: string,
  stopReason: unknown,
  terminal: unknown,
): Omit<TurnEnd, 'seconds'> {
  const parts = isObject(terminal) ? terminal : {};
  const reason = text(stopReason, 'end_turn');
  const fallback = reason === 'cancelled' ? 'user_cancelled' : 'natural';
  return {
    turnId,
    stopReason: reason,
    terminal: text(parts['kind'], fallback),
    reason: text(parts['reason'], ''),
  };
}

/** The end that a prompt's answer tells of. */
export function promptEnd(
  turnId: string,
  { stopReason, _meta: meta }: Pick<PromptResponse, 'stopReason' | '_meta'>,
): Omit<TurnEnd, 'seconds'> {
  const harn = isObject(meta) ? meta['harn'] : undefined;
  return turnEnd(turnId, stopReason, isObject(harn) ? harn['terminal'] : undefined);
}

/** Reads the gate mark, or null. */
export function gateEventOf(extra: Readonly<Record<string, unknown>>): GateEvent | null {
  const mark = extra['gate'];
  if (!isObject(mark) || typeof mark['gateId'] !== 'string') return null;
  const gateId = mark['gateId'];
  if (mark['state'] === 'opened')
    return { state: 'opened', gateId, title: text(mark['title'], '') };
  if (mark['state'] !== 'resolved' || !isObject(mark['answer'])) return null;
  return { state: 'resolved', gateId, answer: mark['answer'] };
}

/** The line under a turn. */
export function turnEndItem(end: TurnEnd): ChatItem {
  const { turnId, ...rest } = end;
  return { kind: 'turn_end', id: `end:${turnId}`, ...rest };
}

/** The line that says how a gate was answered. */
export function answerItem(
  gateId: string,
  title: string,
  answer: Readonly<Record<string, unknown>>,
): ChatItem {
  const { allowed, words } = verdict(answer);
  const line = title === '' ? words : `${words}: ${title}`;
  return { kind: 'answer', id: `gate:${gateId}`, text: line, allowed };
}

function verdict(answer: Readonly<Record<string, unknown>>): { allowed: boolean; words: string } {
  switch (answer['kind']) {
    case 'selected':
      return text(answer['optionId'], '').startsWith('allow')
        ? { allowed: true, words: l10n.t('Allowed by user') }
        : { allowed: false, words: l10n.t('Rejected by user') };
    case 'accepted':
      return { allowed: true, words: l10n.t('Answered by user') };
    case 'declined':
      return { allowed: false, words: l10n.t('Declined by user') };
    case 'cancelled':
      return { allowed: false, words: unanswered(answer['reason']) };
    default:
      return { allowed: false, words: l10n.t('Not answered') };
  }
}

/** Why nobody answered: a closed window refuses nothing. */
function unanswered(reason: unknown): string {
  return reason === 'client_gone' || reason === 'session_closed'
    ? l10n.t('Not answered before the window was closed')
    : l10n.t('Not answered');
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

/** Null where both were written at once, as a fork's copy of its parent is: nobody knows how long that took. */
export function secondsBetween(began: number, ended: number): number | null {
  return ended > began ? Math.round((ended - began) / 100) / 10 : null;
}
