import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Frame } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { shownText, until } from '../vscode/driver/until.ts';
import { usePilothouse } from './support/pilothouse.ts';

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n');

describe('the history of a session', () => {
  const { pilothouse, file } = usePilothouse(async (folder) => {
    await writeFile(`${folder}/bytes.bin`, Buffer.from([0, 13, 10, 255, 7]));
    await writeFile(`${folder}/crlf.txt`, 'one\r\ntwo\r\n');
    await writeFile(`${folder}/mine.txt`, 'as it was\n');
    await writeFile(`${folder}/long.txt`, `${LINES}\n`);
    return {};
  });
  const { chat } = pilothouse;
  const text = (name: string) => readFile(file(name), 'utf8');
  const dialogs = () => pilothouse.window.dialogs;
  const toasts = () => pilothouse.window.notifications;

  afterEach(async () => {
    await pilothouse.calm();
    await pilothouse.window.runCommand('View: Close All Editors');
  });

  /** Opens the menu of a message by its text and chooses an entry. */
  const choose = async (message: string, entry: string) => {
    const frame = await chat.frame();
    const row = frame.locator('.row-user', { hasText: message }).last();
    await row.getByRole('button', { name: 'Message Actions' }).click();
    await frame.getByRole('menuitem', { name: entry }).click();
  };

  const receipts = (): Promise<Frame> =>
    pilothouse.window.webview({
      extensionId: 'pilothouse.pilothouse',
      containing: '.receipts-bar',
    });

  it('rolls back from the menu of a message: the bytes are back, and redo brings them again', async () => {
    await pilothouse.newCodeSession();
    await chat.send('write fresh.txt: first', 'finish with the first turn');
    await chat.waitForReply('the first turn');
    await chat.send(
      'run printf changed > bytes.bin; printf more >> crlf.txt; rm mine.txt',
      'write fresh.txt: second',
      'finish with the second turn',
    );
    await chat.waitForReply('the second turn');
    await chat.waitForActivity('Ready');
    expect(existsSync(file('mine.txt'))).toBe(false);

    await choose('the second turn', 'Roll Back to Before This…');
    const asked = await dialogs().waitFor(/Roll back to before/);
    expect(asked).toMatch(/bytes\.bin \(put back, binary\)/);
    expect(asked).toMatch(/mine\.txt \(created again\)/);
    await pilothouse.window.editors.waitForTab(/Preview: Roll Back/);
    await dialogs().click('Roll Back');
    await toasts().waitFor(/Rolled back\. 4 files were put back/);
    expect([...(await readFile(file('bytes.bin')))]).toEqual([0, 13, 10, 255, 7]);
    expect(await text('crlf.txt')).toBe('one\r\ntwo\r\n');
    expect(await text('mine.txt')).toBe('as it was\n');
    expect(await text('fresh.txt')).toBe('first');
    await chat.waitForReply('Rolled back to here.');
    expect(await chat.replies()).not.toContain('the second turn');
    await until('the prompt in the composer', async () =>
      (await (await chat.composer()).inputValue()).includes('the second turn'),
    );

    await chat.press('Redo');
    await dialogs().waitFor(/Redo what was rolled back/);
    await dialogs().click('Redo');
    await chat.waitForReply('the second turn');
    expect(await text('bytes.bin')).toBe('changed');
    expect(await text('fresh.txt')).toBe('second');
    expect(existsSync(file('mine.txt'))).toBe(false);
    await until('an empty composer', async () => {
      return (await (await chat.composer()).inputValue()) === '';
    });
    await writeFile(file('mine.txt'), 'as it was\n');
  });

  it('leaves what was changed since, unless told otherwise', async () => {
    await pilothouse.newCodeSession();
    await chat.send('write mine.txt: by the agent', 'finish with both written');
    await chat.waitForReply('both written');
    await chat.waitForActivity('Ready');
    await writeFile(file('mine.txt'), 'by me\n');
    await choose('both written', 'Restore Files to Before This…');
    expect(await dialogs().waitFor(/Restore files/)).toMatch(
      /This file was changed since[\s\S]*mine\.txt/,
    );
    await dialogs().click('Restore, Skip That File');
    await toasts().waitFor(/Left as it is: mine\.txt \(.*changed since/);
    expect(await text('mine.txt')).toBe('by me\n');
    await choose('both written', 'Restore Files to Before This…');
    await dialogs().waitFor(/Restore files/);
    await dialogs().click('Restore, Overwrite It');
    await until('the file as it was', async () => (await text('mine.txt')) === 'as it was\n');
    // Only files went back.
    expect(await chat.replies()).toContain('both written');
  });

  it('forks before a message, and leaves the parent as it was', async () => {
    await pilothouse.newCodeSession();
    await chat.send('finish with what stays');
    await chat.waitForReply('what stays');
    await chat.send('finish with what goes');
    await chat.waitForReply('what goes');
    await chat.waitForActivity('Ready');
    const parent = await chat.shown();
    await choose('what goes', 'Fork from Here');
    await until('the fork in the chat', async () => (await chat.shown()) !== parent);
    await chat.waitForReply('what stays');
    await toasts().waitFor(/This is a fork[\s\S]*files on disk stay as they are/);
    // A copy knows no durations.
    const end = (await chat.frame()).getByText(/^Finished/).last();
    expect((await shownText(end)).trim()).toBe('Finished');
    expect(await chat.replies()).not.toContain('what goes');
    await until('the message in the composer', async () =>
      (await (await chat.composer()).inputValue()).includes('finish with what goes'),
    );
    await pilothouse.window.pressKeys('Control+A', 'Delete');
    await chat.send('finish with the other way');
    await chat.waitForReply('the other way');
  });

  it('takes messages out of the conversation, and offers Stop where a turn runs', async () => {
    await pilothouse.newCodeSession();
    await chat.send('write kept.txt: kept', 'finish with what stays');
    await chat.waitForReply('what stays');
    await chat.send('count slowly from 1 to 2000');
    await chat.waitForActivity('Working');
    await choose('count slowly', 'Remove from Here On…');
    await dialogs().waitFor(/A turn is running/);
    // The next question follows in the same place.
    const { page } = pilothouse.window;
    await page.locator('.monaco-dialog-box').getByText('Stop and Go On', { exact: true }).click();
    await dialogs().waitFor(/Remove .*count slowly/);
    await dialogs().click('Remove');
    await chat.waitForReply('The messages that followed were removed');
    expect(await chat.prompts()).not.toContain('count slowly');
    expect(await text('kept.txt')).toBe('kept');
    await until('the message in the composer', async () =>
      (await (await chat.composer()).inputValue()).includes('count slowly'),
    );
    await pilothouse.window.pressKeys('Control+A', 'Delete');
  });

  it('leaves a receipt of Stop that the timeline shows, and verifies whole', async () => {
    await pilothouse.newSession();
    await pilothouse.window.runCommand('Pilothouse: Show Receipts');
    const frame = await receipts();
    await frame.getByText('No receipts yet').waitFor();
    await chat.send('count slowly from 1 to 2000');
    await chat.waitForActivity('Working');
    await chat.press('Stop');
    await chat.waitForActivity('Ready');
    const stop = frame.locator('.receipt', { hasText: 'Stop' }).first();
    await stop.waitFor();
    expect(await shownText(stop)).toMatch(/Stop\s*stopped[\s\S]*VS Code \(owner\)/);
    await frame.getByRole('button', { name: 'Verify' }).click();
    await frame.locator('.verified-whole').waitFor();
    expect(await shownText(frame.locator('.verified'))).toMatch(
      /Conversation: whole[\s\S]*Receipts: whole/,
    );
    await frame.getByRole('combobox', { name: 'Status' }).selectOption('rejected');
    await frame.getByText('No receipt matches the filter').waitFor();
  });

  it('keeps one staged change and discards another; the file holds just that', async () => {
    await pilothouse.newCodeSession();
    await chat.pressOption('Stage Edits');
    await toasts().waitFor(/Edits are staged from now on/);
    await chat.send(
      'replace "line 3\\n" with "line three\\n" in long.txt',
      'replace "line 25\\n" with "line twenty-five\\n" in long.txt',
      'write staged.txt: new',
      'finish with all staged',
    );
    await chat.waitForReply('all staged');
    await chat.waitForActivity('Ready');
    expect(await text('long.txt')).toBe(`${LINES}\n`);
    expect(existsSync(file('staged.txt'))).toBe(false);
    await chat.waitForText(/2 staged files/);
    await chat.press('Review');
    const { editors } = pilothouse.window;
    await editors.waitForTab(/^Staged: /);
    // The unfolded rows decide about each, its title about all.
    const changes = pilothouse.window.tree('Changes');
    await changes.waitFor('Staged: Not Written Yet');
    await changes.waitFor('Line 3');
    await changes.waitFor('Line 25');
    await changes.action('Line 3', 'Keep This Staged Change');
    await until('the kept change on disk', async () =>
      (await text('long.txt')).includes('line three'),
    );
    expect(await text('long.txt')).toBe(`${LINES.replace('line 3\n', 'line three\n')}\n`);
    // What is on the disk now is a change of the session at once: staged it has one left, so both stand there.
    await until(
      'long.txt as staged and as changed',
      async () => (await changes.rows()).filter(({ label }) => label === 'long.txt').length === 2,
    );
    // The last change of a file stands at the file itself.
    await changes.action('long.txt', 'Discard Staged File');
    await chat.waitForText(/1 staged file/);
    await changes.waitFor('long.txt', ({ level }) => level === 1);
    // One file opens in a diff of its own, where it can be decided; then its editor is closed.
    await pilothouse.window.runCommand('View: Close All Editors');
    await chat.press('Review');
    await editors.waitForTab('staged.txt (staged)');
    await editors.waitForText(/new/);
    expect(existsSync(file('staged.txt'))).toBe(false);
    await editors.titleAction('Keep Staged File');
    await until('the new file on disk', () => existsSync(file('staged.txt')));
    await until(
      'the editor is closed',
      async () => !(await editors.tabs()).includes('staged.txt (staged)'),
    );
    expect(await text('staged.txt')).toBe('new');
    expect(await text('long.txt')).toBe(`${LINES.replace('line 3\n', 'line three\n')}\n`);
    await changes.waitFor('staged.txt', ({ level }) => level === 1);

    await chat.send('write a.txt: a', 'write b.txt: b', 'finish with two more');
    await chat.waitForReply('two more');
    await chat.press('Review');
    await editors.waitForTab(/^Staged: /);
    await editors.titleAction('Keep All Staged Edits');
    await until('both on disk', () => existsSync(file('a.txt')) && existsSync(file('b.txt')));
    await until(
      'the review is closed',
      async () => !(await editors.tabs()).some((tab) => tab.startsWith('Staged: ')),
    );
    await chat.pressOption('Stage Edits');
    await toasts().waitFor(/Edits are written at once/);
  });
});
