import type { HistoryEvent, Stored } from '../../../../src/core/session/events.ts';
import type {
  CommandId,
  GateId,
  MessageId,
  SessionId,
  ToolCallId,
  TurnId,
} from '../../../../src/core/session/words.ts';

export const SESSION = 'session-1' as SessionId;
export const TURN = 'turn-1' as TurnId;
export const ACTOR = { clientId: 'vscode', role: 'host_owner', source: 'acp' } as const;
const CONFIG = {
  mode: 'ask',
  model: 'rehearsal/script',
  thoughtLevel: 'auto',
  budget: {},
} as const;
const USAGE = { inputTokens: 10, outputTokens: 5 };

/** Records with ids from `first` on, one second apart. */
export function records(events: readonly HistoryEvent[], first = 1): Stored<HistoryEvent>[] {
  return events.map((event, index) => ({
    sessionId: SESSION,
    seq: first + index,
    at: Date.UTC(2026, 10, 2, 13, 0, first + index),
    event,
    cause: { command_ids: [] },
    hash: `hash-${first + index}`,
  }));
}

export function created(): HistoryEvent {
  return {
    type: 'session_created',
    cwd: '/work/project',
    additionalDirectories: [],
    config: CONFIG,
  };
}

export function turnStarted(text: string, turnId = TURN): HistoryEvent {
  return {
    type: 'turn_started',
    turnId,
    commandId: `command-${turnId}` as CommandId,
    messageId: `prompt-${turnId}` as MessageId,
    content: [{ type: 'text', text }],
    config: CONFIG,
  };
}

export function delta(text: string, offset = 0, kind: 'text' | 'thought' = 'text'): HistoryEvent {
  return {
    type: 'message_delta',
    turnId: TURN,
    messageId: 'message-1' as MessageId,
    kind,
    offset,
    text,
  };
}

export function proposed(
  name: string,
  input: Extract<HistoryEvent, { type: 'tool_proposed' }>['input'] = {},
  toolCallId = 'call-1',
): HistoryEvent {
  return {
    type: 'tool_proposed',
    turnId: TURN,
    toolCallId: toolCallId as ToolCallId,
    name,
    title: `${name} something`,
    kind: 'other',
    input,
    locations: [{ path: '/work/project/a b.ts', line: 12 }],
    content: [],
  };
}

export function started(toolCallId = 'call-1'): HistoryEvent {
  return { type: 'tool_started', turnId: TURN, toolCallId: toolCallId as ToolCallId };
}

export function ended(
  content: Extract<HistoryEvent, { type: 'tool_ended' }>['content'],
  toolCallId = 'call-1',
): HistoryEvent {
  return {
    type: 'tool_ended',
    turnId: TURN,
    toolCallId: toolCallId as ToolCallId,
    result: {
      toolCallId: toolCallId as ToolCallId,
      name: 'tool',
      status: 'completed',
      parts: [],
    },
    content,
    locations: [],
  };
}

export function output(text: string): HistoryEvent {
  return ended([{ type: 'content', content: { type: 'text', text } }]);
}

export function permissionOpened(title: string, reason: string): HistoryEvent {
  return {
    type: 'gate_opened',
    turnId: TURN,
    gateId: 'gate-1' as GateId,
    request: {
      kind: 'permission',
      toolCallId: 'call-1' as ToolCallId,
      tool: 'run',
      title,
      toolKind: 'execute',
      input: {},
      locations: [],
      content: [],
      reason,
      details: ['ls', 'rm -rf x'],
      options: [{ optionId: 'once', name: 'Allow once', kind: 'allow_once' }],
    },
  };
}

export function permissionAllowed(): HistoryEvent {
  return {
    type: 'gate_resolved',
    turnId: TURN,
    gateId: 'gate-1' as GateId,
    answer: { kind: 'selected', optionId: 'once' },
    actor: ACTOR,
  };
}

export function turnEnded(turnId = TURN): HistoryEvent {
  return {
    type: 'turn_ended',
    turnId,
    terminal: { kind: 'natural', owner: 'agent', reason: '' },
    stopReason: 'end_turn',
    usage: USAGE,
    iterations: 2,
  };
}

/** One turn with a thought, a call behind a gate, a diff and a message. */
export function sampleHistory(): Stored<HistoryEvent>[] {
  return records([
    created(),
    { type: 'title_changed', title: 'Fix *the* parser' },
    turnStarted('write a.ts: hello\n# not a heading'),
    delta('I should look first.', 0, 'thought'),
    proposed('write', { path: 'a.ts' }),
    permissionOpened('Write a.ts', 'outside of the remembered rules'),
    permissionAllowed(),
    started(),
    ended([
      { type: 'diff', path: '/work/project/a.ts', oldText: 'one\ntwo\n', newText: 'one\nTWO\n' },
    ]),
    delta('Done.\n\n# Turn 9'),
    delta('\nMore.', 'Done.\n\n# Turn 9'.length),
    turnEnded(),
  ]);
}
