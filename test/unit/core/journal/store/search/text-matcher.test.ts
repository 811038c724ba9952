import { describe, expect, test } from 'vitest';
import { searchable } from '../../../../../../src/core/journal/store/search/search-text.ts';
import { TextMatcher } from '../../../../../../src/core/journal/store/search/text-matcher.ts';

function shown(typed: string, text: string): readonly string[] {
  const { snippet, ranges } = TextMatcher.of(typed)?.snippet(text) ?? { snippet: '', ranges: [] };
  return ranges.map(([start, end]) => snippet.slice(start, end));
}

const holds = (typed: string, text: string): boolean =>
  TextMatcher.of(typed)?.matches(searchable(text)) ?? false;

describe('a text matcher', () => {
  test('wants every word, and the last one may be unfinished', () => {
    expect(holds('green butt', 'The Button is GREEN')).toBe(true);
    expect(holds('green butt ', 'The Button is GREEN')).toBe(false);
    expect(holds('gree button', 'The Button is GREEN')).toBe(false);
    expect(holds('utton', 'The Button is GREEN')).toBe(false);
    expect(holds('is', 'this')).toBe(false);
  });

  test('does not mind case, accents and what stands between words', () => {
    expect(holds('cafe', 'Un CAFÉ noir')).toBe(true);
    expect(holds('café', 'cafe')).toBe(true);
    expect(holds('foo-bar ', 'call foo.bar now')).toBe(true);
    expect(holds('foo-bar ', 'bar foo')).toBe(false);
    expect(holds('50%', 'make it 50% bigger')).toBe(true);
  });

  test('finds any part of a run without spaces', () => {
    expect(holds('長い文', 'これは長い文章です')).toBe(true);
    expect(holds('い長', 'これは長い文章です')).toBe(false);
    expect(shown('長い文', 'これは長い文章です')).toEqual(['長い文']);
  });

  test('has nothing to look for without a word', () => {
    for (const typed of ['', ' ', '"', '*', '\0', '-- %']) expect(TextMatcher.of(typed)).toBeNull();
  });

  test('shows the words around the first match, marked, in one line', () => {
    const text = `${'before '.repeat(40)}the\n\tNeedle in the hay ${'after '.repeat(40)}`;
    const { snippet, ranges } = TextMatcher.of('needle hay')?.snippet(text) ?? {};
    expect(snippet).toMatch(/^…before .*the {2}Needle in the hay after .*…$/u);
    expect(ranges?.map(([start, end]) => snippet?.slice(start, end))).toEqual(['Needle', 'hay']);
    expect(snippet?.length).toBeLessThan(170);
    expect(shown('butt', 'A button, a BUTTER knife')).toEqual(['button', 'BUTTER']);
    expect(shown('b', '<b>bold</b>')).toEqual(['b', 'bold', 'b']);
  });

  test('never parts a character of two units', () => {
    for (let pad = 90; pad < 140; pad += 1) {
      const text = `${'😀'.repeat(pad)}needle${'😀'.repeat(90)}`;
      const { snippet = '' } = TextMatcher.of('needle')?.snippet(text) ?? {};
      expect(snippet.isWellFormed()).toBe(true);
      expect(snippet).not.toContain('\ufffd');
      const odd = `x${text}`;
      expect(TextMatcher.of('needle')?.snippet(odd).snippet).not.toContain('\ufffd');
    }
  });
});
