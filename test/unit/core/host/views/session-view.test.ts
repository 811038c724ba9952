import { describe, expect, test } from 'vitest';
import type { ListedSession, OpenGate } from '../../../../../src/core/host/api.ts';
import { sessionView, type ViewSource } from '../../../../../src/core/host/views/session-view.ts';
import type { HistoryEvent, Stored } from '../../../../../src/core/session/events.ts';
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

const sessionId = 's' as SessionId;
const config: SessionConfig = { mode: 'ask', model: 'a/b', thoughtLevel: 'auto', budget: {} };
const SECRET = 'sk-abcdefghijklmnop1234';

function turn(name: string, text: string, kind: TerminalKind | null): HistoryEvent[] {
  const turnId = name as TurnId;
  const toolCallId = `${name}-call` as ToolCallId;
  const messageId = `${name}-reply` as MessageId;
  const usage = { inputTokens: 10, outputTokens: 2, costUsd: 0.5 };
  const events: HistoryEvent[] = [
    {
      type: 'turn_started',
      turnId,
      commandId: 'c' as CommandId,
      messageId: 'm' as MessageId,
      content: [{ type: 'text', text: `do it with ${SECRET}` }],
      config,
    },
    { type: 'message_delta', turnId, messageId, kind: 'text', offset: 0, text },
    {
      type: 'model_replied',
      turnId,
      iteration: 1,
      messageId,
      calls: [],
      finish: 'stop',
      usage,
    },
    {
      type: 'tool_proposed',
      turnId,
      toolCallId,
      name: 'run',
      title: `run ${SECRET}`,
      kind: 'execute',
      input: { command: SECRET },
      locations: [],
      content: [],
    },
  ];
  if (kind === null) return events;
  const terminal = { kind, owner: 'agent', reason: `because ${SECRET}` } as const;
  return [
    ...events,
    { type: 'turn_ended', turnId, terminal, stopReason: 'end_turn', usage, iterations: 1 },
  ];
}

function source(events: readonly HistoryEvent[], more: Partial<ViewSource> = {}): ViewSource {
  const created: HistoryEvent[] = [
    { type: 'session_created', cwd: '/w', additionalDirectories: [], config },
    { type: 'commands_changed', commands: [] },
  ];
  const records = [...created, ...events].map(
    (event, index): Stored<HistoryEvent> => ({
      sessionId,
      seq: index + 1,
      at: 1000 * (index + 1),
      cause: { command_ids: [] },
      event,
      hash: `hash-${index + 1}`,
    }),
  );
  const session: ListedSession = {
    sessionId,
    cwd: '/w',
    additionalDirectories: [],
    title: null,
    createdAt: 1000,
    lastMessageAt: events.length === 0 ? 1000 : records.length * 1000,
    lastEventId: records.length,
    prefixHash: `hash-${records.length}`,
    liveState: 'live',
    activePrompt: false,
    openGates: 0,
    currentModeId: 'ask',
  };
  const producer = { name: 'pilothouse', version: '1' };
  return { sessionId, session, records, gates: [], delegatesWork: false, producer, ...more };
}

describe('the view of a session', () => {
  test('has a status by its runs, and the run says the same', () => {
    const statusOf = (...kinds: (TerminalKind | null)[]): string[] => {
      const { session, run } = sessionView(
        source(kinds.flatMap((kind, index) => turn(`t${index}`, 'x', kind))),
      );
      return [session.status, run.status];
    };
    expect(statusOf()).toEqual(['unknown', 'unknown']);
    expect(statusOf('natural')).toEqual(['completed', 'completed']);
    expect(statusOf('natural', null)).toEqual(['active', 'active']);
    expect(statusOf('natural', 'policy_budget')).toEqual(['active', 'active']);
    expect(statusOf('user_cancelled', 'natural')).toEqual(['failed', 'failed']);
    expect(statusOf('provider_error', null)).toEqual(['failed', 'failed']);
  });

  test('has the same hash for the same input, and another for any other content', () => {
    const events = turn('t', 'hello', 'natural');
    const hash = (one: ViewSource): string => sessionView(one).projection.projection_hash;
    const first = hash(source(events));
    expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(hash(source(structuredClone(events)))).toBe(first);
    const { projection } = sessionView(source(events));
    expect(projection.projection_id).toBe(`session_view:s:${first.slice(7, 19)}`);
    for (const other of [
      source(turn('t', 'hullo', 'natural')),
      source(turn('t', 'hello', 'user_cancelled')),
      source([...events, ...turn('u', 'hello', 'natural')]),
      source(events, { producer: { name: 'pilothouse', version: '2' } }),
    ])
      expect(hash(other)).not.toBe(first);
  });

  test('says null of a prefix where nothing happened or nothing is known', () => {
    expect(sessionView(source([])).projection).toMatchObject({
      prefix_hash: null,
      last_event_id: null,
    });
    expect(sessionView(source([], { session: null, records: [] }))).toMatchObject({
      session: { status: 'unknown', chain_root_hash: null },
      metadata: { has_event_log: false, event_count: 0 },
    });
    expect(sessionView(source(turn('t', 'x', 'natural'))).projection).toMatchObject({
      prefix_hash: 'hash-7',
      last_event_id: 7,
    });
  });

  test('names what it waits for, and holds no secret', () => {
    const gate = (gateId: string, request: OpenGate['request']): OpenGate => ({
      gateId: gateId as GateId,
      turnId: 't' as TurnId,
      request,
      openedAt: 5000,
    });
    const view = sessionView(
      source(turn('t', `said ${SECRET}`, 'provider_error'), {
        gates: [
          gate('ask', {
            kind: 'ask',
            toolCallId: 'c' as ToolCallId,
            message: `Which? ${SECRET}`,
            schema: { type: 'object', properties: {} },
          }),
          gate('in', { kind: 'auth', target: 'openai', targetKind: 'model', message: 'Sign in' }),
        ],
      }),
    );
    expect(view.pending).toMatchObject({
      approvals: [{ request_id: 'ask', trace_id: 't', asked_at: '1970-01-01T00:00:05.000Z' }],
      auth: [{ provider: 'openai', message: 'Sign in' }],
    });
    expect(view.usage).toMatchObject({ input_tokens: 10, output_tokens: 2, total_cost: 0.5 });
    expect(view.runs[0]).toMatchObject({
      run: { run_id: 't', status: 'failed', duration_ms: 4000 },
      stages: [{ id: 't-call', node_id: 'run', status: 'running' }],
    });
    expect(JSON.stringify(view)).not.toContain(SECRET);
    expect(JSON.stringify(view)).toContain('[redacted]');
  });
});
