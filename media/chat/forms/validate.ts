import { format, type Strings } from '../strings.ts';
import type { Field, FieldInput, FieldValue } from './schema-form.ts';

/** Longer text is not matched against a pattern that came from outside: a bad one could hold up the page. */
const PATTERN_LIMIT = 1000;

/** What is wrong with a value, in words for the person, or null. */
export function problemOf(field: Field, value: FieldValue, strings: Strings): string | null {
  if (isEmpty(value)) return field.required ? strings.fieldRequired : null;
  const { input } = field;
  switch (input.type) {
    case 'text':
      return typeof value === 'string' ? textProblem(input, value, strings) : null;
    case 'number':
      return typeof value === 'string' ? numberProblem(input, value, strings) : null;
    case 'many':
      return Array.isArray(value) ? manyProblem(input, value.length, strings) : null;
    case 'boolean':
    case 'one':
      return null;
  }
}

function isEmpty(value: FieldValue): boolean {
  return typeof value !== 'boolean' && value.length === 0;
}

function textProblem(
  input: Extract<FieldInput, { type: 'text' }>,
  value: string,
  strings: Strings,
): string | null {
  const length = [...value].length;
  if (input.minLength !== null && length < input.minLength) {
    return format(strings.fieldMinLength, input.minLength);
  }
  if (input.maxLength !== null && length > input.maxLength) {
    return format(strings.fieldMaxLength, input.maxLength);
  }
  if (input.pattern !== null && !matches(input.pattern, value)) {
    return format(strings.fieldPattern, input.pattern);
  }
  return input.format !== null && !hasFormat(input.format, value)
    ? format(strings.fieldFormat, input.format)
    : null;
}

/** The agent checks again: a pattern that does not compile here, or text too long for it, passes. */
function matches(pattern: string, value: string): boolean {
  if (value.length > PATTERN_LIMIT) return true;
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

function hasFormat(name: string, value: string): boolean {
  switch (name) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(value);
    case 'uri':
      return URL.canParse(value);
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
    case 'date-time':
      return /^\d{4}-\d{2}-\d{2}T/i.test(value) && !Number.isNaN(Date.parse(value));
    default:
      return true;
  }
}

function numberProblem(
  input: Extract<FieldInput, { type: 'number' }>,
  value: string,
  strings: Strings,
): string | null {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return strings.fieldNumber;
  if (input.integer && !Number.isInteger(number)) return strings.fieldInteger;
  if (input.minimum !== null && number < input.minimum) {
    return format(strings.fieldMin, input.minimum);
  }
  return input.maximum !== null && number > input.maximum
    ? format(strings.fieldMax, input.maximum)
    : null;
}

function manyProblem(
  input: Extract<FieldInput, { type: 'many' }>,
  count: number,
  strings: Strings,
): string | null {
  if (input.minItems !== null && count < input.minItems) {
    return format(strings.fieldMinItems, input.minItems);
  }
  return input.maxItems !== null && count > input.maxItems
    ? format(strings.fieldMaxItems, input.maxItems)
    : null;
}
