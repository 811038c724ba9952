import type { ChatGate, ToChat } from '../../../src/protocol/chat.ts';
import type { DelegateToChat } from '../../../src/protocol/chat-delegates.ts';
import { withDefaults } from '../strings.ts';
import { withDelegate, withoutDelegate } from './delegate-rows.ts';
import { appendToRow, prependRows, removeRows, rowsOf, upsertRows } from './rows.ts';
import { isBusy, stopAfter } from './stop.ts';
import type { Action, AnswerState, LocalAction, ViewState } from './view-state.ts';

/** The next view for one message of the extension or one deed of the person. Pure. */
export function reduce(state: ViewState, action: Action): ViewState {
  if (isOfDelegate(action)) return { ...state, delegates: withDelegate(state.delegates, action) };
  switch (action.type) {
    case 'reset':
      return reset(state, action);
    case 'upsert':
      return { ...state, ...upsertRows(state, action.items) };
    case 'prepend':
      return {
        ...state,
        ...prependRows(state, action.items),
        hasBefore: action.hasBefore,
        loadingBefore: false,
      };
    case 'append': {
      const { gap, ...rows } = appendToRow(state, action);
      return { ...state, ...rows, gap: state.gap || gap };
    }
    case 'remove':
      return { ...state, ...removeRows(state, action.ids) };
    case 'gates':
      return withGates(state, action.gates);
    case 'status':
      return { ...state, status: action.status, stop: stopAfter(state.stop, action.status) };
    default:
      return reduceRest(state, action);
  }
}

function isOfDelegate(action: Action): action is DelegateToChat {
  return action.type.startsWith('delegate_');
}

type Rest = Exclude<
  Exclude<Action, DelegateToChat>,
  { type: 'reset' | 'upsert' | 'prepend' | 'append' | 'remove' | 'gates' | 'status' }
>;

function reduceRest(state: ViewState, action: Rest): ViewState {
  switch (action.type) {
    case 'completions':
      return {
        ...state,
        completions: { requestId: action.requestId, items: action.items },
      };
    case 'compose':
      return {
        ...state,
        compose: {
          seq: (state.compose?.seq ?? 0) + 1,
          text: action.text ?? '',
          takesBack: action.takesBack ?? null,
          attachments: action.attachments ?? [],
          focus: action.focus,
        },
      };
    case 'sent':
      return sent(state, action.requestId, action.error ?? null);
    case 'answer_failed':
      return withAnswer(state, action.gateId, { sending: false, error: action.error });
    case 'reveal':
      return { ...state, reveal: { seq: (state.reveal?.seq ?? 0) + 1, id: action.id } };
    default:
      return reduceLocal(state, action);
  }
}

function reduceLocal(state: ViewState, action: LocalAction): ViewState {
  switch (action.type) {
    case 'local_send':
      return { ...state, send: { ...state.send, pending: action.requestId, error: null } };
    case 'local_send_error_seen':
      return state.send.error === null ? state : { ...state, send: { ...state.send, error: null } };
    case 'local_stop':
      return state.stop !== null || !isBusy(state.status)
        ? state
        : { ...state, stop: { turnId: state.status.turnId ?? null, confirmed: false } };
    case 'local_answer':
      return withAnswer(state, action.gateId, { sending: true, error: null });
    case 'local_load_before':
      return { ...state, loadingBefore: true };
    case 'local_delegate_close':
      return { ...state, delegates: withoutDelegate(state.delegates, action.loopId) };
  }
}

function reset(state: ViewState, action: Extract<ToChat, { type: 'reset' }>): ViewState {
  const sameSession = state.status.sessionId === action.status.sessionId;
  return {
    ...withGates(state, action.gates),
    ...rowsOf(action.items),
    ready: true,
    resets: state.resets + 1,
    delegates: new Map(),
    status: action.status,
    hasBefore: action.hasBefore,
    loadingBefore: false,
    stop: sameSession ? stopAfter(state.stop, action.status) : null,
    completions: null,
    gap: false,
    strings: withDefaults(action.strings),
  };
}

function sent(state: ViewState, requestId: number, error: string | null): ViewState {
  if (state.send.pending !== requestId) return state;
  return { ...state, send: { pending: null, seq: state.send.seq + 1, done: requestId, error } };
}

function withGates(state: ViewState, gates: readonly ChatGate[]): ViewState {
  const open = new Set(gates.map((gate) => gate.gateId));
  const answers = new Map([...state.answers].filter(([gateId]) => open.has(gateId)));
  return { ...state, gates, answers };
}

function withAnswer(state: ViewState, gateId: string, answer: AnswerState): ViewState {
  return { ...state, answers: new Map(state.answers).set(gateId, answer) };
}
