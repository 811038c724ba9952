import type { AvailableCommand, SessionConfigOption, SessionUpdate } from '../../protocol/acp.ts';

/** What is known of a session besides its conversation. */
export type SessionFacts = {
  readonly title: string;
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
  readonly usage: { readonly used: number; readonly size: number; readonly cost?: string } | null;
};

/** Nothing known yet. */
export const NO_FACTS: SessionFacts = { title: '', options: [], commands: [], usage: null };

/** The facts after an update; the same object if the update tells none. */
export function withUpdate(facts: SessionFacts, update: SessionUpdate): SessionFacts {
  switch (update.sessionUpdate) {
    case 'available_commands_update':
      return { ...facts, commands: update.availableCommands };
    case 'config_option_update':
      return { ...facts, options: update.configOptions };
    case 'current_mode_update':
      return {
        ...facts,
        options: facts.options.map((option) => inMode(option, update.currentModeId)),
      };
    case 'session_info_update':
      return update.title ? { ...facts, title: update.title } : facts;
    case 'usage_update': {
      const { used, size, cost } = update;
      return {
        ...facts,
        usage: { used, size, ...(cost ? { cost: money(cost.amount, cost.currency) } : {}) },
      };
    }
    default:
      return facts;
  }
}

function inMode(option: SessionConfigOption, modeId: string): SessionConfigOption {
  return option.category === 'mode' && option.type === 'select'
    ? { ...option, currentValue: modeId }
    : option;
}

function money(amount: number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency,
      maximumFractionDigits: 4,
    }).format(amount);
  } catch (error) {
    if (error instanceof RangeError) return `${amount} ${currency}`;
    throw error;
  }
}

/** The option of a category (`mode`, `model`, `thought_level`) or with that id. */
export function optionOf(
  options: readonly SessionConfigOption[],
  category: string,
): SessionConfigOption | null {
  return (
    options.find((option) => option.category === category) ??
    options.find((option) => option.id === category) ??
    null
  );
}

/** What a session's option of a category is set to; null if it has none or is not open here. */
export function currentValue(
  session: { readonly facts: SessionFacts } | null,
  category: string,
): string | null {
  const option = session ? optionOf(session.facts.options, category) : null;
  return option?.type === 'select' ? option.currentValue : null;
}

/** The choices of an option, groups laid flat. */
export function choicesOf(
  option: SessionConfigOption,
): readonly { value: string; name: string; description?: string | null; group?: string }[] {
  if (option.type !== 'select') return [];
  return option.options.flatMap((entry) =>
    'group' in entry ? entry.options.map((choice) => ({ ...choice, group: entry.name })) : [entry],
  );
}
