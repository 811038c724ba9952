import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import type { Json, JsonObject } from '../../base/json.ts';

const text = z.optional(z.nullable(z.string()));
const number = z.optional(z.nullable(z.number()));
const CHOICE = z.looseObject({ const: z.string(), title: text, description: text });
const ITEMS = z.looseObject({
  enum: z.optional(z.array(z.string())),
  anyOf: z.optional(z.array(CHOICE)),
});
const PROPERTY = z.looseObject({
  type: z.string(),
  title: text,
  description: text,
  default: z.optional(z.unknown()),
  enum: z.optional(z.nullable(z.array(z.string()))),
  oneOf: z.optional(z.nullable(z.array(CHOICE))),
  items: z.optional(ITEMS),
  minimum: number,
  maximum: number,
  minLength: number,
  maxLength: number,
  pattern: text,
});
const SCHEMA = z.looseObject({
  properties: z.optional(z.record(z.string(), PROPERTY)),
  required: z.optional(z.nullable(z.array(z.string()))),
});

type Property = z.infer<typeof PROPERTY>;

/** One choice of a list. */
export type FieldChoice = {
  readonly value: string;
  readonly label: string;
  readonly description: string;
};

/** A field of a form as native inputs can ask it. */
export type FormField = {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly required: boolean;
  readonly input:
    | { readonly kind: 'text'; readonly initial: string }
    | { readonly kind: 'number'; readonly initial: string; readonly whole: boolean }
    | { readonly kind: 'yes_no' }
    | { readonly kind: 'one'; readonly choices: readonly FieldChoice[] }
    | { readonly kind: 'many'; readonly choices: readonly FieldChoice[] };
  /** What is wrong with a typed text, or null. */
  readonly problem: (value: string) => string | null;
  /** The value for the answer. */
  readonly parse: (value: string) => Json;
};

/** The fields of a form in their order; an empty list if the schema has none that can be asked. */
export function formFields(schema: JsonObject): FormField[] {
  const parsed = z.safeParse(SCHEMA, schema);
  if (!parsed.success) return [];
  const required = new Set(parsed.data.required ?? []);
  return Object.entries(parsed.data.properties ?? {}).map(([name, property]) =>
    toField(name, property, required.has(name)),
  );
}

function toField(name: string, property: Property, required: boolean): FormField {
  const isNumber = property.type === 'number' || property.type === 'integer';
  return {
    name,
    label: property.title ?? name,
    description: property.description ?? '',
    required,
    input: inputOf(property),
    problem: (value) => {
      if (value === '') return required ? l10n.t('This is required.') : null;
      return isNumber ? numberProblem(property, value) : textProblem(property, value);
    },
    parse: (value) => (isNumber ? Number(value) : value),
  };
}

function inputOf(property: Property): FormField['input'] {
  const initial = initialText(property.default);
  switch (property.type) {
    case 'boolean':
      return { kind: 'yes_no' };
    case 'number':
    case 'integer':
      return { kind: 'number', initial, whole: property.type === 'integer' };
    case 'array':
      return { kind: 'many', choices: choices(property.items?.enum, property.items?.anyOf) };
    default: {
      const found = choices(property.enum, property.oneOf);
      return found.length > 0 ? { kind: 'one', choices: found } : { kind: 'text', initial };
    }
  }
}

function initialText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function choices(
  values: readonly string[] | null | undefined,
  titled: readonly z.infer<typeof CHOICE>[] | null | undefined,
): FieldChoice[] {
  if (titled)
    return titled.map((choice) => ({
      value: choice.const,
      label: choice.title ?? choice.const,
      description: choice.description ?? '',
    }));
  return (values ?? []).map((value) => ({ value, label: value, description: '' }));
}

function numberProblem(property: Property, value: string): string | null {
  const found = Number(value);
  if (!Number.isFinite(found)) return l10n.t('Enter a number.');
  if (property.type === 'integer' && !Number.isInteger(found))
    return l10n.t('Enter a whole number.');
  const { minimum, maximum } = property;
  if (typeof minimum === 'number' && found < minimum) return l10n.t('Enter {0} or more.', minimum);
  if (typeof maximum === 'number' && found > maximum) return l10n.t('Enter {0} or less.', maximum);
  return null;
}

function textProblem(property: Property, value: string): string | null {
  const { minLength, maxLength, pattern } = property;
  if (typeof minLength === 'number' && value.length < minLength)
    return l10n.t('Enter at least {0} characters.', minLength);
  if (typeof maxLength === 'number' && value.length > maxLength)
    return l10n.t('Enter at most {0} characters.', maxLength);
  if (typeof pattern === 'string' && !fits(pattern, value))
    return l10n.t('This does not have the expected form: {0}', pattern);
  return null;
}

/** A pattern that is no regular expression can't be checked here; the agent checks again. */
function fits(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}
