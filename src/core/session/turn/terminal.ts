import type { StopReason } from '../../../protocol/acp.ts';
import type { GateAnswer } from '../gate-words.ts';
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
      ? 'Stopped because the window, client or session host that ran it ended'
      : 'Stopped because the session was closed';
  return { terminal: terminal('policy_stop', reason), stopReason: 'cancelled' };
}

/** The ending of a turn whose model failed and can't be asked again. */
export function providerEnding(reason: string): Ending {
  return { terminal: terminal('provider_error', reason), stopReason: 'end_turn' };
}

/** The ending of a turn in which the program itself failed; the wire answers it with an error. */
export function runtimeErrorEnding(reason: string): Ending {
  return { terminal: terminal('runtime_error', reason), stopReason: 'end_turn' };
}

/** The ending of a turn whose agent says that it is done, while the completion judge could not confirm it. */
export function unverifiedEnding(reason: string): Ending {
  return { terminal: terminal('completion_unverified', reason), stopReason: 'end_turn' };
}

/** The ending of a turn that repeats itself. */
export function stuckEnding(times: number): Ending {
  const reason = `Stuck: the same tool calls had the same results ${times} times in a row`;
  return { terminal: terminal('policy_no_progress', reason), stopReason: 'end_turn' };
}

/** The ending of a turn that only asks for what policy denies; `reasons` are policy's own. */
export function guardrailEnding(times: number, reasons: readonly string[]): Ending {
  const reason = `Policy denied every tool call ${times} times in a row: ${reasons.join('; ')}`;
  return { terminal: terminal('policy_guardrail', reason), stopReason: 'end_turn' };
}

/** The ending of a turn whose model only asks for more time. */
export function suspendedEnding(times: number): Ending {
  const reason = `The model paused ${times} times in a row without saying or doing anything`;
  return { terminal: terminal('suspended', reason), stopReason: 'end_turn' };
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
    case 'other':
      return {
        terminal: terminal('unknown', 'The model stopped for a reason that it did not name'),
        stopReason: 'end_turn',
      };
    case 'stop':
    case 'pause':
    case 'tool_calls':
      return { terminal: terminal('natural', 'completed'), stopReason: 'end_turn' };
  }
}
