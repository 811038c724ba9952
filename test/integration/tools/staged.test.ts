import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { StagedFiles } from '../../../src/core/host/staged/staged-files.ts';
import type { DocumentFiles } from '../../../src/core/session/tool.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import { OWNER } from '../../support/engine/a-session.ts';
import { created } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';
import { type JournaledSession, stagedFilesOf } from '../../support/tools/staging-session.ts';
import { ToolBench } from '../../support/tools/tool-bench.ts';

const ID = 'staged' as SessionId;

let folder: string;
let bench: ToolBench;
let staged: StagedFiles;
let session: JournaledSession;
let close: () => Promise<void>;

const documents = (): DocumentFiles => ({
  readText: async (file) => bench.documents.get(file) ?? null,
  writeText: async (file, text) => {
    const open = bench.documents.has(file);
    if (open) bench.documents.set(file, text);
    return open;
  },
});

/** Opens the store as a new process does, and rebuilds what is staged from it. */
async function open(): Promise<void> {
  const journal = await openTestJournal(folder);
  close = () => journal.close();
  if ((await journal.session(ID)) === null) await journal.append(ID, [created(bench.cwd)]);
  ({ staged, session } = await stagedFilesOf(journal, ID, bench.workspace, documents()));
  bench.staging = staged;
}

beforeEach(async () => {
  folder = await temporaryFolder();
  bench = await ToolBench.create();
  onTestFinished(() => bench.dispose());
  await open();
  onTestFinished(() => close());
  await session.started('call');
  await staged.setMode('staged', OWNER);
});

const bytes = (name: string): Promise<Buffer | null> =>
  readFile(bench.path(name)).catch(() => null);

describe('staged file mode', () => {
  it('leaves the disk as it is until a commit, which writes what a write at once would have written', async () => {
    const crlf = Buffer.from('\uFEFFone\r\ntwo\r\n');
    await writeFile(bench.path('bom.txt'), crlf);
    await chmod(bench.path('bom.txt'), 0o751);
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('héllo\r\n', 'utf16le')]);
    await writeFile(bench.path('wide.txt'), utf16);
    const latin = Buffer.from('caf\xe9\n', 'latin1');
    await writeFile(bench.path('latin.txt'), latin);

    expect(await bench.text('edit', { path: 'bom.txt', old_text: 'two', new_text: '2\n3' })).toBe(
      'Edited bom.txt at line 2: staged, not on disk yet. Read and edit see it; list, search and commands do not until a person commits it.',
    );
    await bench.text('edit', { path: 'wide.txt', old_text: 'llo', new_text: 'y' });
    await bench.text('write', { path: 'latin.txt', text: 'th\xe9\n' });
    const made = await bench.call('write', { path: 'deep/new.txt', text: 'new\n' });
    expect(made).toMatchObject({ status: 'completed', rawOutput: { staged: true } });

    expect(await bytes('bom.txt')).toEqual(crlf);
    expect(await bytes('wide.txt')).toEqual(utf16);
    expect(await bytes('latin.txt')).toEqual(latin);
    expect(await bytes('deep')).toBeNull();
    await expect(stat(bench.path('deep'))).rejects.toThrow('ENOENT');

    expect(await staged.commit(undefined, OWNER)).toEqual({
      committedPaths: ['bom.txt', 'deep/new.txt', 'latin.txt', 'wide.txt'].map((name) =>
        bench.path(name),
      ),
      failedPathsWithReasons: [],
    });
    expect(await bytes('bom.txt')).toEqual(Buffer.from('\uFEFFone\r\n2\r\n3\r\n'));
    expect((await stat(bench.path('bom.txt'))).mode & 0o777).toBe(0o751);
    expect(await bytes('wide.txt')).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('héy\r\n', 'utf16le')]),
    );
    expect(await bytes('latin.txt')).toEqual(Buffer.from('th\xe9\n', 'latin1'));
    expect(await bytes('deep/new.txt')).toEqual(Buffer.from('new\n'));
    expect(staged.paths()).toEqual([]);
  });

  it('writes at once when it is off', async () => {
    await staged.setMode('immediate', OWNER);
    expect(await bench.text('write', { path: 'a.txt', text: 'x' })).toBe(
      'Created a.txt (1 lines).',
    );
    expect(await bytes('a.txt')).toEqual(Buffer.from('x'));
  });

  it('shows staged texts to read and edit, and says to the other tools what they do not see', async () => {
    await bench.text('write', { path: 'a.txt', text: 'needle\n' });
    await bench.text('edit', { path: 'a.txt', old_text: 'needle', new_text: 'needles' });
    expect(await bench.text('read', { path: 'a.txt' })).toBe(
      'needles\n\n[This text is staged, not on disk yet.]',
    );
    const note = /\[The changes of 1 file are staged, not on disk yet: /;
    expect(await bench.text('list', { path: '.' })).toMatch(note);
    const found = await bench.text('search', { pattern: 'needle' });
    expect(found).toMatch(/^No matches\./);
    expect(found).toMatch(note);
    expect(await bench.text('run', { command: 'cat a.txt || echo none' })).toMatch(note);
    await staged.discard(undefined, OWNER);
    expect(await bench.text('list', { path: '.' })).not.toMatch(note);
  });

  it('leaves no trace on the disk when it is discarded', async () => {
    await writeFile(bench.path('a.txt'), 'old');
    await bench.text('write', { path: 'a.txt', text: 'new' });
    await bench.text('write', { path: 'b/c.txt', text: 'new' });
    expect(await staged.discard([bench.path('b/c.txt')], OWNER)).toEqual([bench.path('b/c.txt')]);
    expect(staged.paths()).toEqual([bench.path('a.txt')]);
    expect(await staged.discard(undefined, OWNER)).toEqual([bench.path('a.txt')]);
    expect(await bytes('a.txt')).toEqual(Buffer.from('old'));
    expect(await bytes('b')).toBeNull();
    await expect(staged.discard([bench.path('a.txt')], OWNER)).rejects.toMatchObject({
      refusal: 'not_staged',
    });
  });

  it('refuses what could not be written later', async () => {
    await writeFile(bench.path('x.bin'), Buffer.from([0, 1, 2, 0, 255, 3, 0]));
    expect(await bench.refusal('write', { path: 'x.bin', text: 'text' })).toContain('binary file');
    await writeFile(bench.path('latin.txt'), Buffer.from('caf\xe9\n', 'latin1'));
    await bench.text('write', { path: 'latin.txt', text: 'ok\n' });
    const odd = await bench.call('write', { path: 'latin.txt', text: '漢字\n' });
    expect(odd.status).toBe('failed');
    expect(staged.staged(bench.path('latin.txt'))?.text).toBe('ok\n');
  });

  it('keeps a file staged whose disk is not as it was, and commits the others', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt']) {
      await writeFile(bench.path(name), 'old');
      await bench.text('write', { path: name, text: `new ${name}` });
    }
    await writeFile(bench.path('b.txt'), 'changed by the person');
    await mkdir(bench.path('elsewhere'));
    await writeFile(bench.path('elsewhere/c.txt'), 'old');
    await bench.text('run', { command: 'rm c.txt && ln -s elsewhere/c.txt c.txt' });
    await chmod(bench.path('d.txt'), 0o444);
    const listed = await staged.list();
    expect(listed.map(({ changedSince }) => changedSince)).toEqual([false, true, true, false]);

    const result = await staged.commit(undefined, OWNER);
    expect(result.committedPaths).toEqual(
      process.getuid?.() === 0 ? [bench.path('a.txt'), bench.path('d.txt')] : [bench.path('a.txt')],
    );
    expect(result.failedPathsWithReasons.slice(0, 2)).toEqual([
      { path: bench.path('b.txt'), reason: 'changed_since' },
      { path: bench.path('c.txt'), reason: 'changed_since' },
    ]);
    expect(await bytes('b.txt')).toEqual(Buffer.from('changed by the person'));
    expect(await bytes('elsewhere/c.txt')).toEqual(Buffer.from('old'));
    expect(staged.paths()).toContain(bench.path('b.txt'));
  });

  it('does not follow a folder that became a link to outside', async () => {
    await bench.text('write', { path: 'sub/a.txt', text: 'new' });
    await mkdir(`${bench.base}/outside`);
    await symlink(`${bench.base}/outside`, bench.path('sub'));
    expect(await staged.commit(undefined, OWNER)).toMatchObject({
      committedPaths: [],
      failedPathsWithReasons: [{ reason: 'outside_workspace' }],
    });
    await expect(readFile(`${bench.base}/outside/a.txt`)).rejects.toThrow('ENOENT');
  });

  it('writes through the editor where the document is open there', async () => {
    await writeFile(bench.path('a.txt'), 'saved');
    bench.documents.set(bench.path('a.txt'), 'typed');
    await bench.text('edit', { path: 'a.txt', old_text: 'typed', new_text: 'agreed' });
    expect(bench.documents.get(bench.path('a.txt'))).toBe('typed');
    await staged.commit(undefined, OWNER);
    expect(bench.documents.get(bench.path('a.txt'))).toBe('agreed');
    expect(await bytes('a.txt')).toEqual(Buffer.from('saved'));
  });

  it('keeps what is staged when the mode goes back, and stages further writes of those files', async () => {
    await bench.text('write', { path: 'a.txt', text: 'one' });
    expect(await staged.setMode('immediate', OWNER)).toBe('staged');
    expect(await bench.text('write', { path: 'a.txt', text: 'two' })).toContain('not on disk yet');
    await bench.text('write', { path: 'b.txt', text: 'two' });
    expect(await bytes('a.txt')).toBeNull();
    expect(await bytes('b.txt')).toEqual(Buffer.from('two'));
    expect(session.ephemeral.at(-1)).toEqual({
      type: 'staged_changed',
      mode: 'immediate',
      paths: [bench.path('a.txt')],
    });
  });

  it('loses nothing in a crash between staging and committing', async () => {
    await writeFile(bench.path('a.txt'), 'old');
    await bench.text('write', { path: 'a.txt', text: 'new' });
    await close();
    await open();
    expect(staged.mode).toBe('staged');
    expect(await bytes('a.txt')).toEqual(Buffer.from('old'));
    expect(await bench.text('read', { path: 'a.txt' })).toContain('new');
    await staged.commit(undefined, OWNER);
    expect(await bytes('a.txt')).toEqual(Buffer.from('new'));
    await close();
    await open();
    expect(staged.paths()).toEqual([]);
  });

  it('finds a commit done whose record a crash prevented', async () => {
    await bench.text('write', { path: 'a.txt', text: 'new' });
    session.crashBefore = 'staged_settled';
    await expect(staged.commit(undefined, OWNER)).rejects.toThrow('crashed');
    await close();
    await open();
    expect(await bytes('a.txt')).toEqual(Buffer.from('new'));
    expect(await staged.list()).toMatchObject([{ changedSince: false }]);
    expect((await staged.commit(undefined, OWNER)).committedPaths).toEqual([bench.path('a.txt')]);
  });

  it('journals a staged text before it counts', async () => {
    session.crashBefore = 'file_staged';
    await expect(bench.call('write', { path: 'a.txt', text: 'new' })).rejects.toThrow('crashed');
    expect(staged.paths()).toEqual([]);
  });

  it('keeps or discards a hunk of a file', async () => {
    await writeFile(bench.path('a.txt'), 'one\r\ntwo\r\n');
    await bench.text('write', { path: 'a.txt', text: 'ONE\nTWO\n' });
    const path = bench.path('a.txt');
    await staged.edit({ path, disk: 'ONE\r\ntwo\r\n', staged: 'ONE\r\nTWO\r\n' }, OWNER);
    expect(await bytes('a.txt')).toEqual(Buffer.from('ONE\r\ntwo\r\n'));
    expect(await staged.list()).toMatchObject([
      { base: 'ONE\r\ntwo\r\n', text: 'ONE\r\nTWO\r\n', changedSince: false },
    ]);
    await staged.edit({ path, staged: 'ONE\r\ntwo\r\n' }, OWNER);
    expect(staged.paths()).toEqual([]);
    await expect(staged.edit({ path, staged: 'x' }, OWNER)).rejects.toMatchObject({
      refusal: 'not_staged',
    });
  });

  it('does not write a hunk over what somebody else wrote', async () => {
    await writeFile(bench.path('a.txt'), 'one');
    await bench.text('write', { path: 'a.txt', text: 'two' });
    await writeFile(bench.path('a.txt'), 'other');
    const edit = { path: bench.path('a.txt'), disk: 'two', staged: 'two' };
    await expect(staged.edit(edit, OWNER)).rejects.toMatchObject({ refusal: 'fs_restore_error' });
    expect(await bytes('a.txt')).toEqual(Buffer.from('other'));
    expect(staged.paths()).toEqual([bench.path('a.txt')]);
  });

  it('removes a file when its staged deletion is committed, and tools see it gone before', async () => {
    await writeFile(bench.path('a.txt'), 'one');
    await bench.text('write', { path: 'a.txt', text: 'two' });
    await staged.edit({ path: bench.path('a.txt'), staged: null }, OWNER);
    const read = await bench.call('read', { path: 'a.txt' });
    expect(read.status).toBe('failed');
    expect(await bytes('a.txt')).toEqual(Buffer.from('one'));
    await staged.commit(undefined, OWNER);
    expect(await bytes('a.txt')).toBeNull();
  });
});
