import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputCollector } from '../../../../src/core/tools/run/output-collector.ts';
import { OutputRing } from '../../../../src/core/tools/run/output-ring.ts';
import { headOf, tailOf } from '../../../../src/core/tools/text-limit.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'ü', '€', '😀', '\n'), maxLength: 60 });
const noHalfCharacter = (value: string): boolean =>
  value.isWellFormed() && !value.includes('\uFFFD');

describe('a cut text', () => {
  it('begins or ends as the whole one, in at most so many bytes, between characters', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 80 }), (whole, max) => {
        for (const [part, fits] of [
          [headOf(whole, max), whole.startsWith(headOf(whole, max))],
          [tailOf(whole, max), whole.endsWith(tailOf(whole, max))],
        ] as const) {
          expect(fits).toBe(true);
          expect(noHalfCharacter(part)).toBe(true);
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(max);
        }
        // No more than needed is lost: a character has at most four bytes.
        if (Buffer.byteLength(whole) > max)
          expect(Buffer.byteLength(headOf(whole, max))).toBeGreaterThan(max - 4);
      }),
    );
  });
});

function inPieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

describe('a collected output', () => {
  it('splits no character, however it arrives and wherever it is cut', () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat({ max: 7 })),
        fc.integer({ min: 8, max: 40 }),
        (whole, sizes, keep) => {
          let live = '';
          const collector = new OutputCollector({
            keepBytes: keep,
            liveBytes: 1000,
            onText: (piece) => {
              live += piece;
            },
          });
          for (const piece of inPieces(Buffer.from(whole), sizes)) collector.write(piece);
          const kept = collector.end();
          expect(noHalfCharacter(kept.text)).toBe(true);
          expect(live).toBe(whole);
          expect(kept.totalBytes).toBe(Buffer.byteLength(whole));
          if (!kept.truncated) expect(kept.text).toBe(whole);
          else expect(Buffer.byteLength(whole)).toBeGreaterThan(keep - 6);
        },
      ),
    );
  });

  it('keeps beginning and end, and stops showing a long output live', () => {
    let live = '';
    const collector = new OutputCollector({
      keepBytes: 20,
      liveBytes: 10,
      onText: (piece) => {
        live += piece;
      },
    });
    for (let i = 0; i < 1000; i += 1) collector.write(Buffer.from(`${i}\n`));
    const kept = collector.end();
    expect(kept).toMatchObject({ truncated: true, totalBytes: 3890 });
    expect(kept.text).toMatch(/^0\n1\n2\n3\n4\n\n\n\[.*3890.*\]\n\n/);
    expect(kept.text.endsWith('998\n999\n')).toBe(true);
    expect(live).toMatch(/^0\n1\n2\n3\n4\n\n\[.*\]\n$/);
  });

  it('takes out what only a terminal understands', () => {
    const collector = new OutputCollector({
      keepBytes: 100,
      liveBytes: 100,
      onText: () => undefined,
    });
    collector.write(Buffer.from('\u001b[31mred\u001b[0m\0'));
    expect(collector.end().text).toBe('red\uFFFD');
  });
});

describe('a ring of output', () => {
  it('gives all of an output in order, between characters, while it fits', () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat({ max: 7 })),
        fc.integer({ min: 4, max: 30 }),
        (whole, sizes, max) => {
          const ring = new OutputRing(1000);
          for (const piece of inPieces(Buffer.from(whole), sizes)) ring.write(piece);
          ring.end();
          let read = '';
          for (let from = 0; ; ) {
            const part = ring.read(from, max);
            if (part.next === from) break;
            expect(noHalfCharacter(part.text)).toBe(true);
            expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(max);
            read += part.text;
            from = part.next;
          }
          expect(read).toBe(whole);
        },
      ),
    );
  });

  it('keeps the end of a longer one, and says what is missing', () => {
    const ring = new OutputRing(5);
    ring.write(Buffer.from('ab€€€'));
    expect(ring.read(0, 100)).toEqual({ text: '[… 8 earlier bytes are not kept …]\n€', next: 11 });
    expect(ring.read(11, 100)).toEqual({ text: '', next: 11 });
    expect(ring.read(999, 100)).toEqual({ text: '', next: 11 });
  });
});
