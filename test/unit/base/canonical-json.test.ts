import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/base/canonical-json.ts';

/** Any JSON value, with lone surrogates, odd keys and every finite number. */
const anyJson = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 });
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

describe('canonical JSON', () => {
  test('is the text of the rules', () => {
    expect(
      canonicalJson({
        b: [1, -0, 1e21, 0.1],
        a: { z: null, é: 'é\n"\u2028\ud800', '': true },
        c: undefined,
      }),
    ).toBe('{"a":{"":true,"z":null,"é":"é\\n\\"\u2028\\ud800"},"b":[1,0,1e+21,0.1]}');
  });

  test('survives a round trip whatever the value', () => {
    fc.assert(
      fc.property(anyJson, anyText, (value, text) => {
        const written = canonicalJson([value, text]);
        const read: unknown = JSON.parse(written);
        expect(canonicalJson(read)).toBe(written);
        expect(read).toEqual(JSON.parse(JSON.stringify([value, text])));
        expect(written.isWellFormed()).toBe(true);
      }),
    );
  });

  test('does not depend on the order of properties', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyJson, { maxKeys: 8 }), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      }),
    );
  });

  test.each([
    [{ a: Number.NaN }, '$.a'],
    [[1, Number.POSITIVE_INFINITY], '$[1]'],
    [[undefined], '$[0]'],
    [{ a: { b: 1n } }, '$.a.b'],
    [{ a: () => 1 }, '$.a'],
    [{ a: Symbol('x') }, '$.a'],
    [{ at: new Date(0) }, '$.at'],
    [new Map(), '$'],
  ])('refuses %o and names the place', (value, path) => {
    expect(() => canonicalJson(value)).toThrow(
      expect.objectContaining({ code: 'json.not_json', path }),
    );
  });

  test('refuses nesting that could exhaust the stack', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 501; level += 1) deep = [deep];
    expect(() => canonicalJson(deep)).toThrow(/deeper than 500/);
  });
});
