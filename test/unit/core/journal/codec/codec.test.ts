import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../../../src/base/canonical-json.ts';
import type { JsonObject } from '../../../../../src/base/json.ts';
import {
  decodeControl,
  decodeHistory,
  encodeRecord,
  NO_CAUSE,
} from '../../../../../src/core/journal/codec/codec.ts';
import {
  controlFields,
  historyFields,
} from '../../../../../src/core/journal/codec/event-fields.ts';
import { MAX_BODY_BYTES } from '../../../../../src/core/journal/codec/limits.ts';
import { MAX_COMMAND_BYTES } from '../../../../../src/core/session/commands/command.ts';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import type { NewRecord } from '../../../../../src/core/session/ports.ts';
import type { CommandId, ToolCallId } from '../../../../../src/core/session/words.ts';
import { durableCommands, liveCommands } from '../../../../support/journal/commands.ts';
import {
  delegateCreated,
  delta,
  everyControlEvent,
  everyHistoryEvent,
  turnId,
} from '../../../../support/journal/events.ts';

const place = { session: 's', stream: 'history', seq: 7 } as const;
const there = (event: HistoryEvent): HistoryEvent =>
  decodeHistory(place, 1, encodeRecord('s', { stream: 'history', event }).body).event;

describe('the codec', () => {
  test('has an example of every type in these tests', () => {
    const types = (events: readonly { type: string }[]): string[] =>
      [...new Set(events.map(({ type }) => type))].sort();
    expect(types(everyHistoryEvent)).toEqual(Object.keys(historyFields).sort());
    expect(types(everyControlEvent)).toEqual(Object.keys(controlFields).sort());
  });

  test.each([...everyHistoryEvent, delegateCreated].map((event) => [event.type, event] as const))(
    'reads back what it wrote: %s',
    (_type, event) => {
      expect(there(event)).toEqual(event);
    },
  );

  test.each(everyControlEvent.map((event) => [event.type, event] as const))(
    'reads back what it wrote: %s',
    (_type, event) => {
      const { body } = encodeRecord('s', { stream: 'control', event });
      expect(decodeControl({ ...place, stream: 'control' }, 1, body).event).toEqual(event);
    },
  );

  test('keeps what brought an event about, and reads a record of older versions as of nobody', () => {
    const cause = { command_ids: ['k1' as CommandId, 'k2' as CommandId] };
    const { body } = encodeRecord('s', { ...delta('x'), cause });
    expect(decodeHistory(place, 1, body)).toEqual({ event: delta('x').event, cause });
    const old = canonicalJson(delta('x').event as unknown as JsonObject);
    expect(decodeHistory(place, 1, old)).toEqual({
      event: delta('x').event,
      cause: { command_ids: [] },
    });
  });

  test.each([{ command_ids: [1] }, { command_ids: [''] }, {}, { command_ids: [], x: 1 }, null])(
    'refuses a malformed cause: %j',
    (cause) => {
      const body = canonicalJson({ ...delta('x').event, cause } as unknown as JsonObject);
      expect(() => decodeHistory(place, 1, body)).toThrow(/its cause is malformed/);
    },
  );

  test('keeps any text and any JSON exactly, also __proto__ and lone surrogates', () => {
    const text = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
      .map((units) => String.fromCharCode(...units));
    const input = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary' }), { maxKeys: 5 });
    fc.assert(
      fc.property(text, input, (title, value) => {
        const json = JSON.parse(JSON.stringify(value)) as JsonObject;
        const event: HistoryEvent = {
          type: 'tool_proposed',
          turnId,
          toolCallId: 'c' as ToolCallId,
          name: 'x',
          title,
          kind: 'other',
          input: json,
          locations: [],
          content: [],
        };
        // Not JSON.stringify: an object puts keys that look like numbers first, whatever their order was.
        expect(canonicalJson({ ...there(event), cause: NO_CAUSE })).toBe(
          encodeRecord('s', { stream: 'history', event }).body,
        );
        expect(there(event)).toEqual(event);
      }),
    );
    const odd = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as JsonObject;
    const event = everyHistoryEvent.find(({ type }) => type === 'tool_proposed');
    expect(JSON.stringify(there({ ...event, input: odd } as HistoryEvent))).toContain(
      '"__proto__"',
    );
  });

  test.each<[string, unknown]>([
    ['an unknown type', { type: 'sung' }],
    ['a type of the prototype', { type: 'constructor' }],
    ['a missing property', { type: 'title_changed' }],
    ['a property of the wrong kind', { type: 'title_changed', title: 1 }],
    ['an unknown property', { type: 'title_changed', title: 'x', extra: 1 }],
    ['a number that JSON lacks', { ...delta('x').event, offset: Number.NaN }],
    ['no type', { title: 'x' }],
  ])('does not store a record that could not be read back: %s', (_what, event) => {
    expect(() => encodeRecord('s', { stream: 'history', event } as NewRecord)).toThrow(
      expect.objectContaining({ code: 'journal.bad_record' }),
    );
  });

  describe('a stored command', () => {
    const issued = {
      type: 'command_issued',
      command: durableCommands.cancel,
      bodyHash: 'ab',
    } as const;
    const stored = encodeRecord('s', { stream: 'control', event: issued }).body;
    const read = (body: string): unknown =>
      decodeControl({ ...place, stream: 'control' }, 1, body).event;

    test('is checked again when it is read, and the record is named', () => {
      expect(read(stored)).toEqual(issued);
      const bad: readonly [string, RegExp][] = [
        [
          stored.replace('"agency":"user"', '"agency":"admin"'),
          /cancel was refused: agency is invalid/,
        ],
        [stored.replace('"v":1', '"v":2'), /cancel was refused: v must be 1/],
        [stored.replace('"type":"cancel"', '"type":"sing"'), /sing was refused: type is unknown/],
        [stored.replace('"reason":"enough"', '"reason":"enough","x":1'), /x is unknown/],
        [
          stored.replace('"reason":"enough"', '"reason":"enough","reason":"enough"'),
          /command.reason is there twice/,
        ],
        [stored.replace('{', '{ '), /form is not the canonical one/],
        [
          stored.replace('"created_at":1', '"created_at":1.0e0'),
          /created_at is invalid|canonical one/,
        ],
      ];
      for (const [body, message] of bad) {
        expect(body).not.toBe(stored);
        expect(() => read(body)).toThrow(
          expect.objectContaining({
            code: 'journal.bad_record',
            message: expect.stringMatching(message),
            data: { session: 's', stream: 'control', seq: 7 },
          }),
        );
      }
    });

    test('says nothing that can not be, neither written nor read', () => {
      const approved = {
        ...issued,
        command: { ...durableCommands.approve_tool_call, agency: 'machine' },
      } as const;
      expect(() => encodeRecord('s', { stream: 'control', event: approved })).toThrow(
        /approve_tool_call was refused: agency must be user/,
      );
      const { body } = encodeRecord('s', {
        stream: 'control',
        event: { ...issued, command: durableCommands.approve_tool_call },
      });
      expect(() => read(body.replace('"agency":"user"', '"agency":"machine"'))).toThrow(
        /agency must be user/,
      );
    });

    test('may be refused for what it says: the refusal keeps it as it was', () => {
      const command = { ...liveCommands.replace_loop_external_tools, source: '' };
      const refusal = { type: 'loop_change_refused', command, reason: 'x', message: 'x' } as const;
      const { body } = encodeRecord('s', { stream: 'control', event: refusal });
      expect(read(body)).toEqual(refusal);
      const changed = {
        type: 'loop_changed',
        command,
        values: { mode: 'ask', model: 'm', thoughtLevel: 'auto' },
      } as const;
      expect(() => encodeRecord('s', { stream: 'control', event: changed })).toThrow(/source/);
    });

    test('is not stored past its own limit', () => {
      const blocks = [{ type: 'text', text: 'x'.repeat(MAX_COMMAND_BYTES) }] as const;
      const event = { ...issued, command: { ...durableCommands.user_input, blocks } };
      expect(() => encodeRecord('s', { stream: 'control', event })).toThrow(
        expect.objectContaining({ code: 'journal.too_large' }),
      );
    });
  });

  test('does not take a history event into the control stream', () => {
    const record = { stream: 'control', event: delta('x').event } as unknown as NewRecord;
    expect(() => encodeRecord('s', record)).toThrow(/"message_delta" is unknown/);
  });

  test('refuses a record past the limit', () => {
    expect(() => encodeRecord('s', delta('x'.repeat(MAX_BODY_BYTES)))).toThrow(
      expect.objectContaining({ code: 'journal.too_large' }),
    );
  });
});
