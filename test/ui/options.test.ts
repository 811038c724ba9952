import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ChatStatus } from '../../src/protocol/chat.ts';
import { IDLE, PERMISSION, RUNNING, reset } from './support/samples.ts';
import type { ThemeName } from './support/themes.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

const SHOTS = join(import.meta.dirname, '../output/ui');

const select = (
  id: string,
  name: string,
  currentValue: string,
  ...choices: readonly [value: string, name: string][]
): ChatStatus['options'][number] => ({
  id,
  name,
  category: id === 'thought_level' ? id : `_pilothouse_${id}`,
  type: 'select',
  currentValue,
  options: choices.map(([value, label]) => ({ value, name: label })),
});

/** As a session of the agent offers them. */
function options(judge: string): ChatStatus['options'] {
  return [
    ...IDLE.options,
    select('thought_level', 'Thinking', 'medium', ['medium', 'Medium'], ['high', 'High']),
    select('budget', 'Budget', 'standard', ['standard', 'Standard']),
    select('judge', 'Completion judge', judge, ['off', 'No judge'], ['same', 'The same model']),
    select('checkpoints', 'Checkpoints', 'best_effort', ['best_effort', 'Best effort']),
    select('gate_timeout', 'Questions', 'off', ['off', 'Wait until answered'], ['60', '1 minute']),
  ];
}

const status = (judge: string): ChatStatus => ({ ...IDLE, options: options(judge) });

const more = (page: Page) => page.getByRole('button', { name: /^More Options/ });

/** What sticks out of the composer, the panel or the page. */
function overflowing(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.composer-box, .more-panel')].flatMap((box) => {
      const { left, right } = box.getBoundingClientRect();
      return [...box.querySelectorAll('button, select, .picker')]
        .filter(
          (one) => one.closest('.more-panel') === box || !box.contains(one.closest('.more-panel')),
        )
        .filter((one) => {
          const at = one.getBoundingClientRect();
          return at.width > 0 && (at.left < left || at.right > right || at.right > innerWidth);
        })
        .map((one) => one.className || one.tagName);
    }),
  );
}

describe('the options of a session', () => {
  for (const width of [215, 360])
    for (const theme of ['dark', 'light', 'high-contrast'] as const satisfies ThemeName[])
      test(`leave the chat its room and overflow nothing at ${width} px (${theme})`, () =>
        inChat(
          async ({ tell, page }) => {
            const waiting = { ...RUNNING, activity: 'waiting', options: options('same') } as const;
            await tell(reset({ status: waiting, gates: [PERMISSION] }));
            const height = await page.locator('.composer-bar').evaluate((bar) => bar.clientHeight);
            expect(height).toBeLessThan(60);
            const answer = page.locator('.gates vscode-button').first();
            expect(await answer.evaluate((one) => one.getBoundingClientRect().bottom)).toBeLessThan(
              640,
            );
            expect(await overflowing(page)).toEqual([]);
            await mkdir(SHOTS, { recursive: true });
            await page.screenshot({ path: join(SHOTS, `options-${theme}-${width}.png`) });
            await more(page).click();
            expect(await overflowing(page)).toEqual([]);
            await page.screenshot({ path: join(SHOTS, `options-open-${theme}-${width}.png`) });
          },
          { width, theme },
        ));

  test('stand behind one button with their values, marked where one is not as usual', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: status('off') }));
      const names = (list: string[]) => list.filter((one) => one !== '');
      const row = page.locator('.composer-start').getByRole('combobox');
      const shown = await row.evaluateAll((all) => all.map((one) => one.ariaLabel ?? ''));
      expect(names(shown)).toEqual(['Mode', 'Model', 'Thinking']);
      expect(await more(page).getAttribute('aria-label')).toBe('More Options');
      expect(await page.locator('.more-dot').count()).toBe(0);
      await more(page).click();
      const panel = page.getByRole('dialog', { name: 'More Options' });
      await panel.getByRole('combobox', { name: 'Completion judge' }).selectOption('same');
      expect((await said('set_option')).at(-1)).toMatchObject({ configId: 'judge', value: 'same' });
      await tell({ type: 'status', status: status('same') });
      expect(await panel.isVisible()).toBe(true);
      expect(await more(page).getAttribute('aria-label')).toBe(
        'More Options (Completion judge: The same model)',
      );
      expect(await page.locator('.more-dot').count()).toBe(1);
    }));

  test('are reached and left by keyboard, and Escape there stops nothing', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, options: options('off') } }));
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
      await more(page).focus();
      await page.keyboard.press('Enter');
      expect(await focused()).toBe('Budget (from the next turn)');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Completion judge (from the next turn)');
      await page.keyboard.press('Escape');
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(await focused()).toBe('More Options');
      expect(await said('stop')).toEqual([]);
      await more(page).click();
      await more(page).click();
      expect(await page.getByRole('dialog').count()).toBe(0);
    }));
});
