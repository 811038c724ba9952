import { expect, it } from 'vitest';
import { retryAfterOf } from '../../../../src/core/models/sdk/retry-after.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

it.each([
  [{ 'retry-after': '3' }, 3_000],
  [{ 'retry-after': ' 0.25 ' }, 250],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after-ms': '1500.5', 'retry-after': '9' }, 1_501],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, 0],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{}, undefined],
  [undefined, undefined],
])('%j means %s ms', (headers, expected) => {
  expect(retryAfterOf(headers, NOW)).toBe(expected);
});
