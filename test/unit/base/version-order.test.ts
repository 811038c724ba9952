import { expect, it } from 'vitest';
import { isNewer } from '../../../src/base/version-order.ts';

it.each([
  ['0.2.0', '0.1.9', true],
  ['0.10.0', '0.9.0', true],
  ['1.0.0', '1.0.0', false],
  ['0.1.0', '0.2.0', false],
  ['1.0.0-beta.1', '1.0.0', false],
  ['1.0.1+build', '1.0.0', true],
  ['', '0.0.0', false],
])('%s is newer than %s: %s', (version, than, isIt) => {
  expect(isNewer(version, than)).toBe(isIt);
});
