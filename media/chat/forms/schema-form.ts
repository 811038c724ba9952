import type { ChatGate } from '../../../src/protocol/chat.ts';

type JsonObject = Extract<ChatGate, { kind: 'ask' }>['schema'];
type Json = JsonObject[string];

/** One choice of a field. */
export type Choice = { readonly value: string; readonly label: string };

/** One input of a form made from a JSON Schema. */
export type Field = {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly required: boolean;
  readonly input: FieldInput;
};

export type FieldInput =
  | {
      readonly type: 'text';
      readonly format: string | null;
      readonly minLength: number | null;
      readonly maxLength: number | null;
      readonly pattern: string | null;
    }
  | {
      readonly type: 'number';
      readonly integer: boolean;
      readonly minimum: number | null;
      readonly maximum: number | null;
    }
  | { readonly type: 'boolean' }
  | { readonly type: 'one'; readonly choices: readonly Choice[] }
  | {
      readonly type: 'many';
      readonly choices: readonly Choice[];
      readonly minItems: number | null;
      readonly maxItems: number | null;
    };

/** What stands in an input: text as typed, a tick, or the choices made. */
export type FieldValue = string | boolean | readonly string[];

/** The fields of an object schema, in its order. Properties of kinds a form cannot show are left out. */
export function fieldsOf(schema: JsonObject): readonly Field[] {
  const properties = objectAt(schema, 'properties') ?? {};
  const required = new Set(listAt(schema, 'required'));
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const input = inputOf(property);
    if (input === null) return [];
    return [
      {
        name,
        label: textAt(property, 'title') ?? name,
        description: textAt(property, 'description') ?? '',
        required: required.has(name),
        input,
      },
    ];
  });
}

/** What a field holds before anyone touched it. */
export function initialValue(schema: JsonObject, field: Field): FieldValue {
  const property = objectAt(objectAt(schema, 'properties') ?? {}, field.name) ?? {};
  const preset = property['default'];
  switch (field.input.type) {
    case 'boolean':
      return preset === true;
    case 'many':
      return Array.isArray(preset) ? preset.filter((value) => typeof value === 'string') : [];
    case 'number':
      return typeof preset === 'number' ? String(preset) : '';
    case 'one':
    case 'text':
      return typeof preset === 'string' ? preset : '';
  }
}

/** What is sent for a field, or undefined where it was left empty. */
export function contentOf(field: Field, value: FieldValue): Json | undefined {
  switch (field.input.type) {
    case 'boolean':
      return value === true;
    case 'many':
      return typeof value === 'object' ? [...value] : [];
    case 'number':
      return typeof value === 'string' && value.trim() !== '' ? Number(value) : undefined;
    case 'one':
    case 'text':
      return typeof value === 'string' && (value !== '' || field.required) ? value : undefined;
  }
}

function inputOf(property: JsonObject): FieldInput | null {
  const choices = choicesOf(property);
  if (choices !== null) return { type: 'one', choices };
  switch (property['type']) {
    case 'string':
      return {
        type: 'text',
        format: textAt(property, 'format'),
        minLength: numberAt(property, 'minLength'),
        maxLength: numberAt(property, 'maxLength'),
        pattern: textAt(property, 'pattern'),
      };
    case 'number':
    case 'integer':
      return {
        type: 'number',
        integer: property['type'] === 'integer',
        minimum: numberAt(property, 'minimum'),
        maximum: numberAt(property, 'maximum'),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'array':
      return manyOf(property);
    default:
      return null;
  }
}

function manyOf(property: JsonObject): FieldInput | null {
  const choices = choicesOf(objectAt(property, 'items') ?? {});
  if (choices === null) return null;
  return {
    type: 'many',
    choices,
    minItems: numberAt(property, 'minItems'),
    maxItems: numberAt(property, 'maxItems'),
  };
}

/** `enum` with optional `enumNames`, or `oneOf`/`anyOf` of constants with titles. */
function choicesOf(schema: JsonObject): readonly Choice[] | null {
  const titled = listAt(schema, 'oneOf') ?? listAt(schema, 'anyOf');
  if (titled !== null) {
    const choices = titled.filter(isObject).flatMap((entry) => {
      const value = textAt(entry, 'const');
      return value === null ? [] : [{ value, label: textAt(entry, 'title') ?? value }];
    });
    return choices.length > 0 ? choices : null;
  }
  const values = listAt(schema, 'enum')?.filter((value) => typeof value === 'string');
  if (values === undefined) return null;
  const names = listAt(schema, 'enumNames') ?? [];
  return values.map((value, position) => {
    const name = names[position];
    return { value, label: typeof name === 'string' ? name : value };
  });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectAt(schema: JsonObject, key: string): JsonObject | null {
  const value = schema[key];
  return isObject(value) ? value : null;
}

function listAt(schema: JsonObject, key: string): readonly Json[] | null {
  const value = schema[key];
  return Array.isArray(value) ? value : null;
}

function textAt(schema: JsonObject, key: string): string | null {
  const value = schema[key];
  return typeof value === 'string' ? value : null;
}

function numberAt(schema: JsonObject, key: string): number | null {
  const value = schema[key];
  return typeof value === 'number' ? value : null;
}
