import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('a workspace of several folders', () => {
  const { pilothouse, file } = usePilothouse(async (folder) => {
    for (const root of ['first', 'second']) {
      await mkdir(`${folder}/${root}`);
      await writeFile(`${folder}/${root}/in-${root}.txt`, `${root}\n`);
    }
    const workspace = `${folder}/both.code-workspace`;
    const folders = [{ path: 'first' }, { path: 'second' }];
    await writeFile(workspace, JSON.stringify({ folders }));
    return { workspace };
  });
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  async function sessionWrites(name: string, before: string): Promise<void> {
    await chat.waitForNew(before);
    await chat.choose('Mode', 'Code');
    await chat.send(`write ${name}: here`, 'finish with written');
    await chat.waitForReply('written');
  }

  it('asks where a session shall work, the active editor’s folder first, and shows it', async () => {
    await window().editors.open('in-second.txt');
    await window().runCommand('Pilothouse: New Session');
    await window().quickInput.waitFor();
    const [top, below] = await until('both folders', async () => {
      const entries = await window().quickInput.entries();
      return entries.length === 2 && entries;
    });
    expect(top).toMatchObject({ label: 'second', description: 'folder of the active editor' });
    expect(below).toMatchObject({ label: 'first', description: '' });
    await window().quickInput.accept();
    await sessionWrites('asked.txt', '');
    expect(existsSync(file('second/asked.txt'))).toBe(true);
    expect(existsSync(file('first/asked.txt'))).toBe(false);

    const before = await chat.shown();
    await window().runCommand('Pilothouse: New Session');
    await window().quickInput.pick('first');
    await sessionWrites('chosen.txt', before);
    expect(existsSync(file('first/chosen.txt'))).toBe(true);

    const sessions = await pilothouse.sessions();
    const inFolder = (name: string, root: string) =>
      sessions.waitFor(`write ${name}: here`, ({ description }) => description.startsWith(root));
    await inFolder('asked.txt', 'second');
    await inFolder('chosen.txt', 'first');
  });
});
