import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/base/json.ts';
import {
  decodeCommand,
  encodeCommand,
} from '../../../../../src/core/journal/codec/command-codec.ts';
import { CommandError } from '../../../../../src/core/journal/codec/command-error.ts';
import { type Command, DURABLE_TYPES } from '../../../../../src/core/session/commands/command.ts';
import { durableCommands } from '../../../../support/journal/commands.ts';

/**
 * The bytes of every durable command as they are kept for ever. After a change that is meant,
 * `RENEW_GOLDEN=1 npx vitest run --config test/vitest.config.ts test/unit/core/journal/codec` writes them anew.
 */
const folder = new URL('../../../../fixtures/commands/', import.meta.url);
const fileOf = (type: string): URL => new URL(`${type}.json`, folder);
if (process.env['RENEW_GOLDEN'] === '1') {
  mkdirSync(folder, { recursive: true });
  for (const [type, command] of Object.entries(durableCommands))
    writeFileSync(fileOf(type), encodeCommand(command));
}
const golden = DURABLE_TYPES.map((type) => [type, readFileSync(fileOf(type))] as const);

/** What comes of bytes: the command, or the refusal. Anything else that is thrown fails the test. */
function outcome(bytes: Uint8Array): Command | CommandError {
  try {
    return decodeCommand(bytes);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/** Refused, or the command itself, or one whose own bytes tell that it is another. */
function expectNeverSilent(bytes: Uint8Array, original: Uint8Array): void {
  const found = outcome(bytes);
  if (found instanceof CommandError) return;
  const again = encodeCommand(found);
  expect(encodeCommand(decodeCommand(again))).toEqual(again);
  const isTheSame = Buffer.compare(again, original) === 0;
  expect(isTheSame).toBe(isDeepStrictEqual(found, decodeCommand(original)));
}

describe('the bytes of commands', () => {
  test('there is a file for every durable type, and no other', () => {
    expect(readdirSync(folder).sort()).toEqual(DURABLE_TYPES.map((type) => `${type}.json`).sort());
  });

  test.each(golden)('are kept as they were: %s', (type, bytes) => {
    expect(Buffer.from(encodeCommand(durableCommands[type])).toString()).toBe(bytes.toString());
    expect(decodeCommand(bytes)).toEqual(durableCommands[type]);
  });

  test.each(golden)('no field can be left out but the optional ones: %s', (type, bytes) => {
    const optional = ['reminder', 'note', 'content', 'reason'];
    const value = JSON.parse(bytes.toString()) as JsonObject;
    const taken = Object.keys(value).filter((key) => {
      const { [key]: _, ...rest } = value;
      return !(outcome(Buffer.from(JSON.stringify(rest))) instanceof CommandError);
    });
    expect(optional).toEqual(expect.arrayContaining(taken));
    if (type === 'shutdown' || type === 'provide_user_input') expect(taken).toEqual([]);
  });

  test.each(golden)('no field can have another name or be there twice: %s', (_type, bytes) => {
    const text = bytes.toString();
    for (const key of Object.keys(JSON.parse(text) as JsonObject)) {
      const renamed = text.replace(`"${key}":`, `"${key}_":`);
      const twice = text.replace(/^\{/, `{${JSON.stringify(key)}:null,`);
      expect(outcome(Buffer.from(renamed))).toBeInstanceOf(CommandError);
      expect(outcome(Buffer.from(twice))).toMatchObject({ code: 'command.duplicate_key' });
    }
  });

  test.each(golden)('no other type takes them, but one of the same form: %s', (type, bytes) => {
    const value = JSON.parse(bytes.toString()) as JsonObject;
    const takers = DURABLE_TYPES.filter(
      (other) =>
        other !== type &&
        !(outcome(Buffer.from(JSON.stringify({ ...value, type: other }))) instanceof CommandError),
    );
    const sameForm: Partial<Record<typeof type, readonly string[]>> = {
      cancel_queued_input: ['cancel_delegate_request'],
      cancel_delegate_request: ['cancel_queued_input'],
      compact: ['cancel'],
      cancel: ['shutdown'],
      shutdown: ['cancel'],
    };
    expect(takers).toEqual(sameForm[type] ?? []);
    // Where one takes them, its bytes are other bytes: what was hashed or compared does not fit any more.
    for (const other of takers) {
      const found = outcome(Buffer.from(JSON.stringify({ ...value, type: other }))) as Command;
      expect(Buffer.compare(encodeCommand(found), bytes)).not.toBe(0);
    }
  });

  test('any bytes are a command or a CommandError, and what decodes is a fixed point', () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(anything, (bytes) => {
        const found = outcome(bytes);
        if (found instanceof CommandError) return;
        const again = encodeCommand(found);
        expect(encodeCommand(decodeCommand(again))).toEqual(again);
      }),
      { numRuns: 2000 },
    );
  });

  test('flipped bytes are refused, or make another command that its bytes tell apart', () => {
    const one = fc.constantFrom(...golden.map(([, bytes]) => bytes));
    const flips = fc.array(fc.record({ at: fc.nat(), to: fc.integer({ min: 0, max: 255 }) }), {
      minLength: 1,
      maxLength: 3,
    });
    let refused = 0;
    fc.assert(
      fc.property(one, flips, (bytes, changes) => {
        const flipped = Buffer.from(bytes);
        for (const { at, to } of changes) flipped[at % flipped.length] = to;
        if (outcome(flipped) instanceof CommandError) refused += 1;
        expectNeverSilent(flipped, bytes);
      }),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(1000);
  });

  test('a field that holds anything else is refused, or read as exactly that', () => {
    const one = fc.constantFrom(...golden.map(([, bytes]) => bytes));
    fc.assert(
      fc.property(one, fc.nat(), fc.jsonValue({ stringUnit: 'binary' }), (bytes, at, other) => {
        const value = JSON.parse(bytes.toString()) as Record<string, unknown>;
        const keys = Object.keys(value);
        const key = keys[at % keys.length] ?? 'type';
        const changed = Buffer.from(JSON.stringify({ ...value, [key]: other }));
        const found = outcome(changed);
        if (!(found instanceof CommandError)) expect(found).toEqual(JSON.parse(changed.toString()));
      }),
      { numRuns: 2000 },
    );
  });
});
