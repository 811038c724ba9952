import type { ListedSession, OpenGate } from '../api.ts';
import { type RunFacts, shown } from './run-facts.ts';
import type { TaskState, TaskStatus } from './view-types.ts';

/** What the state of a session's task follows from; nothing of it is stored. */
export type TaskFacts = {
  /** Null if there is no such session. */
  readonly session: Pick<ListedSession, 'liveState' | 'activePrompt'> | null;
  /** Its turns, oldest first. */
  readonly runs: readonly RunFacts[];
  readonly gates: readonly OpenGate[];
  /** A delegate works, though no turn of the session itself may run. */
  readonly delegatesWork: boolean;
};

/**
 * The newest turn of a session as an A2A task; null of one in which nothing was ever asked. What it waits for is said by
 * the oldest open question: a sign-in, or what is settled elsewhere, is `auth-required` unless a person can answer
 * something here. Source: A2A 0.3, TaskStatus; Harn session control, A2A map.
 */
export function taskStatus(facts: TaskFacts): TaskStatus | null {
  const { session, runs, gates, delegatesWork } = facts;
  if (session === null) return null;
  const last = runs.at(-1);
  const isOpen = last?.terminal === null;
  const open = session.liveState === 'live' ? gates : isOpen ? last.gates : [];
  const question = open.find(({ request }) => request.kind !== 'auth') ?? open[0];
  if (question !== undefined) return waiting(question);
  if (isOpen) {
    // Nobody works on it: its process ended, and whoever opens the session is told how it went on.
    if (session.liveState !== 'live') return status('failed', last.lastEvent.at);
    return status('working', last.workingSince);
  }
  if (session.activePrompt) return { state: delegatesWork ? 'working' : 'submitted' };
  return last === undefined ? null : ended(last);
}

function waiting({ gateId, request, openedAt }: OpenGate): TaskStatus {
  const text = request.kind === 'permission' ? request.title : request.message;
  const state = request.kind === 'auth' ? 'auth-required' : 'input-required';
  return status(state, openedAt, { id: gateId, text });
}

function ended(run: RunFacts): TaskStatus {
  const { terminal, turnId, endedAt, lastEvent } = run;
  const state = endState(run);
  const at = endedAt ?? lastEvent.at;
  const text = terminal?.reason ?? '';
  return status(state, at, state === 'completed' || text === '' ? null : { id: turnId, text });
}

/** `rejected` is what policy refused before anything was done; a limit that was reached is a failure. */
function endState({ terminal, stopReason, calls }: RunFacts): TaskState {
  switch (terminal?.kind) {
    case 'natural':
      return 'completed';
    case 'user_cancelled':
      return 'cancelled';
    case 'policy_stop':
      return stopReason === 'cancelled' ? 'cancelled' : 'failed';
    case 'policy_guardrail':
      return [...calls.values()].every((call) => call.status === 'denied') ? 'rejected' : 'failed';
    default:
      return 'failed';
  }
}

function status(
  state: TaskState,
  at: number,
  message: { readonly id: string; readonly text: string } | null = null,
): TaskStatus {
  return {
    state,
    timestamp: new Date(at).toISOString(),
    ...(message === null
      ? {}
      : {
          message: {
            kind: 'message',
            role: 'agent',
            messageId: message.id,
            parts: [{ kind: 'text', text: shown(message.text, 'preview') }],
          },
        }),
  };
}
