import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestLines } from '../../../../../src/core/tools/files/nearest-lines.ts';
import { replaceText } from '../../../../../src/core/tools/files/replace-text.ts';

function replaced(text: string, old: string, next: string, all = false): string {
  const result = replaceText(text, old, next, all);
  if (!result.ok) throw new Error(result.why);
  return result.text;
}

describe('replacing a piece of text', () => {
  it('matches LF against CRLF and puts CRLF in', () => {
    expect(replaced('a\r\nb\r\nc\r\n', 'a\nb\n', 'x\ny\nz\n')).toBe('x\r\ny\r\nz\r\nc\r\n');
    expect(replaced('a\r\nb\r\n', 'b', 'b1\nb2')).toBe('a\r\nb1\r\nb2\r\n');
    expect(replaced('a\nb\n', 'a\r\nb', 'x\r\ny')).toBe('x\ny\n');
  });

  it('removes whole lines with their line end', () => {
    expect(replaced('a\r\nb\r\nc\r\n', 'b\n', '')).toBe('a\r\nc\r\n');
    expect(replaced('a\r\nb\r\nc', '\nb', '')).toBe('a\r\nc');
  });

  it('in a file of mixed line ends takes those next to the change, and leaves the others', () => {
    expect(replaced('a\nb\r\nc\nd', 'a\nb\nc', 'a\nB\nB2\nc')).toBe('a\nB\r\nB2\r\nc\nd');
  });

  it('says where an ambiguous text occurs, and replaces all on request', () => {
    expect(replaceText('x\r\ny\r\nx\r\n', 'x', 'z', false)).toEqual({
      ok: false,
      why: 'ambiguous',
      lines: [1, 3],
    });
    expect(replaced('x\r\ny\r\nx\r\n', 'x', 'z', true)).toBe('z\r\ny\r\nz\r\n');
  });

  it('refuses what would change nothing, or is empty, or is missing', () => {
    expect(replaceText('a', 'a', 'a', false)).toMatchObject({ why: 'same' });
    expect(replaceText('a\r\n', 'a\n', 'a\r\n', false)).toMatchObject({ why: 'same' });
    expect(replaceText('a', '', 'b', false)).toMatchObject({ why: 'empty' });
    expect(replaceText('a', 'b', 'c', false)).toMatchObject({ why: 'missing' });
  });

  it('takes dollar signs and backslashes as they are', () => {
    expect(replaced('a', 'a', "$& \\1 $'")).toBe("$& \\1 $'");
  });

  const lines = fc.array(fc.stringMatching(/^[ab ü😀]{0,4}$/u), { minLength: 2, maxLength: 8 });
  it('of uniform line ends leaves uniform line ends, and every other line byte for byte', () => {
    fc.assert(
      fc.property(
        lines,
        lines,
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom('\n', '\r\n'),
        fc.nat(),
        (before, added, end, wantedEnd, pick) => {
          const at = pick % before.length;
          const unique = before.map((line, i) => `${i}:${line}`);
          const text = unique.join(end);
          const result = replaceText(text, unique[at] ?? '', added.join(wantedEnd), false);
          if (!result.ok) return;
          const expected = unique.with(at, added.join(end)).join(end);
          expect(result.text).toBe(expected);
        },
      ),
    );
  });

  it('of mixed line ends keeps those of untouched lines', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 3, maxLength: 8 }),
        fc.nat(),
        (ends, pick) => {
          const text = ends.map((end, i) => `line${i}${end}`).join('');
          const at = pick % ends.length;
          const result = replaced(text, `line${at}\n`, `LINE\n`);
          expect(result).toBe(text.replace(`line${at}`, 'LINE'));
        },
      ),
    );
  });
});

describe('the nearest lines', () => {
  it('are those that resemble the wanted text most, with their number', () => {
    const text = 'alpha\n  const value = compute(1);\nomega\n';
    expect(nearestLines(text, 'const valeu = compute(1);')).toEqual({
      line: 2,
      lines: ['  const value = compute(1);'],
      whitespaceOnly: false,
    });
  });

  it('tell when only white space differs', () => {
    expect(nearestLines('if (a) {\n\tb();\n}', 'if (a) {\n  b();\n}')?.whitespaceOnly).toBe(true);
  });

  it('are none where nothing resembles it', () => {
    expect(nearestLines('alpha\nbeta', 'zzz yyy xxx')).toBeNull();
  });
});
