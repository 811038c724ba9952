import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createStreamPort } from '../../../../src/protocol/transport/stream-port.ts';

function portOn(): {
  writes: string[];
  turn: () => void;
  port: ReturnType<typeof createStreamPort>;
} {
  const writes: string[] = [];
  const output = new PassThrough();
  output.on('data', (chunk: Buffer) => writes.push(chunk.toString('utf8')));
  const due: (() => void)[] = [];
  const port = createStreamPort(new PassThrough(), output, { soon: (work) => due.push(work) });
  return {
    writes,
    port,
    turn: () => {
      for (const work of due.splice(0)) work();
    },
  };
}

describe('a port that gathers', () => {
  test('writes the first frame of a moment at once and the others together, in order', () => {
    const { port, writes, turn } = portOn();
    for (const frame of ['1', '2', '3']) port.send(frame);
    expect(writes).toEqual(['1\n']);
    turn();
    expect(writes).toEqual(['1\n', '2\n3\n']);
    port.send('4');
    expect(writes.at(-1)).toBe('4\n');
  });

  test('does not wait for the end of the moment with much text, nor with the end', () => {
    const { port, writes, turn } = portOn();
    port.send('1');
    port.send('x'.repeat(40_000));
    expect(writes.join('')).toHaveLength(2 + 40_001);
    port.send('last');
    port.end();
    expect(writes.join('').endsWith('\nlast\n')).toBe(true);
    turn();
    expect(writes.join('').endsWith('\nlast\n')).toBe(true);
  });
});
