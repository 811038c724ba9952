import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOnHost } from '../../../src/core/tools/run/host-executables.ts';
import { ToolBench, textOf } from '../../support/tools/tool-bench.ts';

const ripgrep = await findOnHost('rg', process.env);

describe.each([
  ['our own', false],
  ...(ripgrep === null ? [] : [['ripgrep', true] as const]),
] as const)('search with %s engine', (_name, useRipgrep) => {
  let bench: ToolBench;
  beforeEach(async () => {
    bench = await ToolBench.create({ ripgrep: useRipgrep });
    await mkdir(bench.path('src/deep'), { recursive: true });
    await mkdir(bench.path('.git'));
    await mkdir(bench.path('node_modules'));
    const files: Record<string, string | Uint8Array> = {
      '.gitignore': 'node_modules\n*.log\n!keep.log\n',
      '.hidden': 'needle hidden\n',
      '.env': 'needle=secret\n',
      '.git/config': 'needle\n',
      'node_modules/x.js': 'needle\n',
      'a.log': 'needle\n',
      'keep.log': 'needle kept\n',
      'a b.txt': 'x\r\nNeedle and needle\r\n',
      'bin.dat': Buffer.from('needle\0\x01\x02'),
      'src/a.ts': 'const needle = "a.b";\nconst other = "axb";\n',
      'src/.gitignore': 'ignored.ts\n',
      'src/ignored.ts': 'needle\n',
      'src/deep/.ignore': '!ignored.ts\n',
      'src/deep/ignored.ts': 'needle unignored\n',
      'src/ü.md': 'needle ü\n',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(bench.path(name), text);
    await symlink(bench.base, bench.path('up'));
  });
  afterEach(() => bench.dispose());

  it('honours nested ignore files, and leaves out binaries, secrets, links and .git', async () => {
    expect(await bench.text('search', { pattern: 'needle' })).toBe(
      [
        '.hidden:1:needle hidden',
        'a b.txt:2:Needle and needle',
        'keep.log:1:needle kept',
        'src/a.ts:1:const needle = "a.b";',
        'src/deep/ignored.ts:1:needle unignored',
        'src/ü.md:1:needle ü',
      ].join('\n'),
    );
  });

  it('reads a pattern as an expression unless it is literal', async () => {
    expect(await bench.text('search', { pattern: 'a.b"', path: 'src' })).toMatch(
      /a\.ts:1[\s\S]*a\.ts:2/,
    );
    expect(await bench.text('search', { pattern: 'a.b"', path: 'src', literal: true })).toBe(
      'src/a.ts:1:const needle = "a.b";',
    );
    expect(await bench.text('search', { pattern: '(?i)NEEDLE AND' })).toContain('a b.txt:2');
    expect(textOf(await bench.call('search', { pattern: '(unclosed' }))).toMatch(
      /pattern|expression/,
    );
    expect(await bench.text('search', { pattern: 'nowhere to be found' })).toBe('No matches.');
  });

  it('takes a glob and a single file', async () => {
    expect(await bench.text('search', { pattern: 'needle', glob: '*.ts' })).not.toContain('.md');
    expect(await bench.text('search', { pattern: 'needle', glob: 'src/*.md' })).toBe(
      'src/ü.md:1:needle ü',
    );
    expect(await bench.text('search', { pattern: 'needle', path: 'keep.log' })).toBe(
      'keep.log:1:needle kept',
    );
  });

  it('stops at its limit, cuts long lines and says so', async () => {
    await writeFile(bench.path('many.txt'), `hit ${'x'.repeat(2000)}\n`.repeat(500));
    const text = await bench.text('search', { pattern: 'hit' });
    const lines = text.split('\n');
    expect(lines).toHaveLength(201);
    expect(lines[0]?.endsWith('…')).toBe(true);
    expect(lines.at(-1)).toMatch(/first 200 matches/);
  });

  it('ends when it is stopped', async () => {
    const stopped = AbortSignal.abort();
    expect((await bench.call('search', { pattern: 'needle' }, stopped)).status).toBe('failed');
  });
});

describe('search with our own engine', () => {
  it('is not hung by a pattern that takes forever', async () => {
    const bench = await ToolBench.create({ ripgrep: false });
    try {
      await writeFile(bench.path('a.txt'), `${'a'.repeat(40)}!\n`);
      const outcome = await bench.call('search', { pattern: '^(a+)+$' });
      expect(textOf(outcome)).toMatch(/too long to match/);
    } finally {
      await bench.dispose();
    }
  });
});
