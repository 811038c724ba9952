import type { Command, CommandViolation, ProcessNotification } from './command.ts';

/** What is wrong with a field, as `CommandViolation` says it. */
export type FieldViolation = Pick<CommandViolation, 'field' | 'rule'>;

/** The longest names of external tools, in characters, and how many there can be. */
const LIMITS = { source: 64, generation: 128, tools: 512, toolName: 128 } as const;

const SHA256 = /^[0-9a-f]{64}$/;

const violation = (field: string, rule: string): FieldViolation => ({ field, rule });
const MUST_BE_SET = 'must be set';
const MUST_BE_EMPTY = 'must not be set';
const INVALID = 'is invalid';

/**
 * What a well-formed command says that can't be, or null: the first thing that is wrong. Checked when a command is
 * journaled and again when it is read back, so that a restore never acts on a bad one.
 */
export function violationOf(command: Command): FieldViolation | null {
  // The table has a rule for each type, and takes what it is the rule of.
  return (RULES[command.type] as (command: Command) => FieldViolation | null)(command);
}

type Of<T extends Command['type']> = Extract<Command, { readonly type: T }>;
type Rules = { readonly [T in Command['type']]: (command: Of<T>) => FieldViolation | null };

const none = (): null => null;

const RULES: Rules = {
  user_input: inputViolation,
  inject: inputViolation,
  subagent_result: handBackViolation,
  cancel_queued_input: targetViolation,
  cancel_delegate_request: targetViolation,
  approve_tool_call: approvalViolation,
  deny_tool_call: none,
  provide_user_input: answerViolation,
  compact: none,
  cancel: none,
  shutdown: ({ reason }) => (reason === '' ? violation('reason', MUST_BE_SET) : null),
  process_notification: notificationViolation,
  set_loop_mode: none,
  change_loop_inference: inferenceViolation,
  replace_loop_external_tools: toolsViolation,
};

function inputViolation({ blocks }: Of<'user_input' | 'inject'>): FieldViolation | null {
  return blocks.length === 0 ? violation('blocks', MUST_BE_SET) : null;
}

function targetViolation(
  command: Of<'cancel_queued_input' | 'cancel_delegate_request'>,
): FieldViolation | null {
  return command.target_command_id === command.command_id
    ? violation('target_command_id', INVALID)
    : null;
}

function approvalViolation({ option_id, agency }: Of<'approve_tool_call'>): FieldViolation | null {
  if (option_id === '') return violation('option_id', MUST_BE_SET);
  // Whatever the machine may allow by itself needs no question: an approval is always a person's.
  return agency === 'user' ? null : violation('agency', 'must be user');
}

function handBackViolation(command: Of<'subagent_result'>): FieldViolation | null {
  if (command.agency !== 'machine') return violation('agency', 'must be machine');
  const child = command.cause?.loop_id;
  if (child === undefined) return violation('cause.loop_id', MUST_BE_SET);
  if (child === command.target.loop_id) return violation('cause.loop_id', INVALID);
  // The id is made from the request, so that a second hand-back of it is the same command.
  return command.command_id === `${command.request_id}/result`
    ? null
    : violation('command_id', INVALID);
}

function answerViolation(command: Of<'provide_user_input'>): FieldViolation | null {
  if (command.outcome === 'declined')
    return command.content === undefined ? null : violation('content', MUST_BE_EMPTY);
  if (command.content === undefined) return violation('content', MUST_BE_SET);
  if (command.reason !== undefined) return violation('reason', MUST_BE_EMPTY);
  // The machine may see that a sign-in was done elsewhere, but says nothing in a person's place.
  const isSaid = Object.keys(command.content).length > 0;
  return isSaid && command.agency !== 'user' ? violation('agency', 'must be user') : null;
}

function notificationViolation(command: ProcessNotification): FieldViolation | null {
  if (command.agency !== 'machine') return violation('agency', 'must be machine');
  if (command.created_at !== 0) return violation('created_at', 'must be 0');
  const { state, exit_code, signal } = command;
  if (signal === '') return violation('signal', INVALID);
  // A process that is lost ended unseen; any other ended by one of the two, or nobody could see by which.
  if (exit_code !== null && (signal !== null || state === 'lost'))
    return violation('exit_code', MUST_BE_EMPTY);
  return signal !== null && state === 'lost' ? violation('signal', MUST_BE_EMPTY) : null;
}

function inferenceViolation(command: Of<'change_loop_inference'>): FieldViolation | null {
  const { model, thought_level, budget, judge } = command;
  if ([model, thought_level, budget, judge].every((value) => value === undefined))
    return violation('model', 'or another value must be set');
  if (model === '') return violation('model', INVALID);
  return judge === '' ? violation('judge', INVALID) : null;
}

function toolsViolation(command: Of<'replace_loop_external_tools'>): FieldViolation | null {
  const { source, generation, tools } = command;
  if (source === '') return violation('source', MUST_BE_SET);
  if (source.length > LIMITS.source) return violation('source', 'is too long');
  if (generation === '') return violation('generation', MUST_BE_SET);
  if (generation.length > LIMITS.generation) return violation('generation', 'is too long');
  if (tools.length > LIMITS.tools) return violation('tools', 'are too many');
  const seen = new Set<string>();
  for (const [index, { name, schema_digest }] of tools.entries()) {
    const at = `tools.${index}`;
    if (name === '') return violation(`${at}.name`, MUST_BE_SET);
    if (name.length > LIMITS.toolName) return violation(`${at}.name`, 'is too long');
    if (seen.has(name)) return violation(`${at}.name`, 'is there twice');
    if (!SHA256.test(schema_digest)) return violation(`${at}.schema_digest`, INVALID);
    seen.add(name);
  }
  return null;
}
