import { expect, test } from 'vitest';
import { workerUrl } from '../../../../src/core/journal/worker-url.ts';

test('the worker is beside the source, and in the chunk folder of the build wherever the caller is', () => {
  const of = (url: string): string => workerUrl(url).href;
  expect(of('file:///p/src/core/journal/open-journal.ts')).toBe(
    'file:///p/src/core/journal/worker.ts',
  );
  expect(of('file:///p/dist/agent-core.mjs')).toBe('file:///p/dist/agent-core/journal-worker.mjs');
  expect(of('file:///p/dist/agent-core/chunk-X.mjs')).toBe(
    'file:///p/dist/agent-core/journal-worker.mjs',
  );
});
