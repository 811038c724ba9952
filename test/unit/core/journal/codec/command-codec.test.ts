import { describe, expect, test } from 'vitest';
import {
  commandShapes,
  decodeCommand,
  encodeCommand,
} from '../../../../../src/core/journal/codec/command-codec.ts';
import { CommandError } from '../../../../../src/core/journal/codec/command-error.ts';
import { durableShapes, liveShapes } from '../../../../../src/core/journal/codec/command-shapes.ts';
import {
  type Command,
  DURABLE_TYPES,
  LIVE_TYPES,
  MAX_COMMAND_BYTES,
} from '../../../../../src/core/session/commands/command.ts';
import { CommandStamp } from '../../../../../src/core/session/commands/stamp.ts';
import type { LoopId, ProcessId, SessionId } from '../../../../../src/core/session/words.ts';
import {
  durableCommands,
  everyCommand,
  liveCommands,
} from '../../../../support/journal/commands.ts';

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const refusalOf = (bytes: Uint8Array): CommandError => {
  try {
    decodeCommand(bytes);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
  throw new Error('It was taken.');
};
const refused = (value: unknown): CommandError => refusalOf(bytesOf(JSON.stringify(value)));
const { user_input, process_notification, subagent_result, approve_tool_call } = durableCommands;

describe('the command union', () => {
  test('has twelve durable and three live types, and the codec one form for each', () => {
    expect([...durableShapes.keys()].sort()).toEqual([...DURABLE_TYPES].sort());
    expect([...liveShapes.keys()].sort()).toEqual([...LIVE_TYPES].sort());
    expect(new Set(DURABLE_TYPES).size).toBe(12);
    expect(new Set(LIVE_TYPES).size).toBe(3);
    expect(commandShapes.size).toBe(15);
    expect(everyCommand.map(({ type }) => type).sort()).toEqual([...commandShapes.keys()].sort());
  });

  test.each(everyCommand.map((command) => [command.type, command] as const))(
    'reads back what it wrote: %s',
    (_type, command) => {
      const bytes = encodeCommand(command);
      expect(decodeCommand(bytes)).toEqual(command);
      expect(encodeCommand(decodeCommand(bytes))).toEqual(bytes);
    },
  );

  test.each(everyCommand)(
    'is flat, with type and version beside the payload: $type',
    (command: Command) => {
      const keys = Object.keys(JSON.parse(Buffer.from(encodeCommand(command)).toString()));
      expect(keys).toEqual([...keys].sort());
      expect(keys).toEqual(Object.keys(command).sort());
      expect(keys).toEqual(expect.arrayContaining(['type', 'v', 'command_id', 'target']));
    },
  );

  test('what is stamped without an agency word of its own is what the origin says, and never missing', () => {
    const stamp = new CommandStamp(
      { session_id: 's' as SessionId, loop_id: 's' as LoopId },
      { unique: () => 'new' } as never,
      { now: () => 5 },
    );
    const origin = { actor: user_input.actor, agency: 'machine' } as const;
    expect(stamp.stamp('compact', {}, origin)).toMatchObject({
      agency: 'machine',
      command_id: 'new',
      created_at: 5,
    });
    const { agency, ...without } = durableCommands.compact;
    expect(agency).toBe('machine');
    expect(refused(without).violation).toEqual({
      command: 'compact',
      field: 'agency',
      rule: 'must be set',
    });
    const told = {
      process_id: 'p' as ProcessId,
      state: 'lost',
      exit_code: null,
      signal: null,
    } as const;
    expect(stamp.stamp('process_notification', told, origin).created_at).toBe(0);
  });
});

describe('decoding a command', () => {
  const text = JSON.stringify(user_input);
  test.each<[string, Uint8Array, string, string, string]>([
    ['nothing', bytesOf(''), 'command.not_json', '', '$'],
    ['garbage', bytesOf('{{'), 'command.not_json', '', '$'],
    ['more behind it', bytesOf(`${text} {}`), 'command.not_json', '', '$'],
    ['a byte order mark', bytesOf(`\uFEFF${text}`), 'command.not_json', '', '$'],
    ['a comment', bytesOf(`/* */${text}`), 'command.not_json', '', '$'],
    ['text that is not UTF-8', Buffer.from(text, 'utf16le'), 'command.not_utf8', '', '$'],
    ['a byte that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'command.not_utf8', '', '$'],
    [
      'an encoded surrogate',
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      'command.not_utf8',
      '',
      '$',
    ],
    ['an array', bytesOf(`[${text}]`), 'command.unknown_type', '', 'type'],
    ['null', bytesOf('null'), 'command.unknown_type', '', 'type'],
    ['no type', bytesOf('{}'), 'command.unknown_type', '', 'type'],
    ['an unknown type', bytesOf('{"type":"sing"}'), 'command.unknown_type', 'sing', 'type'],
    [
      'a type of the prototype',
      bytesOf('{"type":"toString"}'),
      'command.unknown_type',
      'toString',
      'type',
    ],
    [
      'an old name',
      bytesOf('{"type":"interrupt","v":1}'),
      'command.unknown_type',
      'interrupt',
      'type',
    ],
    ['no version', bytesOf('{"type":"compact"}'), 'command.version', 'compact', 'v'],
    ['a later version', bytesOf('{"type":"compact","v":2}'), 'command.version', 'compact', 'v'],
  ])('refuses %s', (_what, bytes, code, command, field) => {
    const error = refusalOf(bytes);
    expect(error).toMatchObject({ code, data: { command, field } });
    expect(error.message).toMatch(/was refused: .+\.$/);
  });

  test('refuses a key that is twice, at any depth and however it is escaped', () => {
    const twice = [
      [text.replace('{', '{"type":"cancel",'), 'type'],
      [text.replace('{', '{"\\u0074ype":"cancel",'), 'type'],
      [text.replace('"target":{', '"target":{"loop_id":"other",'), 'target.loop_id'],
      [text.replace('"blocks":[{', '"blocks":[{"text":"other",'), 'blocks.0.text'],
    ] as const;
    for (const [json, field] of twice) {
      expect(JSON.parse(json)).toBeTypeOf('object');
      expect(refusalOf(bytesOf(json))).toMatchObject({
        code: 'command.duplicate_key',
        data: { field, rule: 'must not be there twice' },
      });
    }
  });

  test('refuses more than the limit before it looks at anything else', () => {
    expect(refusalOf(new Uint8Array(MAX_COMMAND_BYTES + 1).fill(0xff))).toMatchObject({
      code: 'command.too_large',
    });
    const big = (length: number): Command => ({
      ...user_input,
      blocks: [{ type: 'text', text: 'x'.repeat(length) }],
    });
    const overhead = encodeCommand(big(0)).byteLength;
    const largest = encodeCommand(big(MAX_COMMAND_BYTES - overhead));
    expect(largest.byteLength).toBe(MAX_COMMAND_BYTES);
    expect(decodeCommand(largest).type).toBe('user_input');
    expect(() => encodeCommand(big(MAX_COMMAND_BYTES - overhead + 1))).toThrow(
      expect.objectContaining({ code: 'command.too_large' }),
    );
  });

  test('refuses what is nested so deeply that a reader could break on it', () => {
    const deep = JSON.stringify(durableCommands.provide_user_input).replace(
      '"answer":"x"',
      `"answer":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    );
    expect(refusalOf(bytesOf(deep))).toMatchObject({
      code: 'command.invalid',
      data: { field: '$' },
    });
  });

  test.each<[string, unknown, string, string]>([
    ['an unknown field', { ...user_input, no_fold: true }, 'no_fold', 'is unknown'],
    ['__proto__', JSON.parse(text.replace('{', '{"__proto__":{},')), '__proto__', 'is unknown'],
    [
      '__proto__ within',
      JSON.parse(text.replace('"target":{', '"target":{"__proto__":1,')),
      'target.__proto__',
      'is unknown',
    ],
    [
      'an unknown field of the target',
      { ...user_input, target: { ...user_input.target, turn_id: 't' } },
      'target.turn_id',
      'is unknown',
    ],
    [
      'an unknown field of the actor',
      { ...user_input, actor: { ...user_input.actor, name: 'x' } },
      'actor.name',
      'is unknown',
    ],
    [
      'an unknown field of the cause',
      { ...user_input, cause: { command_ids: [], x: 1 } },
      'cause.x',
      'is unknown',
    ],
    ['no target', { ...user_input, target: undefined }, 'target', 'must be set'],
    ['no loop', { ...user_input, target: { session_id: 's' } }, 'target.loop_id', 'must be set'],
    ['an empty id', { ...user_input, command_id: '' }, 'command_id', 'is invalid'],
    ['an id of the wrong kind', { ...user_input, command_id: 7 }, 'command_id', 'is invalid'],
    ['an agency that is none', { ...user_input, agency: 'admin' }, 'agency', 'is invalid'],
    ['a time before the epoch', { ...user_input, created_at: -1 }, 'created_at', 'is invalid'],
    [
      'a time that is no whole number',
      { ...user_input, created_at: 1.5 },
      'created_at',
      'is invalid',
    ],
    ['no blocks at all', { ...user_input, blocks: undefined }, 'blocks', 'must be set'],
    ['empty blocks', { ...user_input, blocks: [] }, 'blocks', 'must be set'],
    ['a block of no kind', { ...user_input, blocks: [{ type: 'song' }] }, 'blocks.0', 'is invalid'],
    ['a cause that is missing', { ...user_input, cause: undefined }, 'cause', 'must be set'],
  ])('names the first violation: %s', (_what, value, field, rule) => {
    expect(refused(value)).toMatchObject({
      code: 'command.invalid',
      data: { command: 'user_input', field, rule },
    });
  });

  test('refuses a number that no double holds, and an infinite one before it is written', () => {
    const { provide_user_input } = durableCommands;
    const json = JSON.stringify(provide_user_input).replace('-0.5', '1e999');
    expect(refusalOf(bytesOf(json))).toMatchObject({ code: 'command.invalid' });
    expect(() =>
      encodeCommand({ ...provide_user_input, content: { n: Number.POSITIVE_INFINITY } }),
    ).toThrow(expect.objectContaining({ code: 'command.invalid' }));
  });
});

describe('what the fields of a command say together', () => {
  const end = (state: string, exit_code: number | null, signal: string | null): unknown => ({
    ...process_notification,
    state,
    exit_code,
    signal,
  });
  test.each<[string, unknown, string]>([
    ['a hand-back that a person sends', { ...subagent_result, agency: 'user' }, 'agency'],
    ['a hand-back from nowhere', { ...subagent_result, cause: null }, 'cause.loop_id'],
    [
      'a hand-back without its loop',
      { ...subagent_result, cause: { command_ids: [] } },
      'cause.loop_id',
    ],
    [
      'a hand-back to itself',
      { ...subagent_result, cause: { command_ids: [], loop_id: 's1' } },
      'cause.loop_id',
    ],
    ['a hand-back of another request', { ...subagent_result, request_id: 'r2' }, 'command_id'],
    [
      'a command that takes itself back',
      { ...durableCommands.cancel_queued_input, target_command_id: 'k/cancel_queued_input' },
      'target_command_id',
    ],
    ['an approval by the machine', { ...approve_tool_call, agency: 'machine' }, 'agency'],
    ['an approval of nothing', { ...approve_tool_call, option_id: '' }, 'option_id'],
    [
      'an answer by the machine',
      { ...durableCommands.provide_user_input, agency: 'machine' },
      'agency',
    ],
    [
      'an answer without content',
      { ...durableCommands.provide_user_input, content: undefined },
      'content',
    ],
    ['an answer with a reason', { ...durableCommands.provide_user_input, reason: 'x' }, 'reason'],
    [
      'a refusal with content',
      { ...durableCommands.provide_user_input, outcome: 'declined' },
      'content',
    ],
    ['a shutdown without a reason', { ...durableCommands.shutdown, reason: '' }, 'reason'],
    ['a notification that a person sends', { ...process_notification, agency: 'user' }, 'agency'],
    ['a notification with a time', { ...process_notification, created_at: 1 }, 'created_at'],
    ['a code and a signal', end('exited', 0, 'SIGTERM'), 'exit_code'],
    ['a code of a lost process', end('lost', 0, null), 'exit_code'],
    ['a signal of a lost process', end('lost', null, 'SIGKILL'), 'signal'],
    ['an empty signal', end('stopped', null, ''), 'signal'],
    ['a state that is none', end('running', null, null), 'state'],
    [
      'a change of nothing',
      {
        ...liveCommands.change_loop_inference,
        model: undefined,
        thought_level: undefined,
        budget: undefined,
        judge: undefined,
      },
      'model',
    ],
    [
      'a tool that is there twice',
      {
        ...liveCommands.replace_loop_external_tools,
        tools: Array(2).fill(liveCommands.replace_loop_external_tools.tools[0]),
      },
      'tools.1.name',
    ],
    [
      'a digest that is none',
      { ...liveCommands.replace_loop_external_tools, tools: [{ name: 'x', schema_digest: 'ab' }] },
      'tools.0.schema_digest',
    ],
    [
      'a source that is too long',
      { ...liveCommands.replace_loop_external_tools, source: 'x'.repeat(65) },
      'source',
    ],
  ])('refuses %s', (_what, value, field) => {
    expect(refused(value)).toMatchObject({ code: 'command.invalid', data: { field } });
    expect(() => encodeCommand(JSON.parse(JSON.stringify(value)) as Command)).toThrow(CommandError);
  });

  test.each([
    end('exited', 0, null),
    end('exited', null, 'SIGSEGV'),
    end('exited', null, null),
    end('stopped', null, 'SIGTERM'),
    end('stopped', 143, null),
    end('lost', null, null),
  ])('takes an end that can be: %j', (value) => {
    expect(decodeCommand(bytesOf(JSON.stringify(value)))).toEqual(value);
  });

  test('takes from the machine that a sign-in was done elsewhere', () => {
    const done = { ...durableCommands.provide_user_input, agency: 'machine', content: {} } as const;
    expect(decodeCommand(encodeCommand(done))).toEqual(done);
  });

  test('takes a denial from the machine, as a time limit gives it', () => {
    const denial = { ...durableCommands.deny_tool_call, agency: 'machine' } as const;
    expect(decodeCommand(encodeCommand(denial))).toEqual(denial);
  });
});
