import { describe, expect, it } from 'vitest';
import { StrayClicks } from '../../../../src/extension/diffs/stray-clicks.ts';

describe('the second click of a double click', () => {
  function clicks() {
    let now = 0;
    const done: string[] = [];
    const guard = new StrayClicks(() => now);
    const click = (row: string) => guard.run({ row }, async () => void done.push(row));
    return { guard, click, done, later: (by: number) => (now += by) };
  }

  it('decides about no other row that came under the pointer', async () => {
    const { click, done, later } = clicks();
    await click('a');
    later(300);
    await click('b');
    expect(done).toEqual(['a']);
    later(400);
    await click('b');
    expect(done).toEqual(['a', 'b']);
  });

  it('decides nothing while the first still runs, however long; a failed one holds up nothing', async () => {
    const { guard, click, done, later } = clicks();
    let fail = (): void => undefined;
    const slow = guard.run(
      {},
      () => new Promise<void>((_, reject) => (fail = () => reject(new Error('no')))),
    );
    later(10_000);
    await click('b');
    expect(done).toEqual([]);
    fail();
    await expect(slow).rejects.toThrow('no');
    await click('b');
    expect(done).toEqual(['b']);
  });

  it('is not what a key does', async () => {
    const { guard, done } = clicks();
    for (const row of ['a', 'b']) await guard.run(undefined, async () => void done.push(row));
    expect(done).toEqual(['a', 'b']);
  });
});
