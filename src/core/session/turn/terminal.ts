import type { StopReason } from '../../../protocol/acp.ts';
import type { GateAnswer } from '../events.ts';
import type { FinishReason } from '../model.ts';
import type { Terminal, TerminalKind, TerminalOwner } from '../words.ts';

const OWNERS: Record<TerminalKind, TerminalOwner> = {
  natural: 'agent',
  user_cancelled: 'user',
  policy_budget: 'policy',
  completion_unverified: 'policy',
  policy_no_progress: 'policy',
  policy_guardrail: 'policy',
  policy_stop: 'policy',
  provider_error: 'provider',
  runtime_error: 'harness',
  suspended: 'agent',
  unknown: 'unknown',
};

/** Why a session was closed. */
type CloseReason = Extract<GateAnswer, { kind: 'cancelled' }>['reason'];

/** A turn's ending as it is sealed: the typed terminal and ACP's word for it. */
export type Ending = { readonly terminal: Terminal; readonly stopReason: StopReason };

/** Builds a terminal; the owner follows from the kind. */
export function terminal(kind: TerminalKind, reason: string): Terminal {
  return { kind, owner: OWNERS[kind], reason };
}

/** The ending of a turn that a person stopped. */
export function cancelledEnding(reason = 'Stopped by the user'): Ending {
  return { terminal: terminal('user_cancelled', reason), stopReason: 'cancelled' };
}

/** The ending of a turn whose session was closed or whose client went away: nobody pressed Stop. */
export function closedEnding(why: CloseReason): Ending {
  const reason =
    why === 'client_gone'
      ? 'Stopped because the window or client that ran it went away'
      : 'Stopped because the session was closed';
  return { terminal: terminal('policy_stop', reason), stopReason: 'cancelled' };
}

/** The ending that a final reply's finish reason stands for. */
export function finishedEnding(finish: FinishReason | 'aborted'): Ending {
  switch (finish) {
    case 'length':
      return {
        terminal: terminal('policy_stop', 'The model reached its output limit'),
        stopReason: 'max_tokens',
      };
    case 'refusal':
      return { terminal: terminal('policy_stop', 'The model refused'), stopReason: 'refusal' };
    case 'aborted':
      return cancelledEnding();
    case 'stop':
    case 'pause':
    case 'tool_calls':
    case 'other':
      return { terminal: terminal('natural', 'completed'), stopReason: 'end_turn' };
  }
}
