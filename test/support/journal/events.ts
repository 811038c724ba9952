import type { ControlEvent } from '../../../src/core/session/control-events.ts';
import type { HistoryEvent } from '../../../src/core/session/events.ts';
import type { NewRecord } from '../../../src/core/session/ports.ts';
import type {
  CheckpointId,
  CommandId,
  GateId,
  LoopId,
  MessageId,
  ProcessId,
  QueueItemId,
  SessionConfig,
  SessionId,
  ToolCallId,
  TurnId,
} from '../../../src/core/session/words.ts';
import type { Actor } from '../../../src/protocol/controls.ts';
import { durableCommands, liveCommands } from './commands.ts';

/** Events of every type, for tests of the store. */

export const sessionId = (text: string): SessionId => text as SessionId;
export const messageId = (text: string): MessageId => text as MessageId;
export const turnId = 't1' as TurnId;

const toolCallId = 'c1' as ToolCallId;
const gateId = 'g1' as GateId;
const commandId = 'k1' as CommandId;
const processId = 'p1' as ProcessId;
const checkpointId = 'turn_1' as CheckpointId;
const loopId = 'l2' as LoopId;

export const config: SessionConfig = {
  mode: 'ask',
  model: 'rehearsal/script',
  thoughtLevel: 'auto',
  budget: { steps: 10, costUsd: 0.5 },
};

export const actor: Actor = { clientId: 'client', role: 'host_owner', source: 'acp' };

export function created(cwd = '/work/folder'): NewRecord {
  return {
    stream: 'history',
    event: { type: 'session_created', cwd, additionalDirectories: [], config },
  };
}

export function titled(title: string): NewRecord {
  return { stream: 'history', event: { type: 'title_changed', title } };
}

export function prompted(text: string): NewRecord {
  return {
    stream: 'history',
    event: {
      type: 'turn_started',
      turnId,
      commandId,
      messageId: messageId('m0'),
      content: [{ type: 'text', text }],
      config,
    },
  };
}

export function delta(text: string, message = 'm1', offset = 0): NewRecord {
  return {
    stream: 'history',
    event: {
      type: 'message_delta',
      turnId,
      messageId: messageId(message),
      kind: 'text',
      offset,
      text,
    },
  };
}

export function replied(message = 'm1'): NewRecord {
  return {
    stream: 'history',
    event: {
      type: 'model_replied',
      turnId,
      iteration: 1,
      messageId: messageId(message),
      calls: [],
      finish: 'stop',
      usage: { inputTokens: 10, outputTokens: 20 },
    },
  };
}

export function attached(clientId = 'client'): NewRecord {
  return { stream: 'control', event: { type: 'client_attached', actor: { ...actor, clientId } } };
}

const usage = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 3, costUsd: 0.25 };

/** How the history of a delegate begins. */
export const delegateCreated: HistoryEvent = {
  type: 'session_created',
  cwd: '/w',
  additionalDirectories: [],
  config,
  delegate: {
    rootId: sessionId('s'),
    parentId: 's' as LoopId,
    requestId: commandId,
    name: 'reader',
    depth: 1,
  },
};

/** One history event of every type. */
export const everyHistoryEvent: readonly HistoryEvent[] = [
  { type: 'session_created', cwd: '/w', additionalDirectories: ['/x'], config },
  { type: 'config_changed', config, actor },
  { type: 'title_changed', title: 'A title' },
  { type: 'commands_changed', commands: [{ name: 'plan', description: 'Plans', input: null }] },
  {
    type: 'turn_started',
    turnId,
    commandId,
    messageId: messageId('m0'),
    content: [
      { type: 'text', text: 'Do it' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource_link', name: 'a.ts', uri: 'file:///a.ts' },
      { type: 'resource', resource: { uri: 'file:///b.ts', text: 'b' } },
    ],
    modelText: 'Do it well',
    config,
  },
  {
    type: 'message_delta',
    turnId,
    messageId: messageId('m1'),
    kind: 'thought',
    offset: 0,
    text: 'Hm',
  },
  {
    type: 'model_replied',
    turnId,
    iteration: 1,
    messageId: messageId('m1'),
    calls: [
      { toolCallId, name: 'read', input: { path: 'a' } },
      { toolCallId, name: 'write', input: {}, inputError: 'not JSON' },
    ],
    finish: 'tool_calls',
    usage,
    providerState: { signature: ['x', null, 1] },
  },
  {
    type: 'model_failed',
    turnId,
    iteration: 1,
    attempt: 1,
    code: 'model.overloaded',
    message: 'Busy',
    retryInMs: 500,
  },
  {
    type: 'tool_proposed',
    turnId,
    toolCallId,
    name: 'edit',
    title: 'Edit a.ts',
    kind: 'edit',
    input: { path: 'a.ts' },
    locations: [{ path: '/w/a.ts', line: 3 }],
    content: [{ type: 'diff', path: '/w/a.ts', oldText: null, newText: 'x' }],
  },
  { type: 'tool_started', turnId, toolCallId },
  {
    type: 'tool_ended',
    turnId,
    toolCallId,
    result: {
      toolCallId,
      name: 'edit',
      status: 'completed',
      parts: [
        { type: 'text', text: 'ok' },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      ],
    },
    content: [
      { type: 'content', content: { type: 'text', text: 'ok' } },
      { type: 'terminal', terminalId: 'x' },
    ],
    locations: [],
    rawOutput: { exitCode: 0 },
  },
  {
    type: 'plan_changed',
    turnId,
    entries: [{ content: 'One', priority: 'high', status: 'in_progress' }],
  },
  {
    type: 'gate_opened',
    turnId,
    gateId,
    request: {
      kind: 'permission',
      toolCallId,
      tool: 'run',
      title: 'Run ls',
      toolKind: 'execute',
      input: { command: 'ls' },
      locations: [],
      content: [],
      reason: 'asks before effects',
      details: ['ls'],
      options: [{ optionId: 'once', name: 'Allow once', kind: 'allow_once' }],
    },
  },
  {
    type: 'gate_opened',
    turnId,
    gateId,
    request: {
      kind: 'ask',
      toolCallId,
      message: 'Which?',
      schema: { type: 'object', properties: { answer: { type: 'string' } } },
    },
  },
  {
    type: 'gate_opened',
    turnId,
    gateId,
    request: { kind: 'auth', target: 'openai', targetKind: 'model', message: 'Sign in' },
  },
  {
    type: 'gate_resolved',
    turnId,
    gateId,
    answer: { kind: 'selected', optionId: 'once', note: 'fine' },
    actor,
  },
  {
    type: 'gate_resolved',
    turnId,
    gateId,
    answer: { kind: 'accepted', content: { answer: 'x' } },
    actor,
  },
  { type: 'gate_resolved', turnId, gateId, answer: { kind: 'declined', reason: 'no' }, actor },
  {
    type: 'gate_resolved',
    turnId,
    gateId,
    answer: { kind: 'cancelled', reason: 'restart' },
    actor,
  },
  { type: 'process_started', processId, command: 'npm run watch' },
  { type: 'process_ended', processId, state: 'exited', exitCode: 0, signal: null },
  { type: 'machine_message', turnId: null, messageId: messageId('m2'), text: 'It ended' },
  { type: 'usage_changed', used: 10, size: 100, costUsd: null },
  { type: 'notice', severity: 'warning', title: 'Careful', description: 'Text' },
  {
    type: 'turn_ended',
    turnId,
    terminal: { kind: 'natural', owner: 'agent', reason: 'stop' },
    stopReason: 'end_turn',
    usage,
    iterations: 1,
  },
  {
    type: 'inject_delivered',
    turnId,
    messageId: messageId('m3'),
    mode: 'steer',
    content: [{ type: 'text', text: 'Rather so' }],
    seam: 'post_tool_dispatch',
    actor,
  },
  {
    type: 'directives_issued',
    turnId,
    messageId: messageId('m4'),
    seam: 'post_tool_dispatch',
    nonce: 'n',
    directives: [
      {
        key: 'steer/m3',
        authority: 'contract',
        source: 'steer',
        text: 'Rather so',
        supersedes: null,
        messageId: messageId('m3'),
      },
      { key: 'k', authority: 'advisory', source: 'reminder', text: 'b', supersedes: 'a' },
    ],
  },
  {
    type: 'judge_decision',
    turnId,
    iteration: 1,
    judge: 'rehearsal/script',
    verdict: 'vetoed',
    reason: 'Not done',
    correction: 'Do it',
    usage,
  },
  {
    type: 'compacted',
    turnId,
    messageId: messageId('m5'),
    summary: 'It was said',
    keptMessages: 2,
    beforeMessageCount: 9,
    afterMessageCount: 3,
  },
  {
    type: 'turn_checkpoint',
    turnId,
    checkpointId,
    onStack: true,
    beforeMessageCount: 0,
    afterMessageCount: 2,
    beforeEventId: 1,
    files: {
      before: 'b',
      after: 'a',
      coverage: 'partial',
      reason: 'Too large',
      changed: [{ path: '/w/a.ts', change: 'modified' }],
    },
  },
  {
    type: 'history_moved',
    reason: 'rollback',
    to: 1,
    checkpointId,
    beforeMessageCount: 0,
    afterMessageCount: 2,
    files: { undo: 'u', restored: ['/w/a.ts'], skipped: [{ path: '/w/b', reason: 'changed' }] },
    actor,
  },
  {
    type: 'files_restored',
    toolCallId,
    checkpointId: null,
    files: { undo: 'u', restored: [], skipped: [] },
    actor,
  },
  { type: 'compaction_rejected', turnId: null, reason: 'nothing_to_gain', message: 'Too short' },
  {
    type: 'delegate_started',
    turnId,
    toolCallId,
    requestId: commandId,
    loopId,
    name: 'reader',
    prompt: 'read a.ts',
    background: false,
    config,
  },
  {
    type: 'delegate_ended',
    requestId: commandId,
    loopId,
    outcome: 'completed',
    text: 'It was read',
    usage,
  },
  {
    type: 'workspace_checkpointed',
    checkpointId,
    trigger: 'manual',
    files: { before: 'b', after: 'a', coverage: 'full', changed: [] },
    actor,
  },
];

/** One control event of every type. */
export const everyControlEvent: readonly ControlEvent[] = [
  { type: 'command_accepted', commandId, command: 'submit', bodyHash: 'ab', actor },
  { type: 'command_resolved', commandId, resolution: 'started' },
  { type: 'command_resolved', commandId, resolution: 'cancelled', reason: 'restart' },
  {
    type: 'control_outcome',
    receipt: {
      session_id: 's',
      control_id: 'c',
      method: 'session/cancel',
      outcome: 'cancelled',
      status: 'accepted',
      actor,
      target: { turn_id: 't1' },
      metadata: { count: 1, ok: true, none: null, text: 'x' },
    },
  },
  { type: 'client_attached', actor },
  { type: 'client_detached', actor },
  { type: 'session_closed', actor, reason: 'closed by the person' },
  { type: 'session_restored', interruptedTurnId: null },
  {
    type: 'inject_accepted',
    messageId: messageId('m3'),
    mode: 'steer',
    content: [{ type: 'text', text: 'So' }],
    actor,
    reminder: { dedupeKey: 'd', authority: 'advisory', tags: ['t'] },
    commandId,
    bodyHash: 'ab',
  },
  {
    type: 'inject_replaced',
    messageId: messageId('m3'),
    content: [{ type: 'text', text: 'Rather so' }],
    actor,
  },
  { type: 'inject_revoked', messageId: messageId('m3'), why: 'given_back', actor },
  {
    type: 'queue_changed',
    change: {
      kind: 'added',
      itemId: 'q1' as QueueItemId,
      content: [{ type: 'text', text: 'Later' }],
      before: null,
    },
    actor,
  },
  { type: 'queue_changed', change: { kind: 'paused', why: 'stopped' }, actor },
  { type: 'fs_mode_changed', mode: 'staged', actor },
  { type: 'file_staged', path: '/w/a.ts', base: null, text: 'x', toolCallId },
  { type: 'staged_settled', how: 'committed', paths: ['/w/a.ts'], actor },
  ...Object.values(durableCommands).map((command) => ({
    type: 'command_issued' as const,
    command,
    bodyHash: 'ab',
  })),
  ...Object.values(liveCommands).map((command) => ({
    type: 'loop_changed' as const,
    command,
    values: { mode: config.mode, model: config.model, thoughtLevel: config.thoughtLevel },
  })),
  {
    type: 'loop_change_refused',
    command: liveCommands.set_loop_mode,
    reason: 'shutting_down',
    message: 'The session is closing.',
  },
  { type: 'active_loop_changed', previous: 's' as LoopId, active: loopId, actor },
  { type: 'gate_prepared', turnId, gateId, iteration: 1, fingerprint: 'ab' },
];
