import { controlFields, historyFields } from '../../journal/codec/event-fields.ts';
import { DURABLE_TYPES } from '../../session/commands/command.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';

/** What the process does to the world besides its records and its tools. */
export const EFFECTS = [
  'model.request',
  'policy.remember',
  'process.start',
  'process.stop',
  'process.stop_all',
  'checkpoint.before',
  'checkpoint.end',
  'checkpoint.keep',
  'checkpoint.recover_turn',
  'checkpoint.plan',
  'checkpoint.restore',
  'checkpoint.settled',
  'checkpoint.recover',
  'session.delete',
  /** A tool of an MCP server. */
  'external_tool',
] as const;
export type EffectName = (typeof EFFECTS)[number];

/** Names of steps, in order. Records and commands come from their closed unions: a new one has its points at once. */
function steps(): string[] {
  const events = [...Object.keys(historyFields), ...Object.keys(controlFields)];
  const commands = DURABLE_TYPES.map((type) => `command/${type}`);
  return [
    ...[...events, ...commands].map((name) => `append/${name}`),
    ...[...Object.values(TOOL_NAMES), ...EFFECTS].map((name) => `effect/${name}`),
  ];
}

/** Every point where the process can be made to die. */
export function crashPointNames(): readonly string[] {
  return steps().flatMap((step) => [`before:${step}`, `after:${step}`]);
}
