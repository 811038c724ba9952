import { isObject, type JsonObject } from '../../../base/json.ts';
import type { ElicitationSchema } from '../../../protocol/acp.ts';
import type { PersonsAnswer } from '../../session/commands/entry-points.ts';
import { ControlRefused } from '../../session/control/refusal.ts';
import type { GateRequest } from '../../session/gate-words.ts';
import type { GateResponse } from './durable-api.ts';

/** The answer that a response states, whatever is asked: the same response is the same answer, also after its gate. */
export function answerOf({ optionId, content, decline, note }: GateResponse): PersonsAnswer {
  if (decline === true)
    return { kind: 'declined', ...(note === undefined ? {} : { reason: note }) };
  if (optionId !== undefined)
    return { kind: 'selected', optionId, ...(note === undefined ? {} : { note }) };
  return { kind: 'accepted', content: content ?? {} };
}

/** Throws `invalid_answer` unless the answer is one that the gate can take; the message says which it takes. */
export function requireFitting(request: GateRequest, answer: PersonsAnswer): void {
  if (answer.kind === 'declined') return;
  if (request.kind === 'permission') {
    const ids = request.options.map(({ optionId }) => optionId);
    if (answer.kind === 'selected' && ids.includes(answer.optionId)) return;
    throw misfit(`This gate asks for a permission: send optionId, one of ${ids.join(', ')}.`, {
      options: ids,
    });
  }
  if (answer.kind !== 'accepted')
    throw misfit('This gate offers no options: send content, or decline.', {});
  if (request.kind === 'auth') return;
  const field = misfitOf(request.schema, answer.content);
  if (field === null) return;
  throw misfit(`The answer does not fit the form: ${field} is missing or of the wrong type.`, {
    field,
  });
}

function misfit(message: string, data: JsonObject): ControlRefused {
  return new ControlRefused('invalid_answer', message, data);
}

/** The first field that keeps a filled form from being one of this schema; null if it fits. */
export function misfitOf(schema: ElicitationSchema, content: JsonObject): string | null {
  const missing = (schema.required ?? []).find((name) => !Object.hasOwn(content, name));
  if (missing !== undefined) return missing;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const wrong = Object.entries(content).find(([name, value]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property !== undefined && !hasType(property.type, value);
  });
  return wrong?.[0] ?? null;
}

function hasType(type: string, value: unknown): boolean {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    default:
      return true;
  }
}
