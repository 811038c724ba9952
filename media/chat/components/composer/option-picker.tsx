import type { JSX } from 'preact';
import { format } from '../../strings.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { type Option, optionIcon } from './option-kinds.ts';

type SelectOption = Extract<Option, { type: 'select' }>;

type PickerProps = {
  readonly option: Option;
  /** It counts from the next turn. */
  readonly later: boolean;
  /** Its name stands before its value. */
  readonly named?: boolean;
  readonly onChange: () => void;
};

/** Sets one option. */
export function OptionPicker({ option, later, named, onChange }: PickerProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const choose = (value: string | boolean): void => {
    onChange();
    post({ type: 'set_option', configId: option.id, value });
  };
  const label = later ? format(strings.optionNextTurn, option.name) : option.name;
  const tooltip = option.description ? `${label}: ${option.description}` : label;
  if (option.type === 'boolean')
    return (
      <OptionToggle
        name={option.name}
        on={option.currentValue}
        tooltip={tooltip}
        onToggle={() => choose(!option.currentValue)}
      />
    );
  return (
    <span class="picker" title={tooltip}>
      <Icon name={optionIcon(option)} />
      {named === true && (
        <span class="picker-name" aria-hidden="true">
          {option.id === 'judge' ? strings.optionJudge : option.name}
        </span>
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

type ToggleProps = {
  readonly name: string;
  readonly on: boolean;
  readonly tooltip: string;
  readonly onToggle: () => void;
};

/** An option that is on or off. */
export function OptionToggle({ name, on, tooltip, onToggle }: ToggleProps): JSX.Element {
  return (
    <button
      type="button"
      class="picker picker-toggle"
      aria-pressed={on}
      title={tooltip}
      onClick={onToggle}
    >
      <Icon name={on ? 'check' : 'circle-large-outline'} />
      {name}
    </button>
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
