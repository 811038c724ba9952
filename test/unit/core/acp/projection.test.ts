import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as checks from '../../../../src/core/acp/generated/schema-checks.mjs';
import { Projector } from '../../../../src/core/acp/projection/projector.ts';
import type { HistoryEvent, Stored } from '../../../../src/core/session/events.ts';
import type { ModelToolResult } from '../../../../src/core/session/model.ts';
import type {
  CheckpointId,
  CommandId,
  GateId,
  LoopId,
  MessageId,
  ProcessId,
  SessionConfig,
  SessionId,
  ToolCallId,
  TurnId,
} from '../../../../src/core/session/words.ts';

const turnId = 't1' as TurnId;
const toolCallId = 'c1' as ToolCallId;
const messageId = 'm1' as MessageId;
const config: SessionConfig = {
  mode: 'ask',
  model: 'fake/model',
  thoughtLevel: 'auto',
  budget: {},
};
const actor = { clientId: 'x', role: 'host_owner', source: 'acp' } as const;
const usage = { inputTokens: 1, outputTokens: 2 };
const gate = {
  kind: 'ask',
  toolCallId,
  message: 'Which?',
  schema: { type: 'object', properties: {} },
} as const;
const result = (status: ModelToolResult['status'], text?: string): ModelToolResult => ({
  toolCallId,
  name: 'run',
  status,
  parts: text === undefined ? [] : [{ type: 'text', text }],
});

/** One of every event, so that a new one can't be forgotten. */
const EVENTS: { readonly [T in HistoryEvent['type']]: Extract<HistoryEvent, { type: T }> } = {
  session_created: { type: 'session_created', cwd: '/w', additionalDirectories: [], config },
  config_changed: { type: 'config_changed', config: { ...config, mode: 'code' }, actor },
  title_changed: { type: 'title_changed', title: 'A title' },
  commands_changed: {
    type: 'commands_changed',
    commands: [{ name: 'help', description: 'Helps' }],
  },
  turn_started: {
    type: 'turn_started',
    turnId,
    commandId: 'k' as CommandId,
    messageId,
    content: [
      { type: 'text', text: 'do' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
    ],
    config,
  },
  message_delta: {
    type: 'message_delta',
    turnId,
    messageId,
    kind: 'thought',
    offset: 0,
    text: 'hm',
  },
  model_replied: {
    type: 'model_replied',
    turnId,
    iteration: 1,
    messageId,
    calls: [],
    finish: 'stop',
    usage,
  },
  model_failed: {
    type: 'model_failed',
    turnId,
    iteration: 1,
    attempt: 1,
    code: 'model.rate_limited',
    message: 'Slow down',
    retryInMs: 500,
  },
  tool_proposed: {
    type: 'tool_proposed',
    turnId,
    toolCallId,
    name: 'run',
    title: 'Run',
    kind: 'execute',
    input: { command: 'ls' },
    locations: [{ path: '/w/a', line: 3 }],
    content: [],
  },
  tool_started: { type: 'tool_started', turnId, toolCallId },
  tool_ended: {
    type: 'tool_ended',
    turnId,
    toolCallId,
    result: result('completed', 'out'),
    content: [{ type: 'diff', path: '/w/a', oldText: null, newText: 'x' }],
    locations: [],
    rawOutput: { exitCode: 0 },
  },
  plan_changed: {
    type: 'plan_changed',
    turnId,
    entries: [{ content: 'a', priority: 'high', status: 'pending' }],
  },
  gate_opened: { type: 'gate_opened', turnId, gateId: 'g' as GateId, request: gate },
  gate_resolved: {
    type: 'gate_resolved',
    turnId,
    gateId: 'g' as GateId,
    answer: { kind: 'declined' },
    actor,
  },
  process_started: {
    type: 'process_started',

    processId: 'p' as ProcessId,
    command: 'sleep',
  },
  process_ended: {
    type: 'process_ended',
    processId: 'p' as ProcessId,
    state: 'exited',
    exitCode: 0,
    signal: null,
  },
  machine_message: { type: 'machine_message', turnId, messageId, text: 'A process ended' },
  usage_changed: { type: 'usage_changed', used: 10, size: 100, costUsd: 0.5 },
  inject_delivered: {
    type: 'inject_delivered',
    turnId,
    messageId,
    mode: 'steer',
    content: [{ type: 'text', text: 'smaller' }],
    seam: 'post_tool_dispatch',
    actor,
  },
  directives_issued: {
    type: 'directives_issued',
    turnId,
    messageId,
    seam: 'post_tool_dispatch',
    nonce: 'n',
    directives: [],
  },
  judge_decision: {
    type: 'judge_decision',
    turnId,
    iteration: 2,
    judge: 'm',
    verdict: 'vetoed',
    reason: 'not yet',
    correction: 'go on',
    usage,
  },
  compacted: {
    type: 'compacted',
    turnId,
    messageId,
    summary: 'so far',
    keptMessages: 2,
    beforeMessageCount: 9,
    afterMessageCount: 3,
  },
  turn_checkpoint: {
    type: 'turn_checkpoint',
    turnId,
    checkpointId: 'turn_1' as CheckpointId,
    onStack: true,
    beforeMessageCount: 1,
    afterMessageCount: 2,
    beforeEventId: 2,
    files: null,
  },
  history_moved: {
    type: 'history_moved',
    reason: 'rollback',
    to: 2,
    checkpointId: 'turn_1' as CheckpointId,
    beforeMessageCount: 2,
    afterMessageCount: 1,
    files: null,
    actor,
  },
  files_restored: {
    type: 'files_restored',
    toolCallId,
    checkpointId: null,
    files: { undo: 'u', restored: ['/w/a'], skipped: [] },
    actor,
  },
  compaction_rejected: {
    type: 'compaction_rejected',
    turnId: null,
    reason: 'nothing_to_gain',
    message: 'Too short',
  },
  delegate_started: {
    type: 'delegate_started',
    turnId,
    toolCallId,
    requestId: 'r' as CommandId,
    loopId: 'l' as LoopId,
    name: 'reader',
    prompt: 'read',
    background: true,
    config,
  },
  delegate_ended: {
    type: 'delegate_ended',
    requestId: 'r' as CommandId,
    loopId: 'l' as LoopId,
    outcome: 'completed',
    text: 'Done',
    usage,
  },
  workspace_checkpointed: {
    type: 'workspace_checkpointed',
    checkpointId: 'kept_1' as CheckpointId,
    trigger: 'manual',
    files: { before: 'b', after: 'a', coverage: 'full', changed: [] },
    actor,
  },
  notice: { type: 'notice', severity: 'warning', title: 'Careful', description: 'Very' },
  turn_ended: {
    type: 'turn_ended',
    turnId,
    terminal: { kind: 'natural', owner: 'agent', reason: 'completed' },
    stopReason: 'end_turn',
    usage,
    iterations: 1,
  },
};

const record = (event: HistoryEvent, seq = 1): Stored<HistoryEvent> => ({
  sessionId: 's' as SessionId,
  seq,
  at: 1000,
  cause: { command_ids: [] },
  event,
  hash: '',
});
const PLAIN = { notices: false, extras: false, compaction: false, harn: false };
const OURS = { notices: true, extras: true, compaction: true, harn: false };
const HARN = { notices: false, extras: false, compaction: false, harn: true };

type Shown = { readonly sessionUpdate: string; readonly _meta?: Record<string, unknown> };

const HARN_UPDATES = ['user_message', 'session_rollback', 'session_redo', 'session_truncated'];

function isHarnUpdate(update: unknown): boolean {
  return HARN_UPDATES.includes((update as Shown).sessionUpdate);
}

function project(event: HistoryEvent, audience = PLAIN): unknown[] {
  return new Projector(audience)
    .history(record(event), { skipPrompt: false })
    .map(({ update }) => update);
}

describe('the projection from events to updates', () => {
  test('every update of every event is valid ACP, for plain clients and for ours', () => {
    for (const audience of [PLAIN, OURS])
      for (const event of Object.values(EVENTS))
        for (const update of project(event, audience).filter((one) => !isHarnUpdate(one)))
          expect(
            checks.sessionNotification({ sessionId: 's', update }),
            `${event.type} ${JSON.stringify(checks.sessionNotification.errors)}`,
          ).toBe(true);
  });

  test('a plain client sees exactly what ACP has words for', () => {
    const kinds = Object.fromEntries(
      Object.values(EVENTS).map((event) => [
        event.type,
        project(event).map((update) => (update as { sessionUpdate: string }).sessionUpdate),
      ]),
    );
    expect(kinds).toEqual({
      session_created: [],
      config_changed: ['current_mode_update'],
      title_changed: ['session_info_update'],
      commands_changed: ['available_commands_update'],
      turn_started: ['user_message_chunk', 'user_message_chunk'],
      message_delta: ['agent_thought_chunk'],
      model_replied: [],
      model_failed: [],
      tool_proposed: ['tool_call'],
      tool_started: ['tool_call_update'],
      tool_ended: ['tool_call_update'],
      plan_changed: ['plan'],
      gate_opened: [],
      gate_resolved: [],
      process_started: [],
      process_ended: [],
      machine_message: [],
      usage_changed: ['usage_update'],
      notice: [],
      turn_ended: ['session_info_update'],
      inject_delivered: ['user_message_chunk'],
      directives_issued: [],
      judge_decision: [],
      compacted: [],
      turn_checkpoint: [],
      history_moved: [],
      files_restored: [],
      compaction_rejected: [],
      delegate_started: [],
      delegate_ended: [],
      workspace_checkpointed: [],
    });
  });

  test("a client of Harn's extension sees its updates, and no plain client ever does", () => {
    expect(project(EVENTS.inject_delivered, HARN)).toEqual([
      {
        sessionUpdate: 'user_message',
        messageId,
        content: [{ type: 'text', text: 'smaller' }],
        _meta: { harn: { injectedMode: 'steer', seam: 'post_tool_dispatch' } },
      },
    ]);
    expect(project(EVENTS.history_moved, HARN)).toEqual([
      {
        sessionUpdate: 'session_rollback',
        checkpointId: 'turn_1',
        status: 'rolled_back',
        beforeMessageCount: 2,
        afterMessageCount: 1,
      },
    ]);
    const turns = { kept: 3, removed: 2, tip: turnId };
    expect(project({ ...EVENTS.history_moved, reason: 'truncate', turns }, HARN)).toEqual([
      {
        sessionUpdate: 'session_truncated',
        keptTurnCount: 3,
        removedTurnCount: 2,
        newTipTurnId: turnId,
        keptMessageCount: 1,
        removedMessageCount: 1,
      },
    ]);
    expect(project({ ...EVENTS.history_moved, reason: 'redo' }, HARN)).toMatchObject([
      { sessionUpdate: 'session_redo', status: 'redone' },
    ]);
    expect(
      Object.values(EVENTS)
        .flatMap((event) => project(event))
        .filter(isHarnUpdate),
    ).toEqual([]);
  });

  test('our own clients read what ACP has no word for beside the updates', () => {
    const extras = (event: HistoryEvent): unknown[] =>
      project(event, OURS).map((update) => (update as Shown)._meta?.['pilothouse']);
    expect(extras(EVENTS.inject_delivered)).toEqual([
      { inject: { messageId, mode: 'steer', seam: 'post_tool_dispatch' } },
    ]);
    expect(extras(EVENTS.judge_decision)).toEqual([
      { judge: { judge: 'm', verdict: 'vetoed', reason: 'not yet', correction: 'go on' } },
    ]);
    expect(extras(EVENTS.compacted)).toEqual([{ compacted: { before: 9, after: 3 } }]);
    expect(extras(EVENTS.turn_checkpoint)).toEqual([
      { checkpoint: { checkpointId: 'turn_1', turnId, onStack: true, files: 0, coverage: 'none' } },
    ]);
    expect(extras(EVENTS.history_moved)).toEqual([{ moved: { reason: 'rollback', to: 2 } }]);
    expect(extras(EVENTS.files_restored)).toEqual([{ restored: { toolCallId, paths: ['/w/a'] } }]);
    expect(extras({ ...EVENTS.model_replied, finish: 'interrupted' })).toEqual([
      { interrupted: { messageId } },
    ]);
    expect(extras(EVENTS.model_replied)).toEqual([]);
  });

  test('a call is shown with everything, and its result replaces content', () => {
    expect(project(EVENTS.tool_proposed)).toEqual([
      {
        sessionUpdate: 'tool_call',
        toolCallId,
        title: 'Run',
        name: 'run',
        kind: 'execute',
        status: 'pending',
        rawInput: { command: 'ls' },
        locations: [{ path: '/w/a', line: 3 }],
        content: [],
      },
    ]);
    expect(project(EVENTS.tool_ended)).toEqual([
      {
        sessionUpdate: 'tool_call_update',
        toolCallId,
        status: 'completed',
        content: [{ type: 'diff', path: '/w/a', oldText: null, newText: 'x' }],
        rawOutput: { exitCode: 0 },
      },
    ]);
  });

  test.each([
    ['failed', 'tool_error', undefined],
    ['denied', 'permission_denied', 'denied'],
    ['cancelled', 'cancelled', 'cancelled'],
    ['interrupted', 'cancelled', 'interrupted'],
    ['outcome_unknown', 'unknown', 'outcome_unknown'],
  ] as const)(
    'a call that was %s is failed on the wire, with its category and a readable text',
    (status, errorCategory, own) => {
      const event = { ...EVENTS.tool_ended, content: [], result: result(status) };
      const [update] = project(event, OURS) as {
        status: string;
        content: { content: { text: string } }[];
        _meta: Record<string, unknown>;
      }[];
      expect(update?.status).toBe('failed');
      expect(update?._meta).toEqual({
        harn: { errorCategory, ...(own ? { status: own } : {}) },
        ...(own ? { pilothouse: { status: own } } : {}),
      });
      expect(update?.content[0]?.content.text).toMatch(/\.$/);
      const [withText] = project({
        ...event,
        result: result(status, 'what the model read'),
      }) as (typeof update)[];
      expect(withText?.content[0]?.content.text).toBe('what the model read');
    },
  );

  test('a failed turn says why: as text to plain clients, as a notice where they are taken', () => {
    const event = {
      ...EVENTS.turn_ended,
      terminal: { kind: 'provider_error', owner: 'provider', reason: 'No credit' } as const,
    };
    expect(project(event)[0]).toMatchObject({
      sessionUpdate: 'agent_message_chunk',
      content: { text: 'The turn failed: No credit' },
    });
    expect(project(event, { ...PLAIN, notices: true })[0]).toMatchObject({
      sessionUpdate: 'notice',
      severity: 'error',
      description: 'No credit',
    });
    expect(project(event, OURS)).toMatchObject([
      { _meta: { pilothouse: { turn: { state: 'ended', terminal: { reason: 'No credit' } } } } },
    ]);
  });

  test('a compaction is told to whom takes it: under way, and over by what is stored', () => {
    const takes = { ...PLAIN, compaction: true };
    const started = { type: 'compaction_started', turnId, messageId, trigger: 'manual' } as const;
    const rejected = EVENTS.compaction_rejected;
    const end = (projector: Projector, event: HistoryEvent): unknown[] =>
      projector.history(record(event), { skipPrompt: false }).map(({ update }) => update);
    const followed = new Projector(takes);
    expect(followed.compacting(started)).toEqual([
      { sessionUpdate: 'compaction_update', compactionId: messageId, status: 'in_progress' },
    ]);
    const { summary, messageId: compactionId } = EVENTS.compacted;
    const completed = {
      sessionUpdate: 'compaction_update',
      compactionId,
      status: 'completed',
      summary: [{ type: 'text', text: summary }],
    };
    expect(end(followed, EVENTS.compacted)).toEqual([completed]);
    // A replay knows only the end.
    expect(end(new Projector(takes), EVENTS.compacted)).toEqual([completed]);
    expect(end(new Projector(takes), rejected)).toEqual([]);
    for (const [reason, status] of [
      ['cancelled', 'cancelled'],
      ['restart', 'cancelled'],
      ['summary_failed', 'failed'],
    ] as const) {
      const projector = new Projector(takes);
      projector.compacting(started);
      expect(end(projector, { ...rejected, reason })).toMatchObject([{ status }]);
      expect(end(projector, { ...rejected, reason })).toEqual([]);
    }
    // Who does not take them is told nothing of ACP's, and ours what it reads anyway.
    expect(new Projector(PLAIN).compacting(started)).toEqual([]);
    expect(project(EVENTS.compacted)).toEqual([]);
    expect(project(EVENTS.compacted, { ...OURS, compaction: false })).toMatchObject([
      { sessionUpdate: 'session_info_update', _meta: { pilothouse: { compacted: {} } } },
    ]);
  });

  test('a delegate is a mark on the call that began it, from its beginning to its hand-back', () => {
    const projector = new Projector(OURS);
    const { requestId, loopId, name } = EVENTS.delegate_started;
    const marks = [EVENTS.delegate_started, { ...EVENTS.delegate_ended, requestId, loopId }].map(
      (event) => projector.history(record(event), { skipPrompt: false })[0]?.update,
    );
    const call = {
      sessionUpdate: 'tool_call_update',
      toolCallId: EVENTS.delegate_started.toolCallId,
    };
    const { outcome } = EVENTS.delegate_ended;
    expect(marks).toMatchObject([
      { ...call, _meta: { pilothouse: { delegate: { loopId, name, state: 'running' } } } },
      { ...call, _meta: { pilothouse: { delegate: { loopId, name, state: outcome } } } },
    ]);
    expect(project(EVENTS.delegate_started)).toEqual([]);
  });

  test('what the machine began a turn with is not shown as a person’s words', () => {
    const event = { ...EVENTS.turn_started, origin: 'machine' } as const;
    expect(project(event)).toEqual([]);
    expect(project(event, OURS)).toMatchObject([
      { sessionUpdate: 'session_info_update', _meta: { pilothouse: { machine: 'do' } } },
      { _meta: { pilothouse: { turn: { state: 'started', origin: 'machine' } } } },
    ]);
  });

  test('the same mode again is no change', () => {
    const projector = new Projector(PLAIN);
    const kinds = [
      EVENTS.session_created,
      { ...EVENTS.config_changed, config },
      EVENTS.config_changed,
      EVENTS.config_changed,
    ].map((event) => projector.history(record(event), { skipPrompt: false }).length);
    expect(kinds).toEqual([0, 0, 1, 0]);
  });

  test('streamed text arrives once, whatever the interleaving of live chunks and durable pieces', () => {
    const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
        (text, liveCuts, durableCuts, order) => {
          const live = pieces(text, liveCuts);
          const durable = pieces(text, durableCuts);
          const projector = new Projector(PLAIN);
          let received = '';
          let liveEnd = 0;
          for (const isLive of [...order, ...Array(40).fill(true), ...Array(40).fill(false)]) {
            // A piece is durable only after its text was streamed.
            const next = isLive ? live[0] : durable[0];
            if (next === undefined || (!isLive && next.offset + next.text.length > liveEnd))
              continue;
            (isLive ? live : durable).shift();
            if (isLive) liveEnd = next.offset + next.text.length;
            for (const { update, offset } of projector.chunk({
              messageId,
              kind: 'text',
              ...next,
            })) {
              expect(offset).toBe(received.length);
              received += (update as { content: { text: string } }).content.text;
            }
          }
          expect(received).toBe(text);
        },
      ),
    );
  });

  test('replaying the durable pieces alone gives the same text as following live', () => {
    const projector = new Projector(PLAIN);
    const text = pieces('hello wide world', [3, 8]).map((piece, index) => {
      const event = { type: 'message_delta', turnId, messageId, kind: 'text', ...piece } as const;
      const [projected] = projector.history(record(event, index), { skipPrompt: false });
      const update = projected?.update;
      const content =
        update && 'content' in update ? (update.content as { text: string }) : { text: '' };
      return content.text;
    });
    expect(text.join('')).toBe('hello wide world');
  });
});

function pieces(text: string, cuts: readonly number[]): { offset: number; text: string }[] {
  const places = [...new Set([0, ...cuts.map((cut) => cut % text.length)])].sort((a, b) => a - b);
  return places.map((offset, index) => ({ offset, text: text.slice(offset, places[index + 1]) }));
}
