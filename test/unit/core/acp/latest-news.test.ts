import { expect, test } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { LatestNews } from '../../../../src/core/acp/events/latest-news.ts';

test('news of which the newest counts is told at once, and to a client that lags once, when it reads', async () => {
  const read = new Deferred<void>();
  const pace = { isBehind: false, taken: () => read.promise };
  const news = new LatestNews(pace);
  const told: string[] = [];
  const tell = (key: string, text: string): void => news.tell(key, () => told.push(text));
  tell('a', 'a1');
  expect(told).toEqual(['a1']);
  pace.isBehind = true;
  for (let i = 2; i < 1_000; i += 1) tell('a', `a${i}`);
  tell('b', 'b1');
  tell('a', 'a gone');
  expect(told).toEqual(['a1']);
  pace.isBehind = false;
  // What comes before the client has read must not overtake what waits.
  tell('c', 'c1');
  expect(told).toEqual(['a1']);
  read.resolve();
  await read.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual(['a1', 'b1', 'a gone', 'c1']);
  tell('a', 'a again');
  expect(told.at(-1)).toBe('a again');
});
