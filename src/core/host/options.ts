import { isObject } from '../../base/json.ts';
import type { SessionConfigOption } from '../../protocol/acp.ts';
import type { LoopChange } from '../session/commands/entry-points.ts';
import { SessionError } from '../session/commands/session-error.ts';
import type { ModelCatalog, ModelInfo } from '../session/model.ts';
import {
  type Budget,
  CHECKPOINT_POLICIES,
  type CheckpointPolicy,
  MODES,
  type Mode,
  type SessionConfig,
  THOUGHT_LEVELS,
  type ThoughtLevel,
} from '../session/words.ts';

const MODE_TEXTS: Record<Mode, { name: string; description: string }> = {
  ask: {
    name: 'Ask',
    description: 'Asks before it changes files, runs commands or uses the network',
  },
  architect: { name: 'Architect', description: 'Reads and plans; changes nothing' },
  code: {
    name: 'Code',
    description: 'Changes files and runs commands in the folder; asks for the rest',
  },
  shadow: { name: 'Shadow', description: 'Shows what it would do; changes nothing' },
};

const THOUGHT_TEXTS: Record<ThoughtLevel, string> = {
  auto: 'Auto',
  off: 'Off',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
};

const BUDGETS: readonly { value: string; name: string; description: string; budget: Budget }[] = [
  {
    value: 'standard',
    name: 'Standard',
    description: 'Up to 100 steps a turn',
    budget: { steps: 100 },
  },
  {
    value: 'small',
    name: 'Small',
    description: 'Up to 25 steps and 10 minutes a turn',
    budget: { steps: 25, seconds: 600 },
  },
  {
    value: 'large',
    name: 'Large',
    description: 'Up to 500 steps and 4 hours a turn',
    budget: { steps: 500, seconds: 14_400 },
  },
  { value: 'off', name: 'Unlimited', description: 'No limit', budget: {} },
];

/** The budget of a session that chose none. */
export const DEFAULT_BUDGET: Budget = { steps: 100 };

const CHECKPOINT_TEXTS: Record<CheckpointPolicy, { name: string; description: string }> = {
  best_effort: {
    name: 'Best effort',
    description: 'What can not be kept is said, and the work goes on',
  },
  required: {
    name: 'Required',
    description: 'Nothing is changed that can not be put back',
  },
  off: { name: 'Off', description: 'No files are kept' },
};

/** The value of the option `gate_timeout` for questions that wait until they are answered. */
const FOR_EVER = 'off';

const WAITS: readonly { readonly value: string; readonly name: string }[] = [
  { value: FOR_EVER, name: 'Wait until answered' },
  { value: '60', name: '1 minute' },
  { value: '300', name: '5 minutes' },
  { value: '1800', name: '30 minutes' },
];

/** Values of the option `judge` that are no model. */
const NO_JUDGE = 'off';
const OWN_JUDGE = 'same';

/** The limits in a fixed order, and whether each counts in whole numbers. */
const LIMITS = { steps: true, seconds: false, tokens: true, costUsd: false } as const;

/** The complete list of options, in order of importance. A chosen value that is not offered any more stays visible. */
export function configOptions(
  config: SessionConfig,
  models: readonly ModelInfo[],
): readonly SessionConfigOption[] {
  return [...turnOptions(config, models), ...guardOptions(config, models)];
}

/** Who answers, how, and for how long. */
function turnOptions(
  config: SessionConfig,
  models: readonly ModelInfo[],
): readonly SessionConfigOption[] {
  return [
    {
      id: 'mode',
      name: 'Mode',
      description: 'What the agent may do without asking',
      category: 'mode',
      type: 'select',
      currentValue: config.mode,
      options: MODES.map((value) => ({ value, ...MODE_TEXTS[value] })),
    },
    {
      id: 'model',
      name: 'Model',
      description: 'Which model answers',
      category: 'model',
      type: 'select',
      currentValue: config.model,
      options: modelChoices(config.model, models),
    },
    {
      id: 'thought_level',
      name: 'Thinking',
      description: 'How much the model reasons before it answers',
      category: 'thought_level',
      type: 'select',
      currentValue: config.thoughtLevel,
      options: THOUGHT_LEVELS.map((value) => ({ value, name: THOUGHT_TEXTS[value] })),
    },
    {
      id: 'budget',
      name: 'Budget',
      description: 'Limits of one turn',
      category: '_pilothouse_budget',
      type: 'select',
      currentValue: budgetValue(config.budget),
      options: budgetChoices(config.budget),
    },
  ];
}

/** What keeps a person from being surprised. */
function guardOptions(
  config: SessionConfig,
  models: readonly ModelInfo[],
): readonly SessionConfigOption[] {
  return [
    {
      id: 'judge',
      name: 'Completion judge',
      description: 'Who checks, before a turn ends, that it did what was asked',
      category: '_pilothouse_judge',
      type: 'select',
      currentValue: config.judge ?? NO_JUDGE,
      options: judgeChoices(config.judge ?? NO_JUDGE, models),
    },
    {
      id: 'checkpoints',
      name: 'Checkpoints',
      description: 'Whether the files are kept as turns find and leave them',
      category: '_pilothouse_checkpoints',
      type: 'select',
      currentValue: config.checkpoints ?? 'best_effort',
      options: CHECKPOINT_POLICIES.map((value) => ({ value, ...CHECKPOINT_TEXTS[value] })),
    },
    {
      id: 'gate_timeout',
      name: 'Questions',
      description: 'How long a question waits for a person before it counts as declined',
      category: '_pilothouse_gate_timeout',
      type: 'select',
      currentValue: String(config.gateSeconds ?? FOR_EVER),
      options: waitChoices(config.gateSeconds),
    },
  ];
}

/**
 * What choosing a value of an option asks for. A budget may also be a JSON object with `steps`, `seconds`, `tokens`,
 * `costUsd`. Throws `session.bad_option` with what is allowed for whatever can't be meant; whether a model is there is
 * for `checkChange` to say.
 */
export function loopChangeOf(configId: string, value: string): LoopChange {
  switch (configId) {
    case 'mode':
      return { mode: oneOf(MODES, value, 'mode') };
    case 'thought_level':
      return { thoughtLevel: oneOf(THOUGHT_LEVELS, value, 'thought level') };
    case 'model':
      return { model: value };
    case 'budget':
      return { budget: parseBudget(value) };
    case 'judge':
      return { judge: value === NO_JUDGE ? null : value };
    case 'checkpoints':
      return { checkpoints: oneOf(CHECKPOINT_POLICIES, value, 'way to keep files') };
    case 'gate_timeout':
      return { gateSeconds: value === FOR_EVER ? null : seconds(value) };
    default:
      throw badOption(
        `There is no option "${configId}". Options: mode, model, thought_level, budget, judge, checkpoints, gate_timeout.`,
      );
  }
}

/** Throws `session.bad_option` for a model that is not there. */
export async function checkChange(
  { model, judge }: LoopChange,
  models: Pick<ModelCatalog, 'list'>,
): Promise<void> {
  const named = [model, judge === OWN_JUDGE ? null : judge].filter((id) => typeof id === 'string');
  if (named.length === 0) return;
  const listed = await models.list();
  for (const id of named)
    if (!listed.some((known) => known.id === id))
      throw badOption(
        `There is no model "${id}". Choose one of: ${listed.map((known) => known.id).join(', ')}.`,
      );
}

function modelChoices(
  current: string,
  models: readonly ModelInfo[],
): { value: string; name: string; description?: string }[] {
  const choices = models.map(({ id, name, description, available, unavailableReason }) => {
    const text = available ? description : unavailableReason;
    return { value: id, name, ...(text === undefined ? {} : { description: text }) };
  });
  if (choices.some(({ value }) => value === current)) return choices;
  return [{ value: current, name: current, description: 'Not available now' }, ...choices];
}

function judgeChoices(
  current: string,
  models: readonly ModelInfo[],
): { value: string; name: string; description?: string }[] {
  const own = [
    { value: NO_JUDGE, name: 'Off', description: 'A turn ends when the agent says so' },
    { value: OWN_JUDGE, name: 'Same model', description: 'The model that answers also checks' },
  ];
  if (own.some(({ value }) => value === current)) {
    const [first] = models;
    return first === undefined ? own : [...own, ...modelChoices(first.id, models)];
  }
  return [...own, ...modelChoices(current, models)];
}

function waitChoices(
  current: number | undefined,
): { readonly value: string; readonly name: string }[] {
  const value = String(current ?? FOR_EVER);
  if (WAITS.some((choice) => choice.value === value)) return [...WAITS];
  return [...WAITS, { value, name: `${value} seconds` }];
}

/** A week at most. */
function seconds(value: string): number {
  const wait = Number(value);
  if (/^\d{1,6}$/.test(value) && wait > 0 && wait <= 604_800) return wait;
  throw badOption(
    `"${value}" is no time limit for questions. Use "${FOR_EVER}", or whole seconds from 1 to 604800.`,
  );
}

function budgetChoices(budget: Budget): { value: string; name: string; description?: string }[] {
  const value = budgetValue(budget);
  const choices = BUDGETS.map(({ value: id, name, description }) => ({
    value: id,
    name,
    description,
  }));
  if (choices.some((choice) => choice.value === value)) return choices;
  return [...choices, { value, name: 'Custom', description: value }];
}

function budgetValue(budget: Budget): string {
  const written = inOrder(budget);
  const named = BUDGETS.find((choice) => inOrder(choice.budget) === written);
  return named?.value ?? JSON.stringify(budget);
}

function inOrder({ steps, seconds, tokens, costUsd }: Budget): string {
  return JSON.stringify({ steps, seconds, tokens, costUsd });
}

function parseBudget(value: string): Budget {
  const named = BUDGETS.find((choice) => choice.value === value);
  if (named !== undefined) return named.budget;
  const parsed = parseJson(value);
  if (isObject(parsed) && Object.entries(parsed).every(isLimit)) return { ...parsed };
  throw badOption(
    `"${value}" is not a budget. Use standard, small, large, off, or a JSON object with positive numbers for steps, seconds, tokens or costUsd.`,
  );
}

function isLimit([name, limit]: [string, unknown]): boolean {
  if (!Object.hasOwn(LIMITS, name) || typeof limit !== 'number' || limit <= 0) return false;
  return LIMITS[name as keyof typeof LIMITS] ? Number.isSafeInteger(limit) : Number.isFinite(limit);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oneOf<T extends string>(allowed: readonly T[], value: string, what: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined)
    throw badOption(`"${value}" is not a ${what}. Choose one of: ${allowed.join(', ')}.`);
  return found;
}

function badOption(message: string): SessionError {
  return new SessionError('session.bad_option', message);
}
