import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatGate } from '../../../../src/protocol/chat.ts';
import {
  contentOf,
  type Field,
  type FieldValue,
  fieldsOf,
  initialValue,
} from '../../forms/schema-form.ts';
import { problemOf } from '../../forms/validate.ts';
import type { AnswerState } from '../../state/view-state.ts';
import { Button } from '../shared/buttons.tsx';
import { useStrings } from '../shared/context.ts';
import { FieldView } from './field-view.tsx';
import type { GateAnswer } from './gate-list.tsx';

type AskGateOf = Extract<ChatGate, { kind: 'ask' }>;
type Props = {
  readonly gate: AskGateOf;
  readonly state: AnswerState | null;
  /** False while the card has just come: its buttons do nothing yet. */
  readonly settled: boolean;
  readonly onAnswer: (given: GateAnswer) => void;
};
type Values = ReadonlyMap<string, FieldValue>;

/** A question of the agent as a form made from its schema. */
export function AskGate({ gate, state, settled, onAnswer }: Props): JSX.Element {
  const strings = useStrings();
  const fields = fieldsOf(gate.schema);
  const [values, setValues] = useState<Values>(() => initialValues(gate, fields));
  const [checked, setChecked] = useState(false);
  const valueIn = (field: Field): FieldValue => values.get(field.name) ?? '';
  const problems = new Map(
    fields.map((field) => [field.name, problemOf(field, valueIn(field), strings)]),
  );
  const submit = (form: HTMLElement | null): void => {
    setChecked(true);
    const wrong = fields.find((field) => problems.get(field.name) !== null);
    if (wrong === undefined) onAnswer({ content: contentOfAll(fields, values) });
    else focusField(form, fields.indexOf(wrong));
  };
  return (
    <form
      class="gate-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229) return;
        if (!isTextTarget(event)) return;
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      {fields.map((field) => (
        <FieldView
          key={field.name}
          id={`field-${gate.gateId}-${field.name}`}
          field={field}
          value={valueIn(field)}
          problem={checked ? (problems.get(field.name) ?? null) : null}
          onChange={(value) => setValues((before) => new Map(before).set(field.name, value))}
        />
      ))}
      <AskButtons state={state} settled={settled} onSubmit={submit} onAnswer={onAnswer} />
    </form>
  );
}

function AskButtons({
  state,
  settled,
  onSubmit,
  onAnswer,
}: {
  readonly state: AnswerState | null;
  readonly settled: boolean;
  readonly onSubmit: (form: HTMLElement | null) => void;
  readonly onAnswer: (given: GateAnswer) => void;
}): JSX.Element {
  const strings = useStrings();
  const sending = state?.sending === true;
  return (
    <div class="gate-options">
      <Button
        disabled={sending}
        inert={!settled}
        onClick={() => onSubmit(document.activeElement?.closest<HTMLElement>('form') ?? null)}
      >
        {strings.gateSubmit}
      </Button>
      <Button
        secondary
        disabled={sending}
        inert={!settled}
        onClick={() => onAnswer({ declined: true })}
      >
        {strings.gateDecline}
      </Button>
    </div>
  );
}

function initialValues(gate: AskGateOf, fields: readonly Field[]): Values {
  return new Map(fields.map((field) => [field.name, initialValue(gate.schema, field)]));
}

function contentOfAll(
  fields: readonly Field[],
  values: Values,
): NonNullable<GateAnswer['content']> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const content = contentOf(field, values.get(field.name) ?? '');
      return content === undefined ? [] : [[field.name, content]];
    }),
  );
}

function isTextTarget(event: Event): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLInputElement && !['checkbox', 'radio'].includes(target.type);
}

function focusField(form: HTMLElement | null, index: number): void {
  const field = form?.querySelectorAll<HTMLElement>('.field')[index];
  field?.querySelector<HTMLElement>('vscode-textfield, vscode-checkbox, input, select')?.focus();
}
