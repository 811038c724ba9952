import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Batch, Fields, stagedOf } from '../../../../src/core/checkpoint/git/git-output.ts';
import { Apart } from '../../../../src/core/checkpoint/git/snapshot.ts';
import { nameOf } from '../../../../src/core/checkpoint/store/blob-store.ts';

/** Cuts bytes into chunks as a pipe may. */
function chunksOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.byteLength]) {
    if (at >= bytes.byteLength) break;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 });

describe('what git answers', () => {
  it('is read the same however it is cut into chunks', () => {
    const name = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(name), sizes, (names, cuts) => {
        const read: string[] = [];
        const fields = new Fields((field) => {
          read.push(field);
        }, 1000);
        const bytes = Buffer.from(names.map((each) => `${each}\0`).join(''));
        for (const chunk of chunksOf(bytes, cuts)) fields.take(chunk);
        expect(read).toEqual(names.map((each) => each.toWellFormed()));
      }),
    );
  });

  it('gives objects whole, whatever bytes they hold', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), sizes, (contents, cuts) => {
        const read: [string, Buffer][] = [];
        const batch = new Batch((object, bytes) => read.push([object, Buffer.from(bytes)]));
        const parts = contents.flatMap((bytes) => [
          Buffer.from(`${nameOf(bytes)} blob ${bytes.byteLength}\n`),
          Buffer.from(bytes),
          Buffer.from('\n'),
          Buffer.from(`${'f'.repeat(64)} missing\n`),
        ]);
        for (const chunk of chunksOf(Buffer.concat(parts), cuts)) batch.take(chunk);
        expect(read).toEqual(contents.map((bytes) => [nameOf(bytes), Buffer.from(bytes)]));
      }),
    );
  });

  it('counts names that are no text, and stops past its limit', () => {
    const read: string[] = [];
    const fields = new Fields((field) => {
      read.push(field);
    }, 2);
    fields.take(Buffer.from([0x61, 0, 0xff, 0xfe, 0]));
    expect([read, fields.unreadable]).toEqual([['a'], 1]);
    expect(() => fields.take(Buffer.from('b\0'))).toThrow(/more than 2 files/);
  });

  it('names an index entry with any characters in its name', () => {
    const object = 'a'.repeat(64);
    expect(stagedOf(`100755 ${object} 0\ta\tb\nc`)).toEqual({
      gitMode: '100755',
      object,
      name: 'a\tb\nc',
    });
    expect(stagedOf(`100644 ${object} 2\tconflict`)).toBe(null);
  });
});

describe('what is left alone', () => {
  it('is a file by its name, and a folder with all in it', () => {
    const apart = new Apart(['/w/dist/', '/w/a.log'], '/');
    const asked = ['/w/dist/x', '/w/dist/d/x', '/w/dist', '/w/a.log', '/w/dist2/x', '/w/a.log.1'];
    expect(asked.filter((file) => apart.has(file))).toEqual(asked.slice(0, 4));
  });
});
