import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { deleteCheckpoints } from '../../../src/core/checkpoint/create-checkpoints.ts';
import type { TurnId } from '../../../src/core/session/words.ts';
import { CheckpointBench } from '../../support/checkpoint/checkpoint-bench.ts';

const benches: CheckpointBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.dispose();
});
async function aBench(
  options: Parameters<typeof CheckpointBench.create>[0] = {},
): Promise<CheckpointBench> {
  const bench = await CheckpointBench.create(options);
  benches.push(bench);
  return bench;
}

/** Everything of a folder by name: bytes, and when they were written. */
function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const each of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!each.isFile()) continue;
    const file = path.join(each.parentPath, each.name);
    hash.update(`${file}\0${statSync(file).mtimeMs}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

describe('a snapshot', () => {
  it('keeps bytes and runs nothing where the repository asks for filters and line ends', async () => {
    const bench = await aBench();
    bench.git('init -q');
    bench.git(`config filter.lfs.clean "touch ${bench.base}/ran; tr a-z A-Z"`);
    bench.git(`config filter.lfs.smudge "touch ${bench.base}/ran; tr A-Z a-z"`);
    bench.git('config filter.lfs.required true');
    bench.git('config core.autocrlf true');
    bench.git(`config core.fsmonitor "touch ${bench.base}/ran; true"`);
    await bench.write(
      '.gitattributes',
      '*.bin filter=lfs\n*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n',
    );
    await bench.write('big.bin', 'lower\r\ncase');
    await bench.write('unix.txt', 'a\nb\n');
    await bench.write('mixed.txt', 'a\r\nb\n');
    await bench.write('key.id', '$Id: 1234 $');
    await bench.write('wide.u16', 'not utf-16 at all');
    const before = fingerprint(bench.path('.git'));
    const files = await bench.turn(({ shell }) =>
      shell('for f in big.bin unix.txt mixed.txt key.id wide.u16; do printf new > $f; done'),
    );
    expect(files).toMatchObject({ coverage: 'full' });
    expect(files.changed).toHaveLength(5);
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(bench.text('big.bin')).toBe('lower\r\ncase');
    expect(bench.text('unix.txt')).toBe('a\nb\n');
    expect(bench.text('mixed.txt')).toBe('a\r\nb\n');
    expect(bench.text('key.id')).toBe('$Id: 1234 $');
    expect(bench.text('wide.u16')).toBe('not utf-16 at all');
    expect(existsSync(`${bench.base}/ran`)).toBe(false);
    expect(fingerprint(bench.path('.git'))).toBe(before);
  });

  it('leaves the repository, its index and its staged work as they are', async () => {
    const bench = await aBench();
    bench.git('init -q');
    await bench.write('a', '1');
    bench.git('add a');
    bench.git('commit -qm one');
    await bench.write('a', '2');
    bench.git('add a');
    await bench.write('a', '3');
    const before = fingerprint(bench.path('.git'));
    const files = await bench.turn(({ shell }) => shell('printf 4 > a; printf 5 > b'));
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(fingerprint(bench.path('.git'))).toBe(before);
    expect(bench.git('diff --cached -- a')).toContain('+2');
    expect(bench.text('a')).toBe('3');
  });

  it('leaves ignored files alone, but for those that an own tool says it writes', async () => {
    const bench = await aBench();
    await bench.write('.gitignore', 'dist/\n*.log\n');
    await bench.write('dist/out.js', '1');
    await bench.write('x.log', '1');
    await bench.write('dist/own.js', '1');
    const files = await bench.turn(async ({ shell, tool }) => {
      await shell('printf 2 > dist/out.js; printf 2 > x.log; printf 2 > dist/new.js');
      await tool(['dist/own.js'], () => bench.write('dist/own.js', '2'));
    });
    expect(bench.changed(files)).toEqual({ 'dist/own.js': 'modified' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.text('dist/out.js'), bench.text('x.log'), bench.text('dist/own.js')]).toEqual([
      '2',
      '2',
      '1',
    ]);
  });

  it('does not take files that a turn stopped ignoring for new ones', async () => {
    const bench = await aBench();
    await bench.write('.gitignore', 'dist/\n*.log\n');
    await bench.write('dist/out.js', '1');
    await bench.write('x.log', '1');
    const files = await bench.turn(({ shell }) => shell('rm .gitignore; printf 2 > new'));
    expect(bench.changed(files)).toEqual({ '.gitignore': 'deleted', new: 'added' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, 'all');
    expect([bench.text('dist/out.js'), bench.text('x.log')]).toEqual(['1', '1']);
  });

  it('honours the ignore files above a root that is a part of a repository', async () => {
    const bench = await aBench();
    bench.git('init -q', bench.base);
    await writeFile(`${bench.base}/.gitignore`, 'node_modules\n/work/out\n');
    await bench.write('node_modules/m', '1');
    await bench.write('out/o', '1');
    await bench.write('src/s', '1');
    const files = await bench.turn(({ shell }) =>
      shell('printf 2 > node_modules/m; printf 2 > out/o; printf 2 > src/s; printf 2 > ../beside'),
    );
    expect(bench.changed(files)).toEqual({ 'src/s': 'modified' });
    expect(files.coverage).toBe('full');
  });

  it('reads a root that the repository around it ignores', async () => {
    const bench = await aBench();
    bench.git('init -q', bench.base);
    await writeFile(`${bench.base}/.gitignore`, '*\n');
    await bench.write('a', '1');
    const files = await bench.turn(({ shell }) => shell('printf 2 > a'));
    expect(bench.changed(files)).toEqual({ a: 'modified' });
  });

  it('names repositories inside the folder and never adds them', async () => {
    const bench = await aBench();
    await bench.write('vendor/lib/f', '1');
    bench.git('init -q', bench.path('vendor/lib'));
    bench.git('add .', bench.path('vendor/lib'));
    bench.git('commit -qm one', bench.path('vendor/lib'));
    await mkdir(bench.path('fresh'));
    bench.git('init -q', bench.path('fresh'));
    await bench.write('a', '1');
    const before = fingerprint(bench.path('vendor/lib'));
    const files = await bench.turn(({ shell }) => shell('printf 2 > a; printf 2 > vendor/g'));
    expect(files.coverage).toBe('partial');
    expect(files.reason).toBe('Repositories inside the folder are left alone: fresh, vendor/lib');
    expect(bench.changed(files)).toEqual({ a: 'modified', 'vendor/g': 'added' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(fingerprint(bench.path('vendor/lib'))).toBe(before);
  });

  it('keeps only what own tools wrote past its budget, and says so', async () => {
    const bench = await aBench({ limits: { files: 5 } });
    for (let index = 0; index < 6; index += 1) await bench.write(`f${index}`, '1');
    const files = await bench.turn(async ({ shell, tool }) => {
      await shell('printf 2 > f0');
      await tool(['f1'], () => bench.write('f1', '2'));
    });
    expect(files).toMatchObject({
      coverage: 'partial',
      reason: 'The folder has more than 5 files',
    });
    expect(bench.changed(files)).toEqual({ f1: 'modified' });
    const bytes = await aBench({ limits: { bytes: 1024 * 1024 } });
    await bytes.write('big', 'x'.repeat(1024 * 1024 + 1));
    const over = await bytes.turn(({ shell }) => shell('printf 2 > big'));
    expect(over).toMatchObject({ coverage: 'partial', changed: [] });
    const slow = await aBench({ limits: { beforeMs: 0 } });
    await slow.write('a', '1');
    const late = await slow.turn(({ tool }) => tool(['a'], () => slow.write('a', '2')));
    expect(late.coverage).toBe('partial');
    expect(slow.changed(late)).toEqual({ a: 'modified' });
  });

  it('leaves a file that is too big out and names it', async () => {
    const bench = await aBench({ limits: { fileBytes: 1024 * 1024 } });
    await bench.write('big.iso', 'x'.repeat(1024 * 1024 + 1));
    await bench.write('a', '1');
    const files = await bench.turn(({ shell }) => shell('printf 2 > a; printf 2 > big.iso'));
    expect(files.reason).toBe('Files over 1 MiB are left out: big.iso');
    expect(bench.changed(files)).toEqual({ a: 'modified' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, 'all');
    expect(bench.text('big.iso')).toBe('2');
  });

  it('keeps what own tools wrote where there is no git', async () => {
    const bench = await aBench({ environment: { PATH: '/nowhere' } });
    await bench.write('a', '1', 0o600);
    const files = await bench.turn(async ({ tool, shell }) => {
      await tool(['a', 'new/b'], async () => {
        await bench.write('a', '2');
        await bench.write('new/b', '2');
      });
      await shell('printf 2 > c');
    });
    expect(files.coverage).toBe('partial');
    expect(files.reason).toContain('git was not found');
    expect(bench.changed(files)).toEqual({ a: 'modified', 'new/b': 'added' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.text('a'), bench.mode('a'), bench.exists('new')]).toEqual(['1', 0o600, false]);
  });

  it('goes on after a git that was killed and left its lock', async () => {
    const bench = await aBench();
    await bench.write('a', '1');
    await bench.turn(({ shell }) => shell('printf 2 > a'));
    const [gitDir = ''] = readdirSync(path.join(bench.store, 'session-1', 'git'));
    await writeFile(path.join(bench.store, 'session-1', 'git', gitDir, 'index.lock'), '');
    const files = await bench.turn(({ shell }) => shell('printf 3 > a'));
    expect(files).toMatchObject({ coverage: 'full' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(bench.text('a')).toBe('2');
  });

  it('goes on after its index was spoiled, and after it was made only in part', async () => {
    const bench = await aBench();
    await bench.write('a', '1');
    await bench.turn(({ shell }) => shell('printf 2 > a'));
    const [name = ''] = readdirSync(path.join(bench.store, 'session-1', 'git'));
    const gitDir = path.join(bench.store, 'session-1', 'git', name);
    await writeFile(path.join(gitDir, 'index'), 'DIRC spoiled');
    const files = await bench.turn(({ shell }) => shell('printf 3 > a'));
    expect(files).toMatchObject({ coverage: 'full' });
    await bench.checkpoints.restore({ kind: 'turns', turns: [files] }, []);
    expect(bench.text('a')).toBe('2');
    await bench.checkpoints.dispose();
    bench.shell(`rm ${gitDir}/HEAD ${gitDir}/pilothouse-ready`);
    await bench.restart();
    const again = await bench.turn(({ shell }) => shell('printf 4 > a'));
    expect(again).toMatchObject({ coverage: 'full' });
    expect(bench.changed(again)).toEqual({ a: 'modified' });
  });

  it('ends git and everything below it when the turn is stopped', async () => {
    const bench = await aBench();
    const fake = path.join(bench.base, 'bin');
    await mkdir(fake);
    await writeFile(`${fake}/git`, `#!/bin/sh\nsleep 97 &\necho $! > ${bench.base}/pid\nwait\n`);
    chmodSync(`${fake}/git`, 0o755);
    const slow = await aBench({ environment: { PATH: `${fake}:${process.env['PATH']}` } });
    const stop = new AbortController();
    const turnId = 'stopped' as TurnId;
    const effect = { turnId, toolCallId: 'c' as never, paths: [] };
    const keeping = slow.checkpoints.beforeEffect(effect, stop.signal);
    const pid = await eventually(() => {
      const file = `${bench.base}/pid`;
      return existsSync(file) ? Number(readFileSync(file, 'utf8')) || null : null;
    });
    stop.abort({ kind: 'cancelled' });
    await keeping;
    await eventually(() => (runs(pid) ? null : true));
    const ended = await slow.checkpoints.endTurn(turnId);
    // Nothing ran in it any more, so nothing that has to be kept is lacking.
    expect(ended).toMatchObject({ files: { coverage: 'partial', changed: [] }, lacks: null });
  });

  it('covers all roots of a session', async () => {
    const bench = await aBench();
    const other = path.join(bench.base, 'other');
    await mkdir(other);
    await writeFile(`${other}/b`, '1');
    await bench.write('a', '1');
    const both = bench.open('two-roots', [bench.root, other]);
    const files = await bench.turn(
      ({ shell }) => shell('printf 2 > a; printf 2 > ../other/b'),
      both,
    );
    expect(files.changed.map(({ path: file }) => file)).toEqual([
      path.join(other, 'b'),
      bench.path('a'),
    ]);
    await both.restore({ kind: 'turns', turns: [files] }, []);
    expect([bench.text('a'), readFileSync(`${other}/b`, 'utf8')]).toEqual(['1', '1']);
    await both.dispose();
  });

  it('refuses paths outside the roots, and says that it does not know them', async () => {
    const bench = await aBench();
    await writeFile(`${bench.base}/outside`, '1');
    const files = await bench.turn(({ tool }) =>
      tool(['../outside'], () => writeFile(`${bench.base}/outside`, '2')),
    );
    expect(files).toMatchObject({ coverage: 'partial', changed: [] });
    expect(files.reason).toContain('outside');
  });

  it('costs nothing where a turn has no effect', async () => {
    const bench = await aBench();
    expect(await bench.checkpoints.endTurn('none' as TurnId)).toBe(null);
    expect(existsSync(bench.store)).toBe(false);
  });

  it('says that a turn with effects changed nothing', async () => {
    const bench = await aBench();
    await bench.write('a', '1');
    const files = await bench.turn(({ shell }) => shell('touch a; cat a'));
    expect(files).toMatchObject({ coverage: 'full', changed: [] });
  });

  it('lets two sessions work in one folder at the same time', async () => {
    const bench = await aBench();
    await bench.write('a', '1');
    await bench.write('b', '1');
    const other = bench.open('session-2');
    const [one, two] = await Promise.all([
      bench.turn(({ tool }) => tool(['a'], () => bench.write('a', '2'))),
      bench.turn(({ tool }) => tool(['b'], () => bench.write('b', '2')), other),
    ]);
    await bench.checkpoints.restore({ kind: 'turns', turns: [one] }, []);
    await other.restore({ kind: 'turns', turns: [two] }, []);
    expect([bench.text('a'), bench.text('b')]).toEqual(['1', '1']);
    await other.dispose();
  });

  it('plans while a snapshot is taken', async () => {
    const bench = await aBench();
    await bench.write('a', '1');
    const files = await bench.turn(({ shell }) => shell('printf 2 > a'));
    const effect = { turnId: 'next' as TurnId, toolCallId: 'n' as never, paths: [] };
    const [, plan] = await Promise.all([
      bench.checkpoints.beforeEffect(effect, new AbortController().signal),
      bench.checkpoints.plan({ kind: 'turns', turns: [files] }),
    ]);
    expect(plan.files).toHaveLength(1);
  });

  it('does not look at the data folder when that lies in the workspace', async () => {
    const bench = await aBench();
    await bench.write('work/a', '1');
    const all = bench.open('around', [bench.base]);
    const files = await bench.turn(async ({ shell }) => shell('printf 2 > work/a'), all);
    expect(files.changed.map(({ path: file }) => file)).toEqual([bench.path('work/a')]);
    await all.dispose();
  });

  it('is gone with its session, and only that', async () => {
    const bench = await aBench();
    await bench.write('a', '1');
    const other = bench.open('session-2');
    await bench.turn(({ shell }) => shell('printf 2 > a'));
    await bench.turn(({ shell }) => shell('printf 3 > a'), other);
    await bench.checkpoints.dispose();
    await deleteCheckpoints(bench.store, 'session-1' as never);
    await deleteCheckpoints(bench.store, '../../work' as never);
    expect(readdirSync(bench.store)).toEqual(['session-2']);
    expect(bench.text('a')).toBe('3');
    await other.dispose();
  });
});

async function eventually<T>(look: () => T | null): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** True for a process that runs; a zombie nobody has reaped yet does not. */
function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
