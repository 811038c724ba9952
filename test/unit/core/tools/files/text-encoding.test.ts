import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineEndsOf, withLineEnds } from '../../../../../src/core/tools/files/line-ends.ts';
import { decodeText, encodeText } from '../../../../../src/core/tools/files/text-encoding.ts';

describe('the encoding of a text file', () => {
  it.each([
    ['UTF-8', Buffer.from('grün 😀'), { encoding: 'utf-8', bom: false }],
    ['UTF-8 with a mark', Buffer.from('\uFEFFgrün'), { encoding: 'utf-8', bom: true }],
    [
      'UTF-16 LE with a mark',
      Buffer.from('\uFEFFgrün', 'utf16le'),
      { encoding: 'utf-16le', bom: true },
    ],
    [
      'UTF-16 BE with a mark',
      Buffer.from('\uFEFFgrün', 'utf16le').swap16(),
      { encoding: 'utf-16be', bom: true },
    ],
    [
      'UTF-16 LE without',
      Buffer.from('green grass', 'utf16le'),
      { encoding: 'utf-16le', bom: false },
    ],
    [
      'UTF-16 BE without',
      Buffer.from('green grass', 'utf16le').swap16(),
      { encoding: 'utf-16be', bom: false },
    ],
    ['Latin-1', Buffer.from('grün', 'latin1'), { encoding: 'latin1', bom: false }],
    ['nothing', Buffer.alloc(0), { encoding: 'utf-8', bom: false }],
  ])('%s is found, and written back byte for byte', (_name, bytes, format) => {
    const decoded = decodeText(bytes);
    expect(decoded?.format).toEqual(format);
    expect(decoded?.text.startsWith('\uFEFF')).toBe(false);
    expect(
      Buffer.from(
        encodeText(decoded?.text ?? '', decoded?.format ?? { encoding: 'latin1', bom: true }),
      ),
    ).toEqual(bytes);
  });

  it.each([
    ['a PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1, 2, 3])],
    ['an ELF', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0])],
    [
      'noise',
      Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7) % 256).filter((b) => b !== 0)),
    ],
  ])('%s is binary', (_name, bytes) => {
    expect(decodeText(bytes)).toBeNull();
  });

  it('refuses a character that Latin-1 lacks', () => {
    expect(() => encodeText('€', { encoding: 'latin1', bom: false })).toThrow(/Latin-1/);
  });

  it('loses no byte of whatever is taken for text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoded = decodeText(bytes);
        if (decoded === null || decoded.format.encoding.startsWith('utf-16')) return;
        expect(Buffer.from(encodeText(decoded.text, decoded.format))).toEqual(Buffer.from(bytes));
      }),
    );
  });
});

describe('line ends', () => {
  it('are uniform, mixed, or none', () => {
    expect(['', 'a\nb\n', 'a\r\nb\r\n', 'a\r\nb\n'].map(lineEndsOf)).toEqual([
      'none',
      '\n',
      '\r\n',
      'mixed',
    ]);
    expect(withLineEnds('a\nb\r\n', '\r\n')).toBe('a\r\nb\r\n');
  });
});
