import type { HistoryEvent } from '../events.ts';
import type { ModelToolResult } from '../model.ts';
import type { NewRecord } from '../ports.ts';
import { historyRecords } from '../records.ts';
import { NO_USAGE } from '../turn/budget.ts';
import { terminal } from '../turn/terminal.ts';
import type { ToolCallId, TurnId } from '../words.ts';
import type { Conversation } from './conversation.ts';
import { HOST } from './gates.ts';
import type { SessionState } from './session-state.ts';

/**
 * What has to be added to a history whose process died in the middle of a turn: a started call without a result is
 * `outcome_unknown` (it is never run again), an unstarted one is cancelled, and the turn is sealed (design §4.9).
 * Empty for a history that ended well; `isParked` leaves the open turn as it is.
 */
export function interruptedEvents(
  state: SessionState,
  conversation: Conversation,
  { isParked }: { readonly isParked: boolean },
): readonly NewRecord[] {
  const turnId = isParked ? null : state.openTurn;
  const lost = state.openProcesses.map(
    (processId): HistoryEvent => ({
      type: 'process_ended',
      processId,
      state: 'lost',
      exitCode: null,
      signal: null,
    }),
  );
  if (turnId === null) return historyRecords(lost);
  const ends = [...looseEnds(state, conversation, turnId), ...lost, sealed(turnId)];
  return historyRecords(ends);
}

/** What a turn that broke off left open, brought to an end: questions, a reply, calls. */
export function looseEnds(
  state: SessionState,
  conversation: Conversation,
  turnId: TurnId,
): readonly HistoryEvent[] {
  return [
    ...gateEvents(state, turnId),
    ...replyEvents(conversation, turnId),
    ...callEvents(state, conversation, turnId),
  ];
}

function gateEvents(state: SessionState, turnId: TurnId): readonly HistoryEvent[] {
  return state.openGates.map((gateId) => ({
    type: 'gate_resolved',
    turnId,
    gateId,
    answer: { kind: 'cancelled', reason: 'restart' },
    actor: HOST,
  }));
}

function replyEvents(conversation: Conversation, turnId: TurnId): readonly HistoryEvent[] {
  const messageId = conversation.openReply;
  if (messageId === null) return [];
  return [
    {
      type: 'model_replied',
      turnId,
      iteration: 0,
      messageId,
      calls: [],
      finish: 'aborted',
      usage: NO_USAGE,
    },
  ];
}

function callEvents(
  state: SessionState,
  conversation: Conversation,
  turnId: TurnId,
): readonly HistoryEvent[] {
  return conversation.openCalls.map((call) => {
    const { status, text } = callEnd(state, call.toolCallId);
    return {
      type: 'tool_ended',
      turnId,
      toolCallId: call.toolCallId,
      result: {
        toolCallId: call.toolCallId,
        name: call.name,
        status,
        parts: [{ type: 'text', text }],
      },
      content: [{ type: 'content', content: { type: 'text', text } }],
      locations: [],
    };
  });
}

/** What a delegate had handed back already is the result of the call that waited for it. */
function callEnd(
  state: SessionState,
  toolCallId: ToolCallId,
): { readonly status: ModelToolResult['status']; readonly text: string } {
  const handedBack = state.handedBack(toolCallId);
  if (handedBack !== undefined)
    return {
      status: handedBack.outcome === 'completed' ? 'completed' : 'failed',
      text: handedBack.text,
    };
  if (!state.hasStarted(toolCallId))
    return {
      status: 'cancelled',
      text: 'The turn broke off before this call ran; it had no effect.',
    };
  return {
    status: 'outcome_unknown',
    text: 'The turn broke off while this call was running: it may or may not have taken effect. Check before doing it again.',
  };
}

function sealed(turnId: TurnId): HistoryEvent {
  return {
    type: 'turn_ended',
    turnId,
    terminal: terminal(
      'runtime_error',
      'Interrupted: the process ended while this turn was running',
    ),
    stopReason: 'cancelled',
    usage: NO_USAGE,
    iterations: 0,
  };
}
