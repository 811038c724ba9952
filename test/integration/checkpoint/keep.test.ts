import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RestoreTarget } from '../../../src/core/session/checkpoints.ts';
import type { CheckpointFiles } from '../../../src/core/session/control-events.ts';
import { CheckpointBench } from '../../support/checkpoint/checkpoint-bench.ts';

let bench: CheckpointBench;

beforeEach(async () => {
  bench = await CheckpointBench.create();
});

afterEach(async () => {
  await bench.dispose();
});

function kept(files: CheckpointFiles, ...turns: readonly CheckpointFiles[]): RestoreTarget {
  return { kind: 'kept', files, turns };
}

function names(): readonly string[] {
  return readdirSync(bench.root, { recursive: true, encoding: 'utf8' }).sort();
}

describe('files that a person has kept', () => {
  it('come back as they were after later turns, also what commands removed, and what is new goes', async () => {
    await bench.write('a', '1');
    await bench.write('run.sh', '#!/bin/sh', 0o755);
    await bench.write('deep/er/b', 'b');
    const files = await bench.checkpoints.keep();
    const before = names();
    const one = await bench.turn(async ({ tool, shell }) => {
      await tool(['a'], () => bench.write('a', '2'));
      await shell('rm -r deep; chmod 644 run.sh; mkdir -p made/by; printf 1 > made/by/it');
    });
    const two = await bench.turn(async ({ shell }) => shell('printf 3 > a'));
    const target = kept(files, one, two);
    const plan = await bench.checkpoints.plan(target);
    expect(plan.files.map(({ path: file, change }) => [path.basename(file), change])).toEqual([
      ['a', 'modified'],
      ['b', 'added'],
      ['it', 'deleted'],
      ['run.sh', 'modified'],
    ]);
    expect(plan.files.some(({ changedSince }) => changedSince)).toBe(false);
    const { undo, skipped } = await bench.checkpoints.restore(target, []);
    expect(skipped).toEqual([]);
    expect(names()).toEqual(before);
    expect([bench.text('a'), bench.text('deep/er/b'), bench.mode('run.sh')]).toEqual([
      '1',
      'b',
      0o755,
    ]);
    await bench.checkpoints.restore({ kind: 'undo', undo }, []);
    expect([bench.text('a'), bench.exists('deep'), bench.text('made/by/it')]).toEqual([
      '3',
      false,
      '1',
    ]);
  });

  it('come back after a restart, and of a session whose turns did nothing since', async () => {
    await bench.write('a', '1');
    const files = await bench.checkpoints.keep();
    await bench.restart();
    const turn = await bench.turn(async ({ shell }) => shell('printf 2 > a'));
    await bench.restart();
    await bench.checkpoints.restore(kept(files, turn), []);
    expect(bench.text('a')).toBe('1');
    expect((await bench.checkpoints.plan(kept(files, turn))).files).toEqual([]);
  });

  it('leave what somebody else changed or made since alone, unless they are told not to', async () => {
    await bench.write('a', '1');
    const files = await bench.checkpoints.keep();
    await bench.write('a', 'mine');
    await bench.write('new', 'mine too');
    const { restored, skipped } = await bench.checkpoints.restore(kept(files), []);
    expect(restored).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual(['changed_since', 'changed_since']);
    expect([bench.text('a'), bench.text('new')]).toEqual(['mine', 'mine too']);
    await bench.checkpoints.restore(kept(files), 'all');
    expect([bench.text('a'), bench.exists('new')]).toEqual(['1', false]);
  });

  it('never touch what git ignores, then or now', async () => {
    await bench.write('.gitignore', 'build\n');
    await bench.write('build/out', 'old');
    const files = await bench.checkpoints.keep();
    const turn = await bench.turn(async ({ shell }) =>
      shell('printf new > build/out; printf "" > .gitignore; printf 1 > build/more'),
    );
    await bench.checkpoints.restore(kept(files, turn), 'all');
    expect([bench.text('.gitignore'), bench.text('build/out'), bench.text('build/more')]).toEqual([
      'build\n',
      'new',
      '1',
    ]);
  });

  it('say what is left out', async () => {
    await bench.write('a', '1');
    mkdirSync(bench.path('other'));
    bench.git('init -q', bench.path('other'));
    writeFileSync(bench.path('other/x'), '1');
    const files = await bench.checkpoints.keep();
    expect(files).toMatchObject({ coverage: 'partial', reason: expect.stringContaining('other') });
  });

  it('are refused, and nothing is changed, where the folder can not be kept whole', async () => {
    const small = await CheckpointBench.create({ limits: { files: 1 } });
    await small.write('a', '1');
    await small.write('b', '1');
    await expect(small.checkpoints.keep()).rejects.toMatchObject({
      code: 'checkpoint.unreadable',
      message: expect.stringContaining(small.root),
    });
    await small.dispose();
    const bare = await CheckpointBench.create({ environment: { PATH: '/nonexistent' } });
    await expect(bare.checkpoints.keep()).rejects.toMatchObject({ code: 'checkpoint.unreadable' });
    await bare.dispose();
  });
});

describe('a restore', () => {
  it('is read back: where other bytes arrived than were kept, everything is as it was before', async () => {
    await bench.write('a', 'first');
    await bench.write('b', 'first');
    const files = await bench.turn(async ({ tool }) => {
      await tool(['a', 'b'], async () => {
        await bench.write('a', 'second');
        await bench.write('b', 'second');
        await bench.write('c', 'second');
      });
    });
    rmSync(path.join(bench.store, 'session-1', 'git'), { recursive: true });
    // A disk that gives other bytes than it was given.
    const blobs = path.join(bench.store, 'session-1', 'blobs');
    for (const each of readdirSync(blobs, { recursive: true, withFileTypes: true }))
      if (each.isFile()) writeFileSync(path.join(each.parentPath, each.name), 'other');
    const target = { kind: 'turns', turns: [files] } as const;
    await expect(bench.checkpoints.restore(target, [])).rejects.toMatchObject({
      code: 'checkpoint.restore_failed',
      data: { path: bench.path('a') },
    });
    expect([bench.text('a'), bench.text('b'), bench.text('c')]).toEqual([
      'second',
      'second',
      'second',
    ]);
    expect(names()).toEqual(['a', 'b', 'c']);
    // Nothing of it is left that a restart would take back.
    await bench.restart();
    await bench.checkpoints.recover(() => false);
    expect(bench.text('a')).toBe('second');
  });
});
