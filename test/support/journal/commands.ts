import type {
  Command,
  CommandType,
  DurableCommand,
  LiveCommand,
} from '../../../src/core/session/commands/command.ts';
import type {
  CommandId,
  GateId,
  LoopId,
  MessageId,
  ProcessId,
  SessionId,
  ToolCallId,
  TurnId,
} from '../../../src/core/session/words.ts';

/** One command of every type, with every field that it can have. */

const session = 's1' as SessionId;
const child = 'l2' as LoopId;
const gate_id = 'g1' as GateId;
const tool_call_id = 'c1' as ToolCallId;
const target_command_id = 'k0' as CommandId;
const text = (said: string) => [{ type: 'text', text: said }] as const;

function envelope<T extends CommandType>(type: T) {
  return {
    type,
    v: 1,
    command_id: `k/${type}` as CommandId,
    cause: null,
    agency: 'user',
    actor: { clientId: 'client', role: 'host_owner', source: 'acp' },
    target: { session_id: session, loop_id: session as string as LoopId },
    created_at: 1_790_000_000_000,
  } as const;
}

/** The durable lane. */
export const durableCommands: {
  readonly [T in DurableCommand['type']]: Extract<DurableCommand, { type: T }>;
} = {
  user_input: {
    ...envelope('user_input'),
    blocks: [
      { type: 'text', text: 'Read “über” 🙂\u2028\n' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource_link', name: 'a.ts', uri: 'file:///a.ts' },
    ],
  },
  inject: {
    ...envelope('inject'),
    message_id: 'm3' as MessageId,
    mode: 'steer',
    blocks: text('Rather so'),
    reminder: { dedupeKey: 'd', authority: 'advisory', tags: ['t'] },
  },
  subagent_result: {
    ...envelope('subagent_result'),
    command_id: 'r1/result' as CommandId,
    cause: {
      command_ids: ['r1' as CommandId],
      loop_id: child,
      turn_id: 't1' as TurnId,
      tool_call_id,
    },
    agency: 'machine',
    request_id: 'r1' as CommandId,
    outcome: 'completed',
    background: true,
    blocks: text('Found it'),
  },
  cancel_queued_input: { ...envelope('cancel_queued_input'), target_command_id },
  cancel_delegate_request: {
    ...envelope('cancel_delegate_request'),
    agency: 'machine',
    target_command_id,
  },
  approve_tool_call: {
    ...envelope('approve_tool_call'),
    gate_id,
    tool_call_id,
    option_id: 'allow_once',
  },
  deny_tool_call: { ...envelope('deny_tool_call'), gate_id, tool_call_id, note: 'Not this one' },
  provide_user_input: {
    ...envelope('provide_user_input'),
    gate_id,
    outcome: 'accepted',
    content: { answer: 'x', nested: [1, null, { z: true, a: -0.5 }] },
  },
  compact: { ...envelope('compact'), agency: 'machine' },
  cancel: { ...envelope('cancel'), reason: 'enough' },
  shutdown: { ...envelope('shutdown'), reason: 'closed by the person' },
  process_notification: {
    ...envelope('process_notification'),
    agency: 'machine',
    created_at: 0,
    process_id: 'p1' as ProcessId,
    state: 'exited',
    exit_code: 3,
    signal: null,
  },
};

/** The live lane. */
export const liveCommands: {
  readonly [T in LiveCommand['type']]: Extract<LiveCommand, { type: T }>;
} = {
  set_loop_mode: { ...envelope('set_loop_mode'), mode: 'architect' },
  change_loop_inference: {
    ...envelope('change_loop_inference'),
    model: 'rehearsal/script',
    thought_level: 'high',
    budget: { steps: 3 },
    judge: null,
  },
  replace_loop_external_tools: {
    ...envelope('replace_loop_external_tools'),
    agency: 'machine',
    source: 'mcp/files',
    generation: '2',
    tools: [{ name: 'files__read', schema_digest: 'ab'.repeat(32) }],
  },
};

/** Both lanes. */
export const everyCommand: readonly Command[] = [
  ...Object.values(durableCommands),
  ...Object.values(liveCommands),
];
