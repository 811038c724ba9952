import { describe, expect, test } from 'vitest';
import type { OpenGate } from '../../../../../src/core/host/api.ts';
import { runFacts } from '../../../../../src/core/host/views/run-facts.ts';
import { type TaskFacts, taskStatus } from '../../../../../src/core/host/views/task-state.ts';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import type {
  CommandId,
  GateId,
  MessageId,
  SessionConfig,
  SessionId,
  TerminalKind,
  ToolCallId,
  TurnId,
} from '../../../../../src/core/session/words.ts';

const config: SessionConfig = { mode: 'ask', model: 'a/b', thoughtLevel: 'auto', budget: {} };
const turnId = 't' as TurnId;
const LIVE = { liveState: 'live', activePrompt: true } as const;
const IDLE = { liveState: 'live', activePrompt: false } as const;
const STORED = { liveState: 'persisted', activePrompt: false } as const;
const SECRET = 'sk-abcdefghijklmnop1234';

const begun: HistoryEvent = {
  type: 'turn_started',
  turnId,
  commandId: 'c' as CommandId,
  messageId: 'm' as MessageId,
  content: [{ type: 'text', text: 'go' }],
  config,
};

function ended(kind: TerminalKind, stopReason: 'end_turn' | 'cancelled' = 'end_turn') {
  return {
    type: 'turn_ended',
    turnId,
    terminal: { kind, owner: 'policy', reason: `because ${SECRET}` },
    stopReason,
    usage: { inputTokens: 0, outputTokens: 0 },
    iterations: 1,
  } as const satisfies HistoryEvent;
}

function called(status: 'completed' | 'denied'): readonly HistoryEvent[] {
  const toolCallId = 'call' as ToolCallId;
  const about = { content: [], locations: [] };
  return [
    {
      type: 'tool_proposed',
      turnId,
      toolCallId,
      name: 'run',
      title: 'run',
      kind: 'execute',
      input: {},
      ...about,
    },
    {
      type: 'tool_ended',
      turnId,
      toolCallId,
      result: { toolCallId, name: 'run', status, parts: [] },
      ...about,
    },
  ];
}

const asked: OpenGate['request'] = {
  kind: 'ask',
  toolCallId: 'call' as ToolCallId,
  message: `Which? ${SECRET}`,
  schema: { type: 'object', properties: {} },
};
const signIn: OpenGate['request'] = {
  kind: 'auth',
  target: 'vscode-lm',
  targetKind: 'model',
  message: 'Waiting for an editor with language models',
  waitsFor: 'editor',
};

const gate = (gateId: string, request: OpenGate['request']): OpenGate => ({
  gateId: gateId as GateId,
  turnId,
  request,
  openedAt: 5000,
});

const opened = (request: OpenGate['request']): HistoryEvent => ({
  type: 'gate_opened',
  turnId,
  gateId: 'g' as GateId,
  request,
});
const answered: HistoryEvent = {
  type: 'gate_resolved',
  turnId,
  gateId: 'g' as GateId,
  answer: { kind: 'accepted', content: {} },
  actor: { clientId: 'c', role: 'host_owner', source: 'acp' },
};

function facts(events: readonly HistoryEvent[], more: Partial<TaskFacts> = {}): TaskFacts {
  const records = events.map((event, index) => ({
    sessionId: 's' as SessionId,
    seq: index + 1,
    at: 1000 * (index + 1),
    cause: { command_ids: [] },
    event,
    hash: `hash-${index + 1}`,
  }));
  return { session: LIVE, runs: runFacts(records), gates: [], delegatesWork: false, ...more };
}

const stateOf = (events: readonly HistoryEvent[], more: Partial<TaskFacts> = {}) =>
  taskStatus(facts(events, more))?.state ?? null;

describe("a session's task", () => {
  test('is none where nothing was ever asked, and none of a session that is nowhere', () => {
    expect(taskStatus(facts([], { session: IDLE }))).toBeNull();
    expect(taskStatus(facts([], { session: STORED }))).toBeNull();
    expect(taskStatus(facts([begun], { session: null }))).toBeNull();
  });

  test('goes from submitted over working and waiting to its end', () => {
    expect(taskStatus(facts([]))).toEqual({ state: 'submitted' });
    expect(taskStatus(facts([begun]))).toEqual({
      state: 'working',
      timestamp: '1970-01-01T00:00:01.000Z',
    });
    expect(taskStatus(facts([begun, opened(asked)], { gates: [gate('g', asked)] }))).toMatchObject({
      state: 'input-required',
      timestamp: '1970-01-01T00:00:05.000Z',
      message: { kind: 'message', role: 'agent', messageId: 'g' },
    });
    expect(taskStatus(facts([begun, opened(asked), answered]))).toEqual({
      state: 'working',
      timestamp: '1970-01-01T00:00:03.000Z',
    });
    const all = [begun, opened(asked), answered, ended('natural')];
    expect(taskStatus(facts(all, { session: IDLE }))).toEqual({
      state: 'completed',
      timestamp: '1970-01-01T00:00:04.000Z',
    });
    // The next prompt was accepted and has not begun.
    expect(stateOf(all)).toBe('submitted');
  });

  test('needs a sign-in or an editor, unless a person can answer something first', () => {
    const waits = gate('a', signIn);
    expect(taskStatus(facts([begun], { gates: [waits] }))).toMatchObject({
      state: 'auth-required',
      message: { parts: [{ kind: 'text', text: 'Waiting for an editor with language models' }] },
    });
    expect(stateOf([begun], { gates: [waits, gate('g', asked)] })).toBe('input-required');
  });

  test.each([
    ['natural', 'end_turn', 'completed'],
    ['user_cancelled', 'cancelled', 'cancelled'],
    ['policy_stop', 'cancelled', 'cancelled'],
    ['policy_stop', 'end_turn', 'failed'],
    ['policy_budget', 'end_turn', 'failed'],
    ['policy_no_progress', 'end_turn', 'failed'],
    ['completion_unverified', 'end_turn', 'failed'],
    ['provider_error', 'end_turn', 'failed'],
    ['runtime_error', 'end_turn', 'failed'],
    ['suspended', 'end_turn', 'failed'],
    ['unknown', 'end_turn', 'failed'],
  ] as const)('that ended by %s (%s) is %s', (kind, stopReason, expected) => {
    expect(stateOf([begun, ended(kind, stopReason)], { session: IDLE })).toBe(expected);
  });

  test('is rejected where policy refused all of it, and failed where something was done before', () => {
    const refused = ended('policy_guardrail');
    expect(stateOf([begun, ...called('denied'), refused], { session: IDLE })).toBe('rejected');
    expect(stateOf([begun, ...called('completed'), refused], { session: IDLE })).toBe('failed');
  });

  test('works while only a delegate does', () => {
    const over = [begun, ended('natural')];
    expect(stateOf(over, { delegatesWork: true })).toBe('working');
    expect(stateOf(over, { delegatesWork: true, gates: [gate('d', asked)] })).toBe(
      'input-required',
    );
  });

  test('of a stored session says what it stands at, and never that somebody works on it', () => {
    expect(stateOf([begun, opened(asked)], { session: STORED })).toBe('input-required');
    expect(stateOf([begun, opened(signIn)], { session: STORED })).toBe('auth-required');
    expect(stateOf([begun, opened(asked), answered], { session: STORED })).toBe('failed');
    expect(stateOf([begun, ended('natural')], { session: STORED })).toBe('completed');
  });

  test('names no secret', () => {
    for (const status of [
      taskStatus(facts([begun], { gates: [gate('g', asked)] })),
      taskStatus(facts([begun, ended('provider_error')], { session: IDLE })),
    ]) {
      expect(status?.message).toBeDefined();
      expect(JSON.stringify(status)).not.toContain(SECRET);
    }
  });
});
