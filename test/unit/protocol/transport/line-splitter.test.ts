import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../../src/protocol/transport/frame-port.ts';
import { LineSplitter } from '../../../../src/protocol/transport/line-splitter.ts';

function split(chunks: readonly Uint8Array[], maxBytes?: number): Frame[] {
  const frames: Frame[] = [];
  const splitter = new LineSplitter(maxBytes);
  for (const chunk of chunks) splitter.push(chunk, (frame) => frames.push(frame));
  splitter.end((frame) => frames.push(frame));
  return frames;
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((end, index) =>
    // A copy: a splitter may not rely on chunks staying what they were.
    Uint8Array.from(bytes.subarray(places[index - 1] ?? 0, end)),
  );
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('the line splitter', () => {
  test('gives the same frames wherever a stream of messages is cut', () => {
    const separator = fc.constantFrom('\n', '\r\n', '\n\n', '\r\n\r\n');
    const message = fc.tuple(fc.jsonValue(), separator);
    const stream = fc.array(message, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 40 }), (messages, cuts) => {
        const lines = messages.map(([value]) => JSON.stringify(value));
        const bytes = text(messages.map(([, end], index) => `${lines[index]}${end}`).join(''));
        expect(split(cutAt(bytes, cuts))).toEqual(lines);
      }),
    );
  });

  test('gives the same frames when every byte comes by itself, and U+2028 splits nothing (A19)', () => {
    const bytes = text('{"a":"日本語🙂"}\r\n\ufeff{"b":"x\u2028y\u2029z"}\n{"c":1}');
    expect(split([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([
      '{"a":"日本語🙂"}',
      '{"b":"x\u2028y\u2029z"}',
      '{"c":1}',
    ]);
  });

  test('never throws and never depends on the cuts, whatever the bytes are', () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 64 }),
        (input, cuts, limit) => {
          const kinds = (frames: Frame[]): unknown[] =>
            frames.map((frame) => (typeof frame === 'string' ? frame : frame.fault));
          expect(kinds(split(cutAt(input, cuts), limit))).toEqual(kinds(split([input], limit)));
        },
      ),
    );
  });

  test('refuses a line over the limit at once and goes on with the next', () => {
    const frames: Frame[] = [];
    const splitter = new LineSplitter(10);
    splitter.push(text('ok\n12345678'), (frame) => frames.push(frame));
    expect(frames).toEqual(['ok']);
    splitter.push(text('901'), (frame) => frames.push(frame));
    expect(frames).toEqual(['ok', { fault: 'too_long', bytes: 11 }]);
    splitter.push(text('a lot more of the same line\nnext\n'), (frame) => frames.push(frame));
    expect(frames).toEqual(['ok', { fault: 'too_long', bytes: 11 }, 'next']);
  });

  test('does not keep a line that is too long', () => {
    const splitter = new LineSplitter(1024 * 1024);
    const chunk = new Uint8Array(1024 * 1024).fill(120);
    const before = process.memoryUsage().arrayBuffers;
    let faults = 0;
    for (let sent = 0; sent < 256; sent += 1) splitter.push(chunk, () => (faults += 1));
    expect(faults).toBe(1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  test('takes a line of exactly the limit', () => {
    expect(split([text('1234567890\n')], 10)).toEqual(['1234567890']);
  });

  test('says that a line is not UTF-8 instead of guessing', () => {
    expect(split([Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d, 10), text('{}\n')])).toEqual([
      { fault: 'bad_utf8', bytes: 4 },
      '{}',
    ]);
  });
});
