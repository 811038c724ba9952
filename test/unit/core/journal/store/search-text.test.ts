import { describe, expect, test } from 'vitest';
import {
  likePatterns,
  matchQuery,
  searchable,
} from '../../../../../src/core/journal/store/search-text.ts';

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
    expect(matchQuery('長い')).toBe('"長  い" *');
  });

  test('escapes what LIKE would read as a pattern', () => {
    expect(likePatterns('50% a_b c\\d')).toEqual(['%50\\%%', '%a\\_b%', '%c\\\\d%']);
  });
});
