import { describe, expect, test } from 'vitest';
import {
  contentOf,
  type Field,
  type FieldValue,
  fieldsOf,
  initialValue,
} from '../../../media/chat/forms/schema-form.ts';
import { problemOf } from '../../../media/chat/forms/validate.ts';
import { ENGLISH } from '../../../media/chat/strings.ts';
import { ASK } from '../../ui/support/samples.ts';

function only(
  property: Readonly<Record<string, string | number | boolean | string[]>>,
  required = false,
): Field {
  const [field] = fieldsOf({
    type: 'object',
    properties: { it: property },
    required: required ? ['it'] : [],
  });
  if (field === undefined) throw new Error('no field');
  return field;
}

const problem = (field: Field, value: FieldValue): string | null =>
  problemOf(field, value, ENGLISH);

describe('fields', () => {
  test('are made in order, with their kinds, labels and duties', () => {
    const shown = fieldsOf(ASK.schema).map(({ name, label, required, input }) => [
      name,
      label,
      required,
      input.type,
    ]);
    expect(shown).toEqual([
      ['wording', 'Wording', true, 'text'],
      ['tone', 'Tone', true, 'one'],
      ['times', 'How often', false, 'number'],
      ['languages', 'Languages', false, 'many'],
      ['shout', 'Shout it', false, 'boolean'],
    ]);
  });

  test('begin with the default of the schema', () => {
    const begin = fieldsOf(ASK.schema).map((field) => initialValue(ASK.schema, field));
    expect(begin).toEqual(['', '', '1', [], false]);
  });

  test('take the names of old-style enums', () => {
    const field = only({ type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] });
    expect(field.input).toEqual({
      type: 'one',
      choices: [
        { value: 'a', label: 'First' },
        { value: 'b', label: 'Second' },
      ],
    });
  });

  test('of kinds a form cannot show, and of no schema at all, are left out', () => {
    expect(fieldsOf({ properties: { deep: { type: 'object' }, odd: 3 } })).toEqual([]);
    expect(fieldsOf({})).toEqual([]);
  });
});

describe('values', () => {
  test.each<[Field, FieldValue, string | null]>([
    [only({ type: 'string' }, true), '', 'This field is required.'],
    [only({ type: 'string' }), '', null],
    [only({ type: 'string', minLength: 2 }), '😀', 'Enter at least 2 characters.'],
    [only({ type: 'string', maxLength: 2 }), 'abc', 'Enter at most 2 characters.'],
    [only({ type: 'string', pattern: '^a+$' }), 'ab', 'This does not have the expected form: ^a+$'],
    [only({ type: 'string', pattern: '(' }), 'ab', null],
    [only({ type: 'string', format: 'email' }), 'ada', 'This is not a valid email.'],
    [only({ type: 'string', format: 'uri' }), 'https://a.example', null],
    [only({ type: 'string', format: 'date' }), '2026-13-40', 'This is not a valid date.'],
    [only({ type: 'integer' }), '1.5', 'Enter a whole number.'],
    [only({ type: 'number' }), 'many', 'Enter a number.'],
    [only({ type: 'number', minimum: 2 }), '1', 'Enter 2 or more.'],
    [only({ type: 'number', maximum: 2 }), '3', 'Enter 2 or less.'],
    [only({ type: 'boolean' }, true), false, null],
  ])('%o with %j: %j', (field, value, expected) => {
    expect(problem(field, value)).toBe(expected);
  });

  test('are sent as the schema wants them, and empty ones not at all', () => {
    expect(contentOf(only({ type: 'integer' }), '3')).toBe(3);
    expect(contentOf(only({ type: 'integer' }), '')).toBeUndefined();
    expect(contentOf(only({ type: 'string' }), '')).toBeUndefined();
    expect(contentOf(only({ type: 'boolean' }), true)).toBe(true);
  });
});
