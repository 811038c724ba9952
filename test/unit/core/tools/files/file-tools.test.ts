import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAtomically } from '../../../../../src/core/tools/files/atomic-write.ts';
import { openResolved } from '../../../../../src/core/tools/files/disk.ts';
import { PathError } from '../../../../../src/core/tools/files/resolve-path.ts';
import { ToolBench, textOf } from '../../../../support/tools/tool-bench.ts';

let bench: ToolBench;
beforeEach(async () => {
  bench = await ToolBench.create();
});
afterEach(() => bench.dispose());

const put = (name: string, bytes: string | Uint8Array): Promise<void> =>
  writeFile(bench.path(name), bytes);
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('read', () => {
  it('gives a whole text as it is, and a range by 1-based lines', async () => {
    await put('a.txt', 'one\ntwo\nthree\n');
    expect(await bench.text('read', { path: 'a.txt' })).toBe('one\ntwo\nthree');
    expect(await bench.text('read', { path: 'a.txt', line: 2, limit: 1 })).toBe(
      'two\n\n[Lines 2–2 of 3. Read on with line=3.]',
    );
    expect(textOf(await bench.call('read', { path: 'a.txt', line: 9 }))).toContain('3 lines');
  });

  it('cuts a long file between lines and says how to read on', async () => {
    const line = 'x'.repeat(99);
    await put('long.txt', `${line}\n`.repeat(5000));
    const text = await bench.text('read', { path: 'long.txt' });
    expect(text).toMatch(/\[Lines 1–1310 of 5000\. Read on with line=1311\.\]$/);
    expect(
      text
        .split('\n')
        .slice(0, 1310)
        .every((each) => each === line),
    ).toBe(true);
  });

  it('cuts a single endless line between characters', async () => {
    await put('min.js', '€'.repeat(100_000));
    const text = await bench.text('read', { path: 'min.js' });
    expect(text).toContain('too long');
    expect(text).not.toContain('\uFFFD');
  });

  it('reads a part of a huge file without reading the rest', async () => {
    await put('huge.txt', Array.from({ length: 600_000 }, (_, i) => `line ${i + 1} ü`).join('\n'));
    const text = await bench.text('read', { path: 'huge.txt', line: 300_000, limit: 2 });
    expect(text).toBe(
      'line 300000 ü\nline 300001 ü\n\n[Lines 300000–300001. Read on with line=300002.]',
    );
    const end = await bench.text('read', { path: 'huge.txt', line: 600_000 });
    expect(end).toBe('line 600000 ü');
  });

  it('decodes by mark and by content', async () => {
    await put('u16.txt', Buffer.from('\uFEFFgrün', 'utf16le'));
    await put('latin.txt', Buffer.from('grün', 'latin1'));
    await put('bom.txt', '\uFEFFgrün');
    for (const name of ['u16.txt', 'latin.txt', 'bom.txt'])
      expect(await bench.text('read', { path: name })).toBe('grün');
  });

  it('gives an image as an image, by its content', async () => {
    await put('picture.txt', PNG);
    const outcome = await bench.call('read', { path: 'picture.txt' });
    expect(outcome.parts[1]).toEqual({
      type: 'image',
      mimeType: 'image/png',
      data: PNG.toString('base64'),
    });
    expect(outcome.content[0]).toMatchObject({ type: 'content', content: { type: 'image' } });
  });

  it('refuses what is no text, and says what to do', async () => {
    await put('a.bin', Buffer.from([1, 0, 2, 0, 0, 0, 255]));
    await mkdir(bench.path('folder'));
    expect(textOf(await bench.call('read', { path: 'a.bin' }))).toMatch(
      /binary file of 7 bytes.*run tool/,
    );
    expect(textOf(await bench.call('read', { path: 'folder' }))).toMatch(/folder/);
    expect(textOf(await bench.call('read', { path: 'nothing' }))).toMatch(/no such file/);
    expect(await bench.refusal('read', { path: '/etc/passwd' })).toMatch(/outside the workspace/);
    expect(await bench.refusal('read', { path: 5 })).toMatch(/not valid[\s\S]*path/);
    expect(await bench.refusal('read', { path: 'a', line: 0 })).toMatch(/line/);
  });

  it('prefers the text in the editor', async () => {
    await put('a.txt', 'on disk');
    bench.documents.set(bench.path('a.txt'), 'in the editor');
    expect(await bench.text('read', { path: 'a.txt' })).toBe('in the editor');
  });
});

describe('write', () => {
  it('makes folders and shows a diff against nothing', async () => {
    const prepared = await bench.prepare('write', { path: 'new/deep/ü (1).txt', text: 'hello\n' });
    const file = bench.path('new/deep/ü (1).txt');
    const diff = { type: 'diff', path: file, oldText: null, newText: 'hello\n' };
    expect(prepared.preview.content).toEqual([diff]);
    expect(prepared.accesses).toEqual([{ kind: 'write', path: file }]);
    await expect(stat(bench.path('new'))).rejects.toThrow('ENOENT');
    const outcome = await prepared.run(bench.context());
    expect(outcome).toMatchObject({ status: 'completed', content: [diff] });
    expect(await readFile(file, 'utf8')).toBe('hello\n');
    expect(await readdir(path.dirname(file))).toEqual(['ü (1).txt']);
  });

  it('keeps mark, line ends, encoding and mode bits of a file', async () => {
    await put('a.sh', '\uFEFFa\r\nb\r\n');
    await chmod(bench.path('a.sh'), 0o751);
    await put('latin.txt', Buffer.from('grün\n', 'latin1'));
    await bench.text('write', { path: 'a.sh', text: 'x\ny\n' });
    await bench.text('write', { path: 'latin.txt', text: 'blüe\n' });
    expect(await readFile(bench.path('a.sh'))).toEqual(Buffer.from('\uFEFFx\r\ny\r\n'));
    expect((await stat(bench.path('a.sh'))).mode & 0o777).toBe(0o751);
    expect(await readFile(bench.path('latin.txt'))).toEqual(Buffer.from('blüe\n', 'latin1'));
    expect(textOf(await bench.call('write', { path: 'latin.txt', text: '€' }))).toMatch(/Latin-1/);
    expect(await readFile(bench.path('latin.txt'))).toEqual(Buffer.from('blüe\n', 'latin1'));
  });

  it('does not overwrite what somebody wrote while it waited for an answer, nor a file that came meanwhile', async () => {
    await put('a.txt', 'old');
    const known = await bench.prepare('write', { path: 'a.txt', text: 'new' });
    const fresh = await bench.prepare('write', { path: 'b.txt', text: 'new' });
    await put('a.txt', 'theirs');
    await put('b.txt', 'theirs too');
    for (const prepared of [known, fresh]) {
      const outcome = await prepared.run(bench.context());
      expect(outcome.status).toBe('failed');
      expect(textOf(outcome)).toMatch(/was changed while this call waited.*Read it again/);
    }
    expect(await readFile(bench.path('a.txt'), 'utf8')).toBe('theirs');
    expect(await readFile(bench.path('b.txt'), 'utf8')).toBe('theirs too');
    const again = await bench.prepare('write', { path: 'a.txt', text: 'new' });
    expect((await again.run(bench.context())).status).toBe('completed');
  });

  it('through a link inside the workspace changes what it leads to', async () => {
    await put('real.txt', 'old');
    await symlink('real.txt', bench.path('link.txt'));
    await bench.text('write', { path: 'link.txt', text: 'new' });
    expect(await readFile(bench.path('real.txt'), 'utf8')).toBe('new');
    expect((await lstat(bench.path('link.txt'))).isSymbolicLink()).toBe(true);
  });

  it('refuses a link that leads outside, also one that is made after the check', async () => {
    const outside = path.join(bench.base, 'outside');
    await mkdir(outside);
    await symlink(outside, bench.path('out'));
    expect(await bench.refusal('write', { path: 'out/x', text: '' })).toMatch(/outside/);
    await mkdir(bench.path('sub'));
    const prepared = await bench.prepare('write', { path: 'sub/x', text: 'secret' });
    await rename(bench.path('sub'), bench.path('sub2'));
    await symlink(outside, bench.path('sub'));
    const outcome = await prepared.run(bench.context());
    expect(outcome.status).toBe('failed');
    expect(await readdir(outside)).toEqual([]);
  });

  it('goes to the editor where the file is open', async () => {
    await put('a.txt', 'on disk');
    bench.documents.set(bench.path('a.txt'), 'dirty');
    await bench.text('write', { path: 'a.txt', text: 'new' });
    expect(bench.documents.get(bench.path('a.txt'))).toBe('new');
    expect(await readFile(bench.path('a.txt'), 'utf8')).toBe('on disk');
  });

  it('does not look at a protected file before it is allowed', async () => {
    await put('.env', 'KEY=1');
    const prepared = await bench.prepare('write', { path: '.env', text: 'KEY=2' });
    expect(JSON.stringify(prepared.preview)).not.toContain('KEY=1');
    expect(
      await bench.prepare('edit', { path: '.env', old_text: 'nope', new_text: '' }),
    ).toBeDefined();
  });
});

describe('edit', () => {
  it('keeps mark and CRLF of a file when the text comes with LF (A35)', async () => {
    await put('a.txt', '\uFEFFa\r\nb\r\n');
    const prepared = await bench.prepare('edit', {
      path: 'a.txt',
      old_text: 'a\n',
      new_text: 'x\ny\n',
    });
    expect(prepared.preview.content).toEqual([
      {
        type: 'diff',
        path: bench.path('a.txt'),
        oldText: 'a\r\nb\r\n',
        newText: 'x\r\ny\r\nb\r\n',
      },
    ]);
    await prepared.run(bench.context());
    expect(await readFile(bench.path('a.txt'))).toEqual(Buffer.from('\uFEFFx\r\ny\r\nb\r\n'));
  });

  it('keeps UTF-16', async () => {
    await put('a.txt', Buffer.from('\uFEFFa grün b', 'utf16le').swap16());
    await bench.text('edit', { path: 'a.txt', old_text: 'grün', new_text: 'rot' });
    expect(await readFile(bench.path('a.txt'))).toEqual(
      Buffer.from('\uFEFFa rot b', 'utf16le').swap16(),
    );
  });

  it('says what is wrong in a way that helps', async () => {
    await put('a.txt', 'let a = 1;\nlet b = 2;\nlet a = 1;\n');
    const refusal = (old_text: string, new_text = 'x') =>
      bench.refusal('edit', { path: 'a.txt', old_text, new_text });
    expect(await refusal('let a')).toMatch(/occurs 2 times.*lines 1, 3/);
    expect(await refusal('let b = 3;')).toMatch(/nearest lines[\s\S]*2: let b = 2;/);
    expect(await refusal('let  b = 2;')).toMatch(/Only white space/);
    expect(await refusal('let b', 'let b')).toMatch(/same/);
    expect(await refusal('')).toMatch(/empty/);
    expect(await bench.refusal('edit', { path: 'none', old_text: 'a', new_text: 'b' })).toMatch(
      /Use write/,
    );
  });

  it('can be two of one file that were prepared together', async () => {
    await put('a.txt', 'one\ntwo\n');
    const first = await bench.prepare('edit', { path: 'a.txt', old_text: 'one', new_text: '1' });
    const second = await bench.prepare('edit', { path: 'a.txt', old_text: 'two', new_text: '2' });
    await first.run(bench.context());
    await second.run(bench.context());
    expect(await readFile(bench.path('a.txt'), 'utf8')).toBe('1\n2\n');
  });
});

describe('the last moment before a file is used', () => {
  it('sees a folder that became a link', async () => {
    const outside = path.join(bench.base, 'outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'a'), 'secret');
    await symlink(outside, bench.path('sub'));
    await expect(openResolved(bench.path('sub', 'a'))).rejects.toThrow(PathError);
    await expect(writeAtomically(bench.path('sub', 'a'), Buffer.from('x'))).rejects.toThrow();
    expect(await readFile(path.join(outside, 'a'), 'utf8')).toBe('secret');
    expect(await readdir(outside)).toEqual(['a']);
  });

  it('leaves no temporary file behind when it fails', async () => {
    await mkdir(bench.path('a'));
    await expect(writeAtomically(bench.path('a'), Buffer.from('x'))).rejects.toThrow(PathError);
    expect(await readdir(bench.cwd)).toEqual(['a']);
  });
});

describe('list', () => {
  it('shows folders first, links, and what is ignored', async () => {
    await mkdir(bench.path('src'));
    await mkdir(bench.path('dist'));
    await put('.gitignore', 'dist\n*.log\n!keep.log\n');
    for (const name of ['b.txt', 'a.log', 'keep.log']) await put(name, '');
    await symlink('src', bench.path('link'));
    expect(await bench.text('list', {})).toBe(
      [
        'dist/  (ignored)',
        'src/',
        '.gitignore',
        'a.log  (ignored)',
        'b.txt',
        'keep.log',
        'link -> src',
      ].join('\n'),
    );
    expect(await bench.text('list', { path: 'src' })).toMatch(/empty/);
  });

  it('caps a large folder and says so', async () => {
    await mkdir(bench.path('many'));
    await Promise.all(Array.from({ length: 1010 }, (_, i) => put(`many/${i}`, '')));
    expect(await bench.text('list', { path: 'many' })).toMatch(/\[1000 of 1010 entries/);
  });
});

describe('the tools of a session', () => {
  it('have the names and arguments of the contract', async () => {
    expect(bench.toolNames).toEqual([
      'read',
      'write',
      'edit',
      'list',
      'search',
      'run',
      'process_start',
      'process_list',
      'process_output',
      'process_stop',
      'fetch',
      'plan',
      'ask',
      'delegate',
      'delegate_message',
      'delegate_list',
      'delegate_stop',
    ]);
    expect(bench.tool('edit').definition.inputSchema).toMatchObject({
      type: 'object',
      required: ['path', 'old_text', 'new_text'],
      properties: { replace_all: { type: 'boolean' } },
    });
  });

  it('ask with choices, and tell of a person who declines', async () => {
    bench.answer = { answer: 'b' };
    expect(await bench.text('ask', { question: 'Which?', choices: ['a', 'b'] })).toBe('b');
    expect(bench.asked[0]).toEqual({
      message: 'Which?',
      schema: {
        type: 'object',
        properties: { answer: { type: 'string', title: 'Answer', enum: ['a', 'b'] } },
        required: ['answer'],
      },
    });
    bench.answer = null;
    expect(await bench.text('ask', { question: 'Which?' })).toMatch(/declined/);
    expect(await bench.refusal('ask', { question: 'Which?', choices: ['a', 'a'] })).toMatch(
      /different/,
    );
  });

  it('set a plan with defaults', async () => {
    await bench.text('plan', {
      entries: [{ content: 'a' }, { content: 'b', status: 'completed', priority: 'high' }],
    });
    expect(bench.plan).toEqual([
      { content: 'a', status: 'pending', priority: 'medium' },
      { content: 'b', status: 'completed', priority: 'high' },
    ]);
  });
});
