import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointBench } from '../../support/checkpoint/checkpoint-bench.ts';

let bench: CheckpointBench;
beforeEach(async () => {
  bench = await CheckpointBench.create();
});
afterEach(() => bench.dispose());

describe('putting a turn back', () => {
  it('restores bytes, mode bits and line ends of files that were written, made and removed', async () => {
    const binary = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7) % 256);
    await bench.write('text.txt', '\uFEFFone\r\ntwo\r\n');
    await bench.write('binary.bin', binary);
    await bench.write('secret', 'key', 0o600);
    await bench.write('script.sh', '#!/bin/sh\n', 0o755);
    await bench.write('deep/er/gone.txt', 'gone');
    const files = await bench.turn(async ({ shell }) => {
      await shell('printf new > text.txt; printf x > binary.bin; rm secret; chmod 644 script.sh');
      await shell('rm -r deep; mkdir -p made/by; printf y > made/by/turn.txt');
    });
    expect(files.coverage).toBe('full');
    expect(bench.changed(files)).toEqual({
      'binary.bin': 'modified',
      'deep/er/gone.txt': 'deleted',
      'made/by/turn.txt': 'added',
      'script.sh': 'modified',
      secret: 'deleted',
      'text.txt': 'modified',
    });
    const plan = await bench.checkpoints.plan({ kind: 'turns', turns: [files] });
    expect(plan.files.filter(({ binary: is }) => is).map(({ path }) => path)).toEqual([
      bench.path('binary.bin'),
    ]);
    const restored = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(restored.skipped).toEqual([]);
    expect(restored.restored).toHaveLength(6);
    expect(bench.text('text.txt')).toBe('\uFEFFone\r\ntwo\r\n');
    expect(bench.shell('cat binary.bin | wc -c').trim()).toBe('5000');
    expect(bench.mode('secret')).toBe(0o600);
    expect(bench.text('secret')).toBe('key');
    expect(bench.mode('script.sh')).toBe(0o755);
    expect(bench.text('deep/er/gone.txt')).toBe('gone');
    expect(bench.exists('made')).toBe(false);
    expect(bench.shell('ls -A')).not.toContain('.pilothouse');
  });

  it('goes back and forth by undo, and gives the same files again', async () => {
    await bench.write('a.txt', 'one');
    const files = await bench.turn(async ({ shell }) => {
      await shell('printf two > a.txt; mkdir d; printf three > d/b.txt');
    });
    const back = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.text('a.txt'), bench.exists('d')]).toEqual(['one', false]);
    const forth = await bench.checkpoints.restore({ kind: 'undo', undo: back.undo }, []);
    expect([bench.text('a.txt'), bench.text('d/b.txt')]).toEqual(['two', 'three']);
    await bench.checkpoints.restore({ kind: 'undo', undo: forth.undo }, []);
    expect([bench.text('a.txt'), bench.exists('d')]).toEqual(['one', false]);
  });

  it('rolls all files of several turns back (A36)', async () => {
    await bench.write('a.js', 'a1');
    await bench.write('b.html', 'b1');
    const one = await bench.turn(({ tool }) => tool(['a.js'], () => bench.write('a.js', 'a2')));
    const two = await bench.turn(({ tool }) => tool(['b.html'], () => bench.write('b.html', 'b2')));
    const done = await bench.checkpoints.restore({ kind: 'turns', turns: [one, two] }, []);
    expect(done.restored).toEqual([bench.path('a.js'), bench.path('b.html')]);
    expect([bench.text('a.js'), bench.text('b.html')]).toEqual(['a1', 'b1']);
  });

  it('gives the first bytes of a file that was deleted and made anew (A37)', async () => {
    await bench.write('f', 'original\r\n', 0o640);
    const files = await bench.turn(async ({ shell, tool }) => {
      await shell('rm f');
      await tool(['f'], () => bench.write('f', 'another', 0o644));
    });
    expect(bench.changed(files)).toEqual({ f: 'modified' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.text('f'), bench.mode('f')]).toEqual(['original\r\n', 0o640]);
  });

  it('leaves a file that somebody changed since alone, unless it is named', async () => {
    await bench.write('mine', 'a');
    await bench.write('theirs', 'a');
    const files = await bench.turn(({ shell }) => shell('printf b > mine; printf b > theirs'));
    await bench.write('theirs', 'by hand');
    const target = { kind: 'turns', turns: [files] } as const;
    const plan = await bench.checkpoints.plan(target);
    expect(plan.files.map(({ path, changedSince }) => [path, changedSince])).toEqual([
      [bench.path('mine'), false],
      [bench.path('theirs'), true],
    ]);
    const first = await bench.checkpoints.restore(target, []);
    expect(first.skipped.map(({ path }) => path)).toEqual([bench.path('theirs')]);
    expect([bench.text('mine'), bench.text('theirs')]).toEqual(['a', 'by hand']);
    const second = await bench.checkpoints.restore(target, [bench.path('theirs')]);
    expect(second.restored).toEqual([bench.path('theirs')]);
    expect(bench.text('theirs')).toBe('a');
    await bench.checkpoints.restore({ kind: 'undo', undo: second.undo }, []);
    expect(bench.text('theirs')).toBe('by hand');
  });

  it('asks about a file that somebody changed between two turns', async () => {
    await bench.write('f', '1');
    const one = await bench.turn(({ shell }) => shell('printf 2 > f'));
    await bench.write('f', 'by hand');
    const two = await bench.turn(({ shell }) => shell('printf 3 > f'));
    const plan = await bench.checkpoints.plan({ kind: 'turns', turns: [one, two] });
    expect(plan.files).toMatchObject([{ path: bench.path('f'), changedSince: true }]);
    const last = await bench.checkpoints.plan({ kind: 'turns', turns: [two] });
    expect(last.files).toMatchObject([{ path: bench.path('f'), changedSince: false }]);
  });

  it('swaps a file and a folder of the same name, both ways', async () => {
    await bench.write('x', 'file');
    await bench.write('y/in', 'folder');
    const files = await bench.turn(({ shell }) =>
      shell('rm x; mkdir x; printf 1 > x/in; rm -r y; printf 2 > y'),
    );
    const done = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(done.skipped).toEqual([]);
    expect([bench.text('x'), bench.text('y/in')]).toEqual(['file', 'folder']);
    await bench.checkpoints.restore({ kind: 'undo', undo: done.undo }, []);
    expect([bench.text('x/in'), bench.text('y')]).toEqual(['1', '2']);
  });

  it('does not remove a folder in which somebody put something', async () => {
    await bench.write('x', 'file');
    const files = await bench.turn(({ shell }) => shell('rm x; mkdir x; printf 1 > x/in'));
    await bench.write('x/mine', 'keep');
    const done = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, 'all');
    expect(done.skipped.map(({ path }) => path)).toEqual([bench.path('x')]);
    expect([bench.text('x/mine'), bench.exists('x/in')]).toEqual(['keep', false]);
  });

  it('keeps an empty folder that was there before the turn', async () => {
    await mkdir(bench.path('empty'));
    const files = await bench.turn(({ shell }) =>
      shell('printf 1 > empty/f; mkdir n; printf 2 > n/f'),
    );
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.exists('empty'), bench.exists('empty/f'), bench.exists('n')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('restores names with spaces, quotes, line ends, dashes and other scripts', async () => {
    const names = ['-rf', 'a b', 'q"uo\'te', 'new\nline', 'Ünïcode-日本', ':(top)x', '*', 'é'];
    for (const name of names) await bench.write(`d/${name}`, `was ${name}`);
    const files = await bench.turn(async ({ shell, tool }) => {
      await shell('for f in d/*; do printf changed > "$f"; done');
      await tool(['d/a b'], () => bench.write('d/a b', 'again'));
    });
    expect(files.changed).toHaveLength(names.length);
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    for (const name of names) expect(bench.text(`d/${name}`)).toBe(`was ${name}`);
  });

  it('restores symbolic links as links and never writes through one', async () => {
    const outside = `${bench.base}/outside`;
    await mkdir(outside);
    await writeFile(`${outside}/f`, 'theirs');
    await bench.write('d/f', 'mine');
    await symlink('d/f', bench.path('link'));
    const files = await bench.turn(({ shell }) =>
      shell('rm link; printf plain > link; printf changed > d/f'),
    );
    expect(bench.changed(files)).toEqual({ 'd/f': 'modified', link: 'modified' });
    await rename(bench.path('d'), bench.path('moved'));
    await symlink(outside, bench.path('d'));
    const done = await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, 'all');
    expect(done.skipped.map(({ path }) => path)).toEqual([bench.path('d/f')]);
    expect(bench.link('link')).toBe('d/f');
    expect(bench.shell(`cat ${outside}/f`)).toBe('theirs');
  });

  it('restores what one tool call wrote, and only that', async () => {
    await bench.write('a', '1');
    await bench.write('b', '1');
    await bench.turn(async ({ tool, shell }) => {
      await tool(
        ['a', 'new/c'],
        async () => {
          await bench.write('a', '2');
          await bench.write('new/c', '2');
        },
        'the-call',
      );
      await shell('printf 2 > b');
    });
    await bench.restart();
    const target = { kind: 'call', toolCallId: 'the-call' as never } as const;
    const done = await bench.checkpoints.restore(target, []);
    expect(done.skipped).toEqual([]);
    expect([bench.text('a'), bench.text('b'), bench.exists('new')]).toEqual(['1', '2', false]);
    await expect(
      bench.checkpoints.restore({ kind: 'call', toolCallId: 'other' as never }, []),
    ).rejects.toMatchObject({ code: 'checkpoint.unknown' });
  });

  it('leaves what a tool call wrote alone where somebody changed it since', async () => {
    await bench.write('a', '1');
    await bench.turn(({ tool }) => tool(['a'], () => bench.write('a', '2'), 'the-call'));
    await bench.write('a', 'by hand');
    const target = { kind: 'call', toolCallId: 'the-call' as never } as const;
    const done = await bench.checkpoints.restore(target, []);
    expect(done.skipped.map(({ path }) => path)).toEqual([bench.path('a')]);
    await bench.checkpoints.restore(target, 'all');
    expect(bench.text('a')).toBe('1');
  });

  it('gives both sides of a file of a plan, and nothing else', async () => {
    await bench.write('a', 'old');
    await bench.write('other', 'x');
    const files = await bench.turn(({ shell }) => shell('printf new > a; printf n > b'));
    const target = { kind: 'turns', turns: [files] } as const;
    const read = async (name: string, side: 'now' | 'then'): Promise<string | null> => {
      const bytes = await bench.checkpoints.read(target, bench.path(name), side);
      return bytes === null ? null : Buffer.from(bytes).toString();
    };
    expect(await read('a', 'now')).toBe('new');
    expect(await read('a', 'then')).toBe('old');
    expect(await read('b', 'then')).toBe(null);
    await expect(read('other', 'now')).rejects.toMatchObject({ code: 'checkpoint.unknown' });
  });

  it('survives a restart', async () => {
    await bench.write('a', 'old');
    const files = await bench.turn(({ shell }) => shell('printf new > a'));
    await bench.restart();
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(bench.text('a')).toBe('old');
  });

  it('says that a state is not here', async () => {
    await bench.write('a', 'old');
    const files = await bench.turn(({ shell }) => shell('printf new > a'));
    await rm(bench.store, { recursive: true });
    await bench.restart();
    await expect(bench.checkpoints.plan({ kind: 'turns', turns: [files] })).rejects.toMatchObject({
      code: 'checkpoint.unknown',
    });
    await expect(
      bench.checkpoints.plan({ kind: 'undo', undo: '../../etc/passwd' }),
    ).rejects.toMatchObject({ code: 'checkpoint.unknown' });
  });
});
