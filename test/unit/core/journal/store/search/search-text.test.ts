import { describe, expect, test } from 'vitest';
import {
  matchQuery,
  searchable,
  written,
} from '../../../../../../src/core/journal/store/search/search-text.ts';

describe('search text', () => {
  test('quotes what was typed and leaves the last word open', () => {
    expect(matchQuery('fix login')).toBe('"fix" "login" *');
    expect(matchQuery('fix login ')).toBe('"fix" "login"');
    expect(matchQuery('a"b OR c')).toBe('"a b" "OR" "c" *');
    expect(matchQuery('  ')).toBeNull();
    expect(matchQuery('"* -')).toBeNull();
  });

  test('takes scripts without spaces apart', () => {
    expect(searchable('a長い b')).toBe('a 長  い  b');
    expect(matchQuery('長い')).toBe('"長  い"');
  });

  test('puts them together again', () => {
    for (const text of ['a長い b', '日本 語', ' 日', 'plain text', '日 本  語\n長'])
      expect(written(searchable(text))).toBe(text);
  });
});
