import { describe, expect, it } from 'vitest';
import { FrameBuffer, type SentFrame } from '../../../../../src/core/door/ws/frame-buffer.ts';
import { stamped, unmarked } from '../../../../../src/core/door/ws/frame-stamp.ts';
import { asLine } from '../../../../../src/core/door/ws/socket-port.ts';

const MARK = { eventId: 7, replayed: false };

describe('the mark of a frame', () => {
  it('is put on top of a frame that has none, and leaves every digit of it', () => {
    const text = '{"jsonrpc":"2.0","id":12345678901234567890,"result":{"a":1.50}}';
    expect(stamped(unmarked(text), MARK)).toBe(
      '{"jsonrpc":"2.0","_harn":{"eventId":7,"replayed":false},"id":12345678901234567890,"result":{"a":1.50}}',
    );
  });

  it.each([
    '{"jsonrpc":"2.0","_harn":{"eventId":3,"replayed":true},"method":"m"}',
    '{"jsonrpc":"2.0","_harn":{"cause":{"command_ids":["a"]},"replayed":true},"method":"m"}',
    // Braces inside of strings, and other orders: parsed whole.
    '{"jsonrpc":"2.0","_harn":{"sessionId":"}","replayed":true},"method":"m"}',
    '{"jsonrpc":"2.0","_harn":{"sessionId":"a},","replayed":true},"method":"m"}',
    '{"jsonrpc":"2.0","_harn":{"cause":{"command_ids":["}},"]},"replayed":true},"method":"m"}',
    '{"_harn":{"replayed":true},"method":"m","jsonrpc":"2.0"}',
    '{ "jsonrpc": "2.0", "_harn": {"replayed":true}, "method":"m"}',
  ])('takes the place of the one in %s', (text) => {
    const plain = unmarked(text);
    expect(plain.replayed).toBe(true);
    expect(JSON.parse(stamped(plain, MARK))).toEqual({ jsonrpc: '2.0', _harn: MARK, method: 'm' });
  });

  it('leaves one further inside alone', () => {
    const text = '{"jsonrpc":"2.0","method":"m","params":{"_harn":{"replayed":true}}}';
    expect(unmarked(text).replayed).toBe(false);
    expect(JSON.parse(stamped(unmarked(text), MARK))).toEqual({
      jsonrpc: '2.0',
      _harn: MARK,
      method: 'm',
      params: { _harn: { replayed: true } },
    });
  });
});

describe('a message as a line', () => {
  it('has no line break', () => {
    expect(asLine('{"a":\r\n1,\n"b":2}')).toBe('{"a": 1, "b":2}');
  });
});

function frame(eventId: number, body = 'x'): SentFrame {
  return { eventId, body, replayed: false, kind: 'notification', type: 'm' };
}

describe('the frames that are kept', () => {
  it('are the last ones, and it is known from where on they are whole', () => {
    const buffer = new FrameBuffer({ frames: 3, chars: 1_000 });
    expect(buffer.covers(0)).toBe(true);
    for (let id = 1; id <= 10; id += 1) buffer.push(frame(id));
    expect(buffer.after(0).map(({ eventId }) => eventId)).toEqual([8, 9, 10]);
    expect(buffer.after(9).map(({ eventId }) => eventId)).toEqual([10]);
    expect(buffer.after(10)).toEqual([]);
    expect([6, 7, 8].map((cursor) => buffer.covers(cursor))).toEqual([false, true, true]);
  });

  it('are bounded by their size too', () => {
    const buffer = new FrameBuffer({ frames: 100, chars: 10 });
    for (let id = 1; id <= 4; id += 1) buffer.push(frame(id, 'xxxx'));
    expect(buffer.after(0).map(({ eventId }) => eventId)).toEqual([3, 4]);
    buffer.push(frame(5, 'x'.repeat(11)));
    expect(buffer.after(0)).toEqual([]);
    expect(buffer.covers(4)).toBe(false);
    expect(buffer.covers(5)).toBe(true);
  });
});
