import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../../../src/extension/core/transport/frames.ts';
import { LineSplitter } from '../../../../src/extension/core/transport/line-splitter.ts';

function split(chunks: readonly Buffer[], maxBytes = 1_000_000) {
  const lines: string[] = [];
  const dropped: number[] = [];
  const splitter = new LineSplitter(
    { line: (text) => lines.push(text), tooLong: (bytes) => dropped.push(bytes) },
    maxBytes,
  );
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, dropped };
}

describe('the line splitter', () => {
  it('gives the same lines wherever the bytes are cut', () => {
    const text = 'a\u2028b\n{"x":"日本語🙂"}\r\n\n last without newline';
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 10 }), (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, at) => bytes.subarray(edges[at], edge));
        expect(split(chunks).lines).toEqual([
          'a\u2028b',
          '{"x":"日本語🙂"}',
          'last without newline',
        ]);
      }),
    );
  });

  it('drops a line that is too long and goes on with the next', () => {
    const chunks = [
      ...Array.from({ length: 10 }, () => Buffer.alloc(10, 'x')),
      Buffer.from('\nok\n'),
    ];
    expect(split(chunks, 50)).toEqual({ lines: ['ok'], dropped: [100] });
  });
});

describe('a line of the agent', () => {
  const answer = { jsonrpc: '2.0', id: 0, result: {} };

  it.each([
    ['a log line', '[agent] starting'],
    ['a JSON log object with the id of a request', '{"id":0,"level":"info"}'],
    ['the same with a version', '{"jsonrpc":"2.0","id":0,"level":"info"}'],
    ['a number', '42'],
    ['a string', '"hello"'],
    ['an array', '[{"jsonrpc":"2.0","method":"x"}]'],
    ['half a frame', '{"jsonrpc":"2.0","id":'],
  ])('is junk if it is %s', (_what, line) => {
    expect(parseLine(line).kind).toBe('junk');
  });

  it.each([
    ['plain', JSON.stringify(answer)],
    ['after a byte order mark', `\uFEFF${JSON.stringify(answer)}`],
    ['after an escape sequence', `\u001b[?25l${JSON.stringify(answer)}`],
    ['with its id as a string', JSON.stringify({ ...answer, id: '0' })],
  ])('is an answer %s', (_what, line) => {
    expect(parseLine(line)).toEqual({ kind: 'frame', frame: answer });
  });

  it('keeps the ids of requests as they are', () => {
    const line = '{"jsonrpc":"2.0","id":"7","method":"fs/read_text_file"}';
    expect(parseLine(line)).toMatchObject({ kind: 'frame', frame: { id: '7' } });
  });
});
