import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('a running session', () => {
  const { pilothouse, file } = usePilothouse(async (folder) => {
    await writeFile(`${folder}/greet.txt`, 'one\ntwo\nthree\nfour\n');
    return {};
  });
  const { chat } = pilothouse;
  const keys = (...all: string[]) => pilothouse.window.pressKeys(...all);
  /** A statement whose command runs until `go(name)` creates that file. */
  const waitForFile = (name: string) => `run until [ -e ${name} ]; do sleep 0.05; done`;
  const go = (name: string) => writeFile(file(name), '');

  afterEach(() => pilothouse.calm());

  it('is steered from the composer, and its final answer follows', async () => {
    await pilothouse.newCodeSession();
    await chat.send(waitForFile('go-steer'), 'say after the step', 'finish with the old answer');
    await chat.waitForActivity('Working');
    await chat.send('finish with the new answer');
    await chat.waitForPending(/finish with the new answer/, 'after this step');
    await go('go-steer');
    expect(await chat.waitForReply(/the new answer/)).not.toContain('the old answer');
    await chat.waitForActivity('Ready');
    expect(await chat.prompts()).toMatch(/Steered[\s\S]*after the tools ran/);
    expect(await chat.pendingTexts()).toEqual([]);
    // The untouched twin.
    await chat.send('run true', 'finish with the old answer');
    await chat.waitForReply(/the old answer/);
  });

  it('is steered from a selection, and reads the lines it is about', async () => {
    await pilothouse.newCodeSession();
    await chat.send(waitForFile('go-lines'), 'finish with the old answer');
    await chat.waitForActivity('Working');
    await pilothouse.window.editors.open('greet.txt');
    await keys('Control+Home', 'ArrowDown', 'Shift+ArrowDown');
    await pilothouse.window.runCommand('Pilothouse: Steer Here');
    const { page } = pilothouse.window;
    const box = page.locator('.review-widget .comment-form .monaco-editor');
    await box.waitFor();
    await until('the keyboard in the inline input', () =>
      page.evaluate(() => document.activeElement?.closest('.comment-form') !== null),
    );
    await page.keyboard.insertText('finish with steered by lines');
    await page.locator('.review-widget').getByRole('button', { name: 'Steer' }).first().click();
    await chat.waitForPending(/steered by lines/, 'after this step');
    await go('go-lines');
    await chat.waitForReply(/steered by lines/);
    expect(await chat.prompts()).toMatch(/Steered[\s\S]*greet\.txt/);
  });

  it('is interrupted in a batch: what had not begun leaves no file', async () => {
    await pilothouse.newSession();
    await chat.send(
      'together: write first.txt: one ; write second.txt: two',
      'finish with both written',
    );
    await chat.waitForQuestion('Write first.txt');
    await chat.type('finish with nothing written');
    await keys('Control+Enter');
    await chat.waitForReply(/nothing written/);
    await chat.waitForActivity('Ready');
    expect(await chat.replies()).not.toContain('both written');
    expect(existsSync(file('first.txt'))).toBe(false);
    expect(existsSync(file('second.txt'))).toBe(false);
    expect(await chat.prompts()).toContain('Interrupted');
    // The untouched twin.
    await chat.choose('Mode', 'Code');
    await chat.send('together: write first.txt: one ; write second.txt: two', 'finish with again');
    await chat.waitForReply(/again/);
    expect(await readFile(file('second.txt'), 'utf8')).toBe('two');
  });

  it('queues messages, which are edited, reordered and sent in that order', async () => {
    await pilothouse.newCodeSession();
    await chat.send(waitForFile('go-queue'), 'finish with first turn');
    await chat.waitForActivity('Working');
    for (const text of ['finish with A', 'finish with B', 'finish with C']) {
      await chat.type(text);
      await keys('Alt+Enter');
      await chat.waitForQueued(new RegExp(`${text}$`));
    }
    const row = (text: string) => chat.queuedRow(text);
    await (await row('finish with C')).getByRole('button', { name: 'Edit' }).focus();
    await keys('Alt+ArrowUp');
    await until('C before B', async () => (await chat.queuedTexts())[1] === 'finish with C');
    await (await row('finish with A')).getByRole('button', { name: 'Edit' }).click();
    await pilothouse.window.page.keyboard.insertText(' edited');
    await keys('Enter');
    await chat.waitForQueued(/^finish with A edited$/);
    expect(await chat.queuedTexts()).toEqual([
      'finish with A edited',
      'finish with C',
      'finish with B',
    ]);
    await go('go-queue');
    await chat.waitForReply(/A edited[\s\S]*\bC\b[\s\S]*\bB\b/);
    await until('an empty queue', async () => (await chat.queuedTexts()).length === 0);
  });

  it('keeps the queue and pauses it when it is stopped by Esc twice (A16)', async () => {
    await pilothouse.newCodeSession();
    await chat.send(waitForFile('never-made'), 'finish with never');
    await chat.waitForActivity('Working');
    await chat.type('finish with kept for later');
    await keys('Alt+Enter');
    await chat.waitForQueued(/kept for later/);
    await (await chat.composer()).click();
    await keys('Escape', 'Escape');
    await chat.waitForReply('Stopped by you');
    await chat.waitForText(/Paused because you pressed Stop/);
    expect(await chat.queuedTexts()).toEqual(['finish with kept for later']);
    expect(await chat.replies()).not.toContain('kept for later');
    await chat.press('Resume Queue');
    await chat.waitForReply(/kept for later/);
  });

  it('stops one step on its card, and the turn goes on', async () => {
    await pilothouse.newCodeSession();
    await chat.send(waitForFile('never-made'), 'finish with went on');
    const card = await chat.card(waitForFile('never-made').slice('run '.length));
    await card.getByRole('button', { name: /^Stop / }).click();
    await chat.waitForReply(/went on/);
    expect(await card.textContent()).toContain('Stopped');
  });

  it('takes a steer from the palette, and takes it back', async () => {
    await pilothouse.newCodeSession();
    await chat.send(waitForFile('go-back'), 'finish with as planned');
    await chat.waitForActivity('Working');
    await pilothouse.window.runCommand('Pilothouse: Steer…');
    await pilothouse.window.quickInput.type('finish with as steered');
    await pilothouse.window.quickInput.accept();
    await chat.waitForPending(/as steered/, 'after this step');
    await chat.press('Take Back');
    await until('nothing pending', async () => (await chat.pendingTexts()).length === 0);
    await go('go-back');
    expect(await chat.waitForReply(/as planned/)).not.toContain('as steered');
    expect(await chat.text()).not.toContain('not delivered');
  });
});
