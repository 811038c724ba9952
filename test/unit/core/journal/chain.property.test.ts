import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainHash, GENESIS_HASH, type RecordParts } from '../../../../src/core/journal/chain.ts';

type Body = { readonly at: number; readonly body: string };

const bodies: fc.Arbitrary<readonly Body[]> = fc.array(
  fc.record({
    at: fc.nat(),
    body: fc.jsonValue().map((value) => JSON.stringify(value)),
  }),
  { minLength: 1, maxLength: 20 },
);

function partsOf({ at, body }: Body, index: number): RecordParts {
  return { session: 's', stream: 'history', seq: index + 1, at, version: 1, body };
}

/** The hash after each record. */
function chainOf(records: readonly RecordParts[]): readonly string[] {
  let hash = GENESIS_HASH;
  return records.map((record) => {
    hash = chainHash(hash, record);
    return hash;
  });
}

describe('a hash chain', () => {
  it('agrees with another one exactly as far as their records agree', () => {
    fc.assert(
      fc.property(bodies, bodies, bodies, (common, one, other) => {
        const a = [...common, ...one].map(partsOf);
        const b = [...common, ...other].map(partsOf);
        const [left, right] = [chainOf(a), chainOf(b)];
        const same = a.findIndex((part, at) => JSON.stringify(part) !== JSON.stringify(b[at]));
        const parted = same < 0 ? a.length : same;
        expect(left.slice(0, parted)).toEqual(right.slice(0, parted));
        for (let at = parted; at < Math.min(a.length, b.length); at += 1)
          expect(left[at]).not.toBe(right[at]);
      }),
    );
  });

  it('is another one from the record on in which anything was changed', () => {
    const change = fc.constantFrom<(parts: RecordParts) => RecordParts>(
      (parts) => ({ ...parts, at: parts.at + 1 }),
      (parts) => ({ ...parts, seq: parts.seq + 1 }),
      (parts) => ({ ...parts, version: parts.version + 1 }),
      (parts) => ({ ...parts, session: `${parts.session}x` }),
      (parts) => ({ ...parts, stream: 'control' }),
      (parts) => ({ ...parts, body: `${parts.body} ` }),
    );
    fc.assert(
      fc.property(bodies, fc.nat(), change, (given, where, changed) => {
        const records = given.map(partsOf);
        const at = where % records.length;
        const altered = records.map((parts, index) => (index === at ? changed(parts) : parts));
        const [whole, broken] = [chainOf(records), chainOf(altered)];
        expect(broken.slice(0, at)).toEqual(whole.slice(0, at));
        for (let index = at; index < records.length; index += 1)
          expect(broken[index]).not.toBe(whole[index]);
      }),
    );
  });
});
