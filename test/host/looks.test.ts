import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ENGLISH } from '../../media/chat/strings.ts';
import { writePseudoExtension } from '../support/l10n/pseudo.mjs';
import { shownText, until } from '../vscode/driver/until.ts';
import { checkout } from '../vscode/install/paths.ts';
import { type Pilothouse, usePilothouse } from './support/pilothouse.ts';

const script = [
  'plan: Look around; Write a note; Check it',
  'think A note for the teapot needs a name.',
  'say "# A heading\\n\\nSome **bold** text, `code`, a [link](https://example.com) and a list:\\n\\n- one\\n- two\\n\\n```ts\\nconst tea = brew(3);\\n```"',
  'write "notes/a note with a rather long name.txt": "The first line\\nThe second line"',
  'finish with The note is written.',
];
/** As the theme picker calls them. */
const themes = [
  ['dark', 'Dark Modern'],
  ['light', 'Light Modern'],
  ['high-contrast', 'Dark High Contrast'],
  ['high-contrast-light', 'Light High Contrast'],
] as const;
const question = 'Write notes/a note with a rather long name.txt';

/** Nothing of the chat is cut off at its right edge. */
const isWhole = (frame: Frame) =>
  frame.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

const shoot = (pilothouse: Pilothouse, name: string) =>
  pilothouse.window.screenshot(join(checkout, 'test/output/looks', name));

describe('the views', () => {
  const { pilothouse } = usePilothouse();
  const { chat } = pilothouse;
  const vscode = () => pilothouse.window;

  async function chooseTheme(label: string): Promise<void> {
    await vscode().runCommand('Preferences: Color Theme');
    await vscode().quickInput.type(label);
    await vscode().quickInput.pick(label);
    await vscode().quickInput.waitUntilClosed();
  }

  it('are whole in every theme and when they are narrow', async () => {
    await pilothouse.sessions();
    await vscode().runCommand('Pilothouse: Focus Chat');
    await chat.waitForEmpty('No session yet');
    await shoot(pilothouse, 'empty');
    await pilothouse.newSession();
    await shoot(pilothouse, 'new');
    await chat.send('fail with 400', 'say never');
    await chat.waitForReply('Failed');
    await shoot(pilothouse, 'error');
    await pilothouse.newSession();
    await chat.send(...script);
    await chat.waitForQuestion(question);
    const backgrounds = new Set<string>();
    for (const [name, label] of themes) {
      await chooseTheme(label);
      const seen = await until(`the theme ${label}`, async () => {
        const body = (await chat.frame()).locator('body');
        const background = await body.evaluate((element) =>
          [
            element.className,
            getComputedStyle(element).getPropertyValue('--vscode-foreground'),
          ].join(),
        );
        return !backgrounds.has(background) && background;
      });
      backgrounds.add(seen);
      await shoot(pilothouse, `approval-${name}`);
      expect(await isWhole(await chat.frame())).toBe(true);
    }
    await chooseTheme('Dark Modern');
    const box = await vscode().page.locator('.part.auxiliarybar').boundingBox();
    const edge = { x: (box?.x ?? 0) - 1, y: 400 };
    await vscode().page.mouse.move(edge.x, edge.y);
    await vscode().page.mouse.down();
    await vscode().page.mouse.move(edge.x + 40, edge.y);
    await vscode().page.mouse.move(edge.x + 95, edge.y);
    await vscode().page.mouse.up();
    await until('a narrow chat', async () => {
      return (await (await chat.frame()).evaluate(() => window.innerWidth)) < 200;
    });
    expect(await isWhole(await chat.frame())).toBe(true);
    await shoot(pilothouse, 'approval-narrow');
    await chat.answer(question, 'Allow once');
    await chat.waitForReply('The note is written.');
    await shoot(pilothouse, 'done-narrow');
    expect(await isWhole(await chat.frame())).toBe(true);
  });
});

const texts = z.record(z.string(), z.string());

/** Each text of the chat's own that is on the screen, untranslated. */
async function untranslated(frame: Frame): Promise<string[]> {
  const shown = await frame.locator('body').evaluate((body) => {
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? '';
      if (text !== '' && !['SCRIPT', 'STYLE'].includes(node.parentElement?.tagName ?? ''))
        found.push(text);
    }
    for (const element of body.querySelectorAll('[title], [aria-label], [placeholder]'))
      for (const name of ['title', 'aria-label', 'placeholder'])
        found.push(element.getAttribute(name) ?? '');
    return found;
  });
  const english = new Set(Object.values(ENGLISH));
  return shown.filter((text) => english.has(text));
}

const languages = [
  { locale: 'de', extension: async () => checkout, same: ['Plan', 'Agent'] },
  { locale: 'qps-ploc', extension: writePseudoExtension, same: [] },
];

describe.each(languages)('the texts in $locale', ({ locale, extension, same }) => {
  let folder = '';
  const { pilothouse } = usePilothouse(async () => {
    folder = await extension();
    return { locale, extensionDevelopmentPaths: [folder] };
  });

  it('are translated', async () => {
    const read = async (name: string) =>
      texts.parse(JSON.parse(await readFile(join(folder, name), 'utf8')));
    const nls = await read(`package.nls.${locale}.json`);
    await pilothouse.sessions();
    const welcome = (nls['welcome.empty'] ?? '').split('\n')[0] ?? '';
    const shownWelcome = async () =>
      shownText(pilothouse.window.page.locator('.welcome-view-content').first());
    await until(
      'the welcome text',
      async () => (await shownWelcome()).includes(welcome.slice(0, 40)),
      {
        saw: shownWelcome,
      },
    );
    await shoot(pilothouse, `empty-${locale}`);
    await pilothouse.window.runCommand(`${nls['category']}: ${nls['command.newSession']}`);
    const frame = await pilothouse.chat.frame();
    await frame.locator('.activity-idle').waitFor();
    const left = async () => (await untranslated(frame)).filter((text) => !same.includes(text));
    await until('a translated page', async () => (await left()).length === 0, { saw: left });
    await shoot(pilothouse, `new-${locale}`);
    await frame.locator('textarea').click();
    await pilothouse.window.page.keyboard.insertText(script.join('\n'));
    await pilothouse.window.pressKeys('Enter');
    await frame.locator('.gate').waitFor();
    expect(await left()).toEqual([]);
    expect(await isWhole(frame)).toBe(true);
    await shoot(pilothouse, `approval-${locale}`);
    await frame.locator('.gate vscode-button').first().click();
    await frame.locator('.row-turn_end').waitFor();
    expect(await left()).toEqual([]);
    await shoot(pilothouse, `done-${locale}`);
  });
});
