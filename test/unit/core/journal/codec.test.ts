import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../../src/base/canonical-json.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import {
  decodeControl,
  decodeHistory,
  encodeRecord,
  MAX_BODY_BYTES,
  NO_CAUSE,
} from '../../../../src/core/journal/codec/codec.ts';
import { controlFields, historyFields } from '../../../../src/core/journal/codec/event-fields.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import type { NewRecord } from '../../../../src/core/session/ports.ts';
import type { CommandId, ToolCallId } from '../../../../src/core/session/words.ts';
import {
  delta,
  everyControlEvent,
  everyHistoryEvent,
  turnId,
} from '../../../support/journal/events.ts';

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

  test.each(everyHistoryEvent.map((event) => [event.type, event] as const))(
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
