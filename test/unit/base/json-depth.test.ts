import { expect, test } from 'vitest';
import { isDeeperThan } from '../../../src/base/json-depth.ts';

test('counts how deep a text is nested, not what stands in its strings', () => {
  expect(isDeeperThan(2, '[{"a":1}]')).toBe(false);
  expect(isDeeperThan(1, '[{"a":1}]')).toBe(true);
  expect(isDeeperThan(1, '["[[[\\"[[[", {}]')).toBe(true);
  expect(isDeeperThan(1, '["[[[\\"[[[", 2]')).toBe(false);
  expect(isDeeperThan(1, '[[],[],[]]')).toBe(true);
  expect(isDeeperThan(2, '[[],[],[]]')).toBe(false);
  expect(isDeeperThan(500, '['.repeat(5_000_000))).toBe(true);
});
