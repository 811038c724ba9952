import '@vscode-elements/elements/dist/vscode-checkbox/index.js';
import '@vscode-elements/elements/dist/vscode-textfield/index.js';
import { h, type JSX } from 'preact';
import type { Choice, Field, FieldInput, FieldValue } from '../../forms/schema-form.ts';
import { useStrings } from '../shared/context.ts';

/** Up to this many choices are all shown. */
const ALL_SHOWN = 6;

type Props = {
  readonly id: string;
  readonly field: Field;
  readonly value: FieldValue;
  readonly problem: string | null;
  readonly onChange: (value: FieldValue) => void;
};

/** One field of a form with its label, help and what is wrong with it. */
export function FieldView(props: Props): JSX.Element {
  const { field, problem, id } = props;
  const shownByInput = field.input.type === 'boolean';
  const label = field.required ? `${field.label} *` : field.label;
  return (
    <fieldset class="field" aria-labelledby={`${id}-label`} aria-describedby={`${id}-help`}>
      <span id={`${id}-label`} class={shownByInput ? 'sr-only' : 'field-label'} dir="auto">
        {label}
      </span>
      <Input {...props} />
      <div id={`${id}-help`}>
        {field.description !== '' && <p class="quiet">{field.description}</p>}
        {problem !== null && (
          <p class="field-problem" role="alert">
            {problem}
          </p>
        )}
      </div>
    </fieldset>
  );
}

function Input(props: Props): JSX.Element {
  const { field, value, onChange } = props;
  switch (field.input.type) {
    case 'text':
    case 'number':
      return <TextField {...props} input={field.input} />;
    case 'boolean':
      return h('vscode-checkbox', {
        label: field.label,
        checked: value === true,
        onChange: (event: Event) => onChange(isChecked(event)),
      });
    case 'one':
      return field.input.choices.length <= ALL_SHOWN ? (
        <Radios {...props} choices={field.input.choices} />
      ) : (
        <Select {...props} choices={field.input.choices} />
      );
    case 'many':
      return <Checkboxes {...props} choices={field.input.choices} />;
  }
}

function isChecked(event: Event): boolean {
  const { currentTarget } = event;
  return currentTarget !== null && 'checked' in currentTarget && currentTarget.checked === true;
}

function TextField(
  props: Props & { readonly input: Extract<FieldInput, { type: 'text' | 'number' }> },
): JSX.Element {
  const { field, value, problem, onChange, input } = props;
  return h('vscode-textfield', {
    label: field.label,
    value: typeof value === 'string' ? value : '',
    invalid: problem !== null,
    inputmode: input.type === 'number' ? 'decimal' : undefined,
    type: input.type === 'text' && input.format === 'date' ? 'date' : 'text',
    onInput: (event: Event) => {
      const { currentTarget } = event;
      if (currentTarget !== null && 'value' in currentTarget) onChange(String(currentTarget.value));
    },
  });
}

type ChoiceProps = Props & { readonly choices: readonly Choice[] };

function Radios({ id, field, value, choices, onChange }: ChoiceProps): JSX.Element {
  return (
    <div class="choices" role="radiogroup" aria-label={field.label}>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name={id}
            value={choice.value}
            checked={value === choice.value}
            onChange={() => onChange(choice.value)}
          />
          <span dir="auto">{choice.label}</span>
        </label>
      ))}
    </div>
  );
}

function Select({ field, value, choices, onChange }: ChoiceProps): JSX.Element {
  const strings = useStrings();
  return (
    <select
      class="select"
      aria-label={field.label}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="" selected={value === ''}>
        {strings.fieldChoose}
      </option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value} selected={value === choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

function Checkboxes({ value, choices, onChange }: ChoiceProps): JSX.Element {
  const chosen: readonly string[] = Array.isArray(value) ? value : [];
  return (
    <div class="choices">
      {choices.map((choice) =>
        h('vscode-checkbox', {
          key: choice.value,
          label: choice.label,
          checked: chosen.includes(choice.value),
          onChange: (event: Event) => {
            const others = chosen.filter((other) => other !== choice.value);
            onChange(isChecked(event) ? [...others, choice.value] : others);
          },
        }),
      )}
    </div>
  );
}
