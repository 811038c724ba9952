import type * as z from 'zod/mini';
import { canonicalJson, NotJsonError } from '../../../base/canonical-json.ts';
import { isObject } from '../../../base/json.ts';
import {
  COMMAND_VERSION,
  type Command,
  type CommandType,
  MAX_COMMAND_BYTES,
} from '../../session/commands/command.ts';
import { violationOf } from '../../session/commands/command-rules.ts';
import { CommandError, type CommandErrorCode } from './command-error.ts';
import { durableShapes, liveShapes } from './command-shapes.ts';
import { keyProblemIn } from './json-keys.ts';

/** The one form of every command: both lanes, by type. */
export const commandShapes: ReadonlyMap<string, z.ZodMiniType> = new Map([
  ...durableShapes,
  ...liveShapes,
]);

/** The canonical bytes of a command. Throws `CommandError` for what could not be decoded again. */
export function encodeCommand(command: Command): Uint8Array {
  const checked = checkCommand(command);
  const bytes = Buffer.from(canonicalText(checked.type, checked), 'utf8');
  refuseTooLarge(checked.type, bytes.byteLength);
  return bytes;
}

/**
 * Reads a command. Checked in this order: size, UTF-8, JSON, no key twice, a known type, its version, its strict
 * form, and what the fields say together. Throws `CommandError` with the first violation, and nothing else.
 */
export function decodeCommand(bytes: Uint8Array): Command {
  refuseTooLarge('', bytes.byteLength);
  const text = textOf(bytes);
  const value = parsed(text);
  refuseKeys(value, text);
  const command = checkCommand(value);
  // Numbers past the range of a double and too deep values have no canonical form.
  canonicalText(command.type, command);
  return command;
}

/** Checks a parsed value: type, version, form and rules. Throws `CommandError`. */
export function checkCommand(value: unknown): Command {
  const type = typeOf(value);
  if (!isCommandType(type)) {
    throw refusal('command.unknown_type', type, 'type', type === '' ? 'must be set' : 'is unknown');
  }
  const v = isObject(value) ? value['v'] : undefined;
  if (v !== COMMAND_VERSION) {
    throw refusal('command.version', type, 'v', `must be ${COMMAND_VERSION}`);
  }
  if (!hasShape(type, value)) throw shapeRefusal(type, value);
  const found = protoKeyOf(value) ?? violationOf(value);
  if (found !== null) throw refusal('command.invalid', type, found.field, found.rule);
  return value;
}

function refusal(
  code: CommandErrorCode,
  command: string,
  field: string,
  rule: string,
  cause?: unknown,
): CommandError {
  return new CommandError(code, { command, field, rule }, cause);
}

function refuseTooLarge(type: string, bytes: number): void {
  if (bytes <= MAX_COMMAND_BYTES) return;
  throw refusal('command.too_large', type, '$', `must not exceed ${MAX_COMMAND_BYTES} bytes`);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw refusal('command.not_utf8', '', '$', 'must be UTF-8', error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal('command.not_json', '', '$', 'must be JSON', error);
  }
}

function refuseKeys(value: unknown, text: string): void {
  const problem = keyProblemIn(text);
  if (problem === null) return;
  throw problem.kind === 'duplicate'
    ? refusal('command.duplicate_key', typeOf(value), problem.path, 'must not be there twice')
    : refusal('command.invalid', typeOf(value), '$', 'is nested too deeply');
}

function canonicalText(type: string, command: Command): string {
  try {
    return canonicalJson(command);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw refusal('command.invalid', type, error.path, "holds what JSON can't hold", error);
  }
}

function typeOf(value: unknown): string {
  if (!isObject(value) || !Object.hasOwn(value, 'type')) return '';
  return typeof value['type'] === 'string' ? value['type'] : '';
}

function isCommandType(type: string): type is CommandType {
  return commandShapes.has(type);
}

function hasShape(type: CommandType, value: unknown): value is Command {
  return commandShapes.get(type)?.safeParse(value).success ?? false;
}

function shapeRefusal(type: CommandType, value: unknown): CommandError {
  const [issue] = commandShapes.get(type)?.safeParse(value).error?.issues ?? [];
  const path = issue?.path ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const field = [...path, issue.keys[0] ?? ''].map(String).join('.');
    return refusal('command.invalid', type, field, 'is unknown');
  }
  const rule = valueAt(value, path) === undefined ? 'must be set' : 'is invalid';
  return refusal('command.invalid', type, path.map(String).join('.') || '$', rule);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

/** The strict forms don't see a property of this name, and it is in none of them. */
function protoKeyOf(command: Command): { readonly field: string; readonly rule: string } | null {
  const rule = 'is unknown';
  if (Object.hasOwn(command, '__proto__')) return { field: '__proto__', rule };
  for (const [name, part] of Object.entries(command)) {
    // What an answered form says is anybody's JSON.
    if (name === 'content') continue;
    const pieces: readonly unknown[] = Array.isArray(part) ? part : [part];
    if (pieces.some((piece) => isObject(piece) && Object.hasOwn(piece, '__proto__')))
      return { field: `${name}.__proto__`, rule };
  }
  return null;
}
