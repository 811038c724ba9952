import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH, parseFrame } from '../../../../src/protocol/transport/message.ts';

describe('sorting a line', () => {
  test('tells requests, notifications, results and errors apart', () => {
    expect(parseFrame('{"jsonrpc":"2.0","id":"1","method":"m","params":[1]}')).toEqual({
      kind: 'request',
      id: '1',
      method: 'm',
      params: [1],
    });
    expect(parseFrame('{"jsonrpc":"2.0","method":"m"}')).toEqual({
      kind: 'notification',
      method: 'm',
      params: undefined,
    });
    expect(parseFrame('{"jsonrpc":"2.0","id":1,"result":null}')).toEqual({
      kind: 'result',
      id: 1,
      result: null,
    });
    expect(parseFrame('{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}')).toEqual({
      kind: 'error',
      id: 1,
      error: { code: -32603, message: 'The peer gave no message' },
    });
  });

  test('a request may have the id null, and no other kind of id', () => {
    expect(parseFrame('{"jsonrpc":"2.0","id":null,"method":"m"}').kind).toBe('request');
    for (const id of ['true', '{}', '[1]'])
      expect(parseFrame(`{"jsonrpc":"2.0","id":${id},"method":"m"}`)).toMatchObject({
        kind: 'invalid',
        id: null,
      });
  });

  test('what is valid JSON and no message is invalid', () => {
    for (const line of [
      '[]',
      '[{"jsonrpc":"2.0","id":1,"method":"m"}]',
      '42',
      '"hello"',
      'null',
      '{}',
      '{"foo":"bar"}',
      '{"id":0,"level":"info"}',
      '{"id":1,"result":1,"error":{}}',
      '{"jsonrpc":"2.0","id":1,"method":7}',
    ])
      expect(parseFrame(line), line).toMatchObject({ kind: 'invalid', id: null });
  });

  test('a request without its version is invalid and can be answered', () => {
    expect(parseFrame('{"id":5,"method":"m"}')).toMatchObject({ kind: 'invalid', id: 5 });
  });

  test('a terminal control sequence in front of a frame does not hide it', () => {
    expect(parseFrame('\u001b[?25l{"jsonrpc":"2.0","id":1,"result":1}').kind).toBe('result');
  });

  test('nesting has a limit, below and above which nothing overflows', () => {
    const nested = (depth: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"m","params":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(parseFrame(nested(MAX_DEPTH - 1)).kind).toBe('request');
    expect(parseFrame(nested(MAX_DEPTH + 1)).kind).toBe('invalid');
    expect(parseFrame(nested(1_000_000)).kind).toBe('invalid');
  });

  test('names of the prototype are plain names', () => {
    const parsed = parseFrame(
      '{"jsonrpc":"2.0","method":"__proto__","params":{"__proto__":{"polluted":1}}}',
    );
    expect(parsed).toMatchObject({ kind: 'notification', method: '__proto__' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(parseFrame('{"__proto__":{"method":"m","jsonrpc":"2.0"},"id":1}').kind).toBe('invalid');
  });

  test('never throws on any text', () => {
    fc.assert(fc.property(fc.string(), (line) => void parseFrame(line)));
    fc.assert(fc.property(fc.json(), (line) => void parseFrame(line)));
  });
});
