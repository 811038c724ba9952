import type { ModelToolCall } from '../model.ts';
import { TOOL_NAMES } from '../tool-names.ts';
import type { ToolCallId } from '../words.ts';
import type { Conversation } from './conversation.ts';
import type { RecordedGate, TurnProgress } from './open-turn.ts';
import type { SessionState } from './session-state.ts';

/** A turn that stood at a question when its process ended, and can go on there (design §4.9). */
export type ParkedTurn = TurnProgress & {
  /** The transcript and the history as they stood before the turn. */
  readonly before: { readonly messageCount: number; readonly eventId: number };
  /** Milliseconds that the turn had taken. */
  readonly elapsedMs: number;
  /** Calls of its newest reply without a result, in their order. */
  readonly calls: readonly ModelToolCall[];
  /** Those of them that were started: they only asked. */
  readonly started: ReadonlySet<ToolCallId>;
  /** Questions whose answers are still to come, or to be acted on. */
  readonly gates: readonly RecordedGate[];
};

/**
 * The open turn, if it stood at a question and no call of it may have had an effect that nobody recorded; null for
 * every other turn that broke off. A call that only asks a person has no effect but its question.
 */
export function parkedTurn(state: SessionState, conversation: Conversation): ParkedTurn | null {
  const turn = state.open.progress;
  if (turn === null || conversation.openReply !== null) return null;
  const calls = conversation.openCalls;
  const gates = state.open.gates.filter((gate) => isPending(gate, calls, turn));
  const started = calls.filter(({ toolCallId }) => state.hasStarted(toolCallId));
  if (gates.length === 0 || !started.every((call) => onlyAsks(call, gates))) return null;
  return {
    ...turn,
    before: {
      messageCount: conversation.marks.countBefore(turn.beforeEventId + 1),
      eventId: turn.beforeEventId,
    },
    elapsedMs: Math.max(0, turn.lastAt - turn.startedAt),
    calls,
    started: new Set(started.map(({ toolCallId }) => toolCallId)),
    gates,
  };
}

/** True if the turn still waits for the gate, or has yet to act on its answer. */
function isPending(
  { gateId, request, answer }: RecordedGate,
  calls: readonly ModelToolCall[],
  turn: TurnProgress,
): boolean {
  if (answer === null) return true;
  if (answer.answer.kind === 'cancelled') return false;
  if (request.kind === 'auth') return turn.answeredLast === gateId;
  return calls.some(({ toolCallId }) => toolCallId === request.toolCallId);
}

function onlyAsks(call: ModelToolCall, gates: readonly RecordedGate[]): boolean {
  return (
    call.name === TOOL_NAMES.ask &&
    gates.some(({ request }) => request.kind === 'ask' && request.toolCallId === call.toolCallId)
  );
}
