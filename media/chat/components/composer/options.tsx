import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { isBusy } from '../../state/stop.ts';
import { format } from '../../strings.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

type Option = ChatStatus['options'][number];
type SelectOption = Extract<Option, { type: 'select' }>;

const CATEGORY_ICONS: ReadonlyMap<string, string> = new Map([
  ['mode', 'symbol-misc'],
  ['model', 'sparkle'],
  ['thought_level', 'lightbulb'],
  ['budget', 'watch'],
  ['judge', 'law'],
  ['checkpoints', 'save-all'],
  ['gate_timeout', 'clock'],
]);

/** What these are set to says what they are. */
const SPEAKS_FOR_ITSELF: ReadonlySet<string> = new Set([
  'mode',
  'model',
  'thought_level',
  'budget',
]);

/** The session's pickers: mode, model, and whatever else it offers. */
export function Options({ status }: { readonly status: ChatStatus }): JSX.Element | null {
  const strings = useStrings();
  const [changedIn, setChangedIn] = useState<string | null>(null);
  const busy = isBusy(status);
  const turn = busy ? (status.turnId ?? '') : null;
  if (changedIn !== null && changedIn !== turn) setChangedIn(null);
  if (status.options.length === 0) return null;
  return (
    <fieldset class="options" aria-label={strings.optionsLabel}>
      {status.options.map((option) => (
        <OptionPicker
          key={option.id}
          option={option}
          later={busy}
          onChange={() => setChangedIn(turn)}
        />
      ))}
      <StagedToggle status={status} />
      {changedIn !== null && changedIn === turn && (
        <span class="options-later quiet" role="status">
          {strings.optionsNextTurn}
        </span>
      )}
    </fieldset>
  );
}

/** Whether edits wait for a review before they are written. */
function StagedToggle({ status }: { readonly status: ChatStatus }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const on = status.staged?.on ?? false;
  return (
    <button
      type="button"
      class="picker picker-toggle"
      aria-pressed={on}
      title={strings.stagedModeTooltip}
      onClick={() => post({ type: 'command', name: 'toggle_staged' })}
    >
      <Icon name={on ? 'check' : 'circle-large-outline'} />
      {strings.stagedMode}
    </button>
  );
}

type PickerProps = {
  readonly option: Option;
  readonly later: boolean;
  readonly onChange: () => void;
};

function OptionPicker({ option, later, onChange }: PickerProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const choose = (value: string | boolean): void => {
    onChange();
    post({ type: 'set_option', configId: option.id, value });
  };
  const label = later ? format(strings.optionNextTurn, option.name) : option.name;
  const tooltip = option.description ? `${label}: ${option.description}` : label;
  if (option.type === 'boolean') {
    const value = option.currentValue;
    return (
      <button
        type="button"
        class="picker picker-toggle"
        aria-pressed={value}
        title={tooltip}
        onClick={() => choose(!value)}
      >
        <Icon name={value ? 'check' : 'circle-large-outline'} />
        {option.name}
      </button>
    );
  }
  return (
    <span class="picker" title={tooltip}>
      <Icon name={iconOf(option)} />
      {!SPEAKS_FOR_ITSELF.has(option.id) && (
        <span aria-hidden="true">{option.id === 'judge' ? strings.optionJudge : option.name}</span>
      )}
      <select
        aria-label={label}
        value={option.currentValue}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <Choices option={option} />
      </select>
      <Icon name="chevron-down" />
    </span>
  );
}

function Choices({ option }: { option: SelectOption }): JSX.Element {
  return (
    <>
      {option.options.map((entry) =>
        'options' in entry ? (
          <optgroup key={entry.group} label={entry.name}>
            {entry.options.map((choice) => (
              <option
                key={choice.value}
                value={choice.value}
                selected={choice.value === option.currentValue}
              >
                {choice.name}
              </option>
            ))}
          </optgroup>
        ) : (
          <option
            key={entry.value}
            value={entry.value}
            selected={entry.value === option.currentValue}
          >
            {entry.name}
          </option>
        ),
      )}
    </>
  );
}

function iconOf(option: Option): string {
  return CATEGORY_ICONS.get(option.category ?? '') ?? CATEGORY_ICONS.get(option.id) ?? 'settings';
}
