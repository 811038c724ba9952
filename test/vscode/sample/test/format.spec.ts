import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../src/format.ts';

await test('whole minutes have no seconds', () => {
  assert.equal(formatTime(120), '2 min');
});

await test('the rest is shown in seconds', () => {
  assert.equal(formatTime(150), '2 min 30 s');
});
