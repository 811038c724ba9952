import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointBench } from '../../support/checkpoint/checkpoint-bench.ts';

const NOBODY = 65_534;
const CHILD = path.join(import.meta.dirname, '../../support/checkpoint/restore-child.ts');

let bench: CheckpointBench;
beforeEach(async () => {
  bench = await CheckpointBench.create();
});
afterEach(() => bench.dispose());

/** Does work as somebody to whom permissions apply. */
async function unprivileged<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  chownSync(bench.base, NOBODY, NOBODY);
  for (const each of readdirSync(bench.base, { recursive: true, withFileTypes: true }))
    chownSync(path.join(each.parentPath, each.name), NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

function names(): readonly string[] {
  return readdirSync(bench.root, { recursive: true, encoding: 'utf8' }).sort();
}

describe('a restore that fails', () => {
  it('puts everything back that it had done, and says why', async () => {
    await bench.write('a', '1');
    await bench.write('deep/gone', '1');
    await bench.write('ro/keep', '1');
    const files = await bench.turn(async ({ shell }) => {
      await shell('mkdir -p a-long/way/down; printf 1 > a-long/way/down/new; printf 2 > a');
      await shell('rm -r deep; printf 1 > ro/n');
    });
    const target = { kind: 'turns', turns: [files] } as const;
    const before = names();
    chmodSync(bench.path('ro'), 0o555);
    const failure = unprivileged(() => bench.checkpoints.restore(target, []));
    await expect(failure).rejects.toMatchObject({ code: 'checkpoint.restore_failed' });
    expect(names()).toEqual(before);
    expect([bench.text('a'), bench.text('a-long/way/down/new')]).toEqual(['2', '1']);
    chmodSync(bench.path('ro'), 0o755);
    const done = await unprivileged(() => bench.checkpoints.restore(target, []));
    expect(done.restored).toHaveLength(4);
    expect(names()).toEqual(['a', 'deep', 'deep/gone', 'ro', 'ro/keep']);
  });

  it('changes nothing, and says why, where the data folder takes nothing', async () => {
    await bench.write('a', '1');
    const files = await bench.turn(({ shell }) => shell('printf 2 > a; printf 1 > new'));
    const target = { kind: 'turns', turns: [files] } as const;
    bench.shell(`chmod -R a-w ${bench.store}`);
    const failure = unprivileged(() => bench.checkpoints.restore(target, []));
    await expect(failure).rejects.toMatchObject({ code: 'checkpoint.restore_failed' });
    expect([bench.text('a'), bench.text('new')]).toEqual(['2', '1']);
    bench.shell(`chmod -R u+w ${bench.store}`);
    const done = await unprivileged(() => bench.checkpoints.restore(target, []));
    expect(done.restored).toHaveLength(2);
  });

  it('changes nothing where what files held is not kept any more', async () => {
    await bench.write('a', '1');
    const files = await bench.turn(({ shell }) => shell('printf 2 > a; printf 1 > new'));
    bench.shell(`rm -rf ${bench.store}/session-1/git ${bench.store}/session-1/blobs`);
    await expect(
      bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []),
    ).rejects.toMatchObject({ code: 'checkpoint.unknown' });
    expect([bench.text('a'), bench.text('new')]).toEqual(['2', '1']);
  });

  it('is taken back after its process was killed in the middle', async () => {
    const count = 150;
    for (let index = 0; index < count; index += 1) await bench.write(`d/${index}`, `old ${index}`);
    const files = await bench.turn(({ shell }) =>
      shell('for f in d/*; do printf new > $f; done; rm d/1*; printf x > added'),
    );
    const before = names();
    await bench.checkpoints.dispose();
    const note = path.join(bench.store, 'session-1', 'restoring.json');
    // The first removal is the first thing that shows.
    const args = [CHILD, bench.root, bench.store, JSON.stringify(files), bench.path('added')];
    const [, signal] = await once(spawn(process.execPath, args), 'exit');
    expect(signal).toBe('SIGKILL');
    expect(existsSync(note)).toBe(true);
    expect(names()).not.toEqual(before);
    await bench.restart();
    const plan = await bench.checkpoints.plan({ kind: 'turns', turns: [files] });
    expect(names()).toEqual(before);
    expect([bench.text('added'), bench.text('d/2'), existsSync(note)]).toEqual(['x', 'new', false]);
    expect(plan.files).toHaveLength(count + 1);
    expect(plan.files.some(({ changedSince }) => changedSince)).toBe(false);
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.text('d/149'), bench.exists('added')]).toEqual(['old 149', false]);
  });

  it('refuses calls after its end', async () => {
    await bench.checkpoints.dispose();
    await expect(bench.checkpoints.plan({ kind: 'turns', turns: [] })).rejects.toMatchObject({
      code: 'checkpoint.closed',
    });
  });
});
