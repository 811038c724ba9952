import { describe, expect, test } from 'vitest';
import { zeroUnused } from '../../../../../src/core/journal/store/page.ts';

/** A page with `cells` pointers and its content from `contentAt` on; every other byte is 0xaa. */
function page(type: number, cells: number, contentAt: number, header = 0, size = 512): Buffer {
  const buffer = Buffer.alloc(size, 0xaa);
  buffer[header] = type;
  buffer.writeUInt16BE(cells, header + 3);
  buffer.writeUInt16BE(contentAt, header + 5);
  return buffer;
}

describe('the unused part of a page', () => {
  test.each([
    [2, 12],
    [5, 12],
    [10, 8],
    [13, 8],
  ])('of type %i lies between its pointers and its content', (type, headerBytes) => {
    const buffer = page(type, 10, 300);
    const before = Buffer.from(buffer);
    const start = headerBytes + 20;
    expect(zeroUnused(buffer, false)).toEqual({ start, end: 300 });
    expect(buffer.subarray(0, start)).toEqual(before.subarray(0, start));
    expect(buffer.subarray(300)).toEqual(before.subarray(300));
    expect(buffer.subarray(start, 300).every((byte) => byte === 0)).toBe(true);
    expect(zeroUnused(buffer, false)).toBeNull();
  });

  test('of the first page begins after the header of the file', () => {
    expect(zeroUnused(page(13, 2, 400, 100), true)).toEqual({ start: 112, end: 400 });
  });

  test('of other pages and of impossible ones is not touched', () => {
    for (const buffer of [page(0, 1, 300), page(13, 300, 100), page(13, 1, 600), page(1, 1, 300)]) {
      const before = Buffer.from(buffer);
      expect(zeroUnused(buffer, false)).toBeNull();
      expect(buffer).toEqual(before);
    }
  });
});
