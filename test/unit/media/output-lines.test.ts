import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputLines } from '../../../media/chat/components/log/output-lines.ts';

test('control sequences are gone, and of a line written over the last version stays', () => {
  const lines = new OutputLines();
  expect(lines.update('\u001B[31mred\u001B[0m\r\n10%\r50%\r100%\n')).toEqual(['red', '100%', '']);
});

test('a grown output has the lines of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'ü') })), (pieces) => {
      const growing = new OutputLines();
      let output = '';
      let lines: readonly string[] = [''];
      for (const piece of pieces) {
        output += piece;
        lines = growing.update(output);
      }
      if (output !== '') expect(lines).toEqual(new OutputLines().update(output));
    }),
  );
});

test('an output that is not the old one grown is split anew', () => {
  const lines = new OutputLines();
  lines.update('a\nb\nc');
  expect(lines.update('b\nc')).toEqual(['b', 'c']);
});

test('a line of megabytes is shown cut', () => {
  const [line] = new OutputLines().update('x'.repeat(5_000_000));
  expect(line?.length).toBeLessThan(2_100);
});
