import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { checkout } from '../vscode/install/paths.ts';
import { usePilothouse } from './support/pilothouse.ts';

const modelProvider = fileURLToPath(new URL('model-provider-extension', import.meta.url));

const lines = (...changed: readonly [at: number, text: string][]) => {
  const all = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
  for (const [at, text] of changed) all[at - 1] = text;
  return `${all.join('\n')}\n`;
};

describe('the files of a session', () => {
  const { pilothouse, file } = usePilothouse(async (folder) => {
    await mkdir(`${folder}/a b`);
    await writeFile(`${folder}/a b/ü (1).txt`, 'tea\n');
    await writeFile(`${folder}/notes.txt`, lines());
    await writeFile(`${folder}/dirty.txt`, 'saved text\n');
    return { extensionDevelopmentPaths: [checkout, modelProvider] };
  });
  const { chat } = pilothouse;
  const editors = () => pilothouse.window.editors;

  afterEach(async () => {
    await pilothouse.calm();
    await pilothouse.window.runCommand('View: Close All Editors');
  });

  it('are mentioned with spaces, parentheses and umlauts, and reach the agent whole', async () => {
    await pilothouse.newSession();
    await chat.choose('Model', 'Scripted One');
    await chat.type('look at @ü');
    await chat.suggest(/ü \(1\)\.txt/);
    await pilothouse.window.pressKeys('Enter');
    // This model says back what it was given.
    const said = await chat.waitForReply(/Attached: ü \(1\)\.txt \(file:[^)]*\)/);
    const link = /Attached: .* \((file:.*)\)/.exec(said)?.[1] ?? '';
    expect(fileURLToPath(link)).toBe(file('a b/ü (1).txt'));
    await chat.waitForActivity('Ready');
    await pilothouse.window.runCommand('Pilothouse: Open Transcript');
    await editors().waitForText(/Attached: .*ü \(1\)\.txt/);
    await chat.press('Open ü (1).txt');
    await editors().waitForTab('ü (1).txt');
    await editors().waitForText(/^tea/);
  });

  it('show as a diff of a tool call, and as a multi-diff, where one hunk is undone', async () => {
    await pilothouse.newCodeSession();
    await chat.send(
      'replace "line 3\\n" with "line three\\n" in notes.txt',
      'replace "line 30\\n" with "line thirty\\n" in notes.txt',
      'write fresh.txt: fresh',
      'finish with three changes',
    );
    await chat.waitForReply('three changes');
    const card = await chat.card('Edit notes.txt');
    await card.getByRole('button', { name: /in Diff Editor/ }).click();
    await editors().waitForTab(/notes\.txt \(this step\)/);
    expect(await readFile(file('notes.txt'), 'utf8')).toBe(
      lines([3, 'line three'], [30, 'line thirty']),
    );
    await editors().waitForText(/line 30\n[\s\S]*line thirty\n/);

    await pilothouse.window.runCommand('Pilothouse: Show Changes');
    await editors().waitForTab(/^Changes: /);
    const entries = pilothouse.window.page.locator('.multiDiffEntry');
    await entries.filter({ hasText: 'fresh.txt' }).waitFor();
    await entries.filter({ hasText: 'notes.txt' }).waitFor();

    await pilothouse.sessions();
    const changes = pilothouse.window.tree('Changes');
    await changes.unfold();
    await changes.expand('notes.txt');
    await changes.waitFor('Line 30');
    expect((await changes.rows()).map(({ label }) => label)).toEqual([
      'fresh.txt',
      'notes.txt',
      'Line 3',
      'Line 30',
    ]);
    await changes.action('Line 3', 'Undo This Change');
    await changes.waitUntilGone('Line 3');
    await until('line 3 as it was', async () => {
      return (await readFile(file('notes.txt'), 'utf8')) === lines([30, 'line thirty']);
    });
    expect(await readFile(file('fresh.txt'), 'utf8')).toBe('fresh');

    await editors().open('notes.txt');
    await pilothouse.window.runCommand('Go to Line/Column...');
    await pilothouse.window.quickInput.type(':30');
    await pilothouse.window.quickInput.accept();
    await editors().clickLens('Undo This Change');
    await until('the whole file as it was', async () => {
      return (await readFile(file('notes.txt'), 'utf8')) === lines();
    });
    await changes.waitUntilGone('notes.txt');
    await changes.action('fresh.txt', 'Keep All Changes in This File');
    await changes.waitUntilGone('fresh.txt');
    expect(await changes.message()).toBe('All changes of this session are reviewed.');
    expect(await readFile(file('fresh.txt'), 'utf8')).toBe('fresh');
  });

  it('are read and written through the editor where they are open and unsaved', async () => {
    await editors().open('dirty.txt');
    await pilothouse.window.pressKeys('Control+End');
    await pilothouse.window.page.keyboard.insertText('typed and not saved');
    expect(await readFile(file('dirty.txt'), 'utf8')).toBe('saved text\n');
    await pilothouse.newCodeSession();
    await chat.send(
      'read dirty.txt',
      'replace "and not saved" with "and then changed" in dirty.txt',
      'finish with both seen',
    );
    await chat.waitForReply('both seen');
    const card = await chat.card('Read dirty.txt');
    await card.locator('.tool-head').click();
    await until('the unsaved text in the card', async () =>
      (await card.textContent())?.includes('typed and not saved'),
    );
    await editors().waitForText(/saved text\ntyped and then changed/);
    expect(await readFile(file('dirty.txt'), 'utf8')).toBe('saved text\ntyped and then changed');
  });

  it('come with a transcript that has an outline, folds and lenses, and that follows', async () => {
    await pilothouse.newCodeSession();
    await chat.send('write first.txt: 1', 'finish with the end of the first turn');
    await chat.waitForReply('the end of the first turn');
    await pilothouse.window.runCommand('Pilothouse: Open Transcript');
    await editors().waitForText(/## Turn 1[\s\S]*the end of the first turn/);
    await until(
      'lenses',
      async () => {
        const found = (await editors().lenses()).join();
        return /Open in Chat/.test(found) && /Show Changes/.test(found) && /Copy/.test(found);
      },
      { saw: () => editors().lenses() },
    );

    await pilothouse.window.runCommand('Go to Symbol in Editor...');
    await until(
      'the outline',
      async () =>
        (await pilothouse.window.quickInput.entries()).some(({ label }) => /Turn 1/.test(label)),
      { saw: () => pilothouse.window.quickInput.entries() },
    );
    await pilothouse.window.screenshot('transcript-outline');
    await pilothouse.window.quickInput.cancel();

    await pilothouse.window.runCommand('Fold All');
    await until(
      'folded lines',
      async () => !/the end of the first turn/.test(await editors().text()),
      { saw: () => editors().text() },
    );
    await pilothouse.window.runCommand('Unfold All');

    await chat.send('say early in the second turn', 'count slowly from 1 to 2000');
    await chat.waitForActivity('Working');
    await pilothouse.window.runCommand('View: Focus Active Editor Group');
    const end = async (wanted: RegExp) => {
      await pilothouse.window.pressKeys('Control+End');
      const text = await editors().text();
      return wanted.test(text) && text;
    };
    await until('the second turn', async () => end(/early in the second turn/), {
      saw: () => editors().text(),
    });
    await until('the number 10', async () => end(/\b10\b/), { saw: () => editors().text() });
    await chat.waitForActivity('Working');
    await pilothouse.window.screenshot('transcript-follows');
    await chat.press('Stop');
    await pilothouse.window.runCommand('View: Focus Active Editor Group');
    await until('the end', async () => end(/Turn 2 ended/), { saw: () => editors().text() });
  });
});
