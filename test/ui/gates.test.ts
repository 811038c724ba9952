import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  ASK,
  AUTH,
  CONVERSATION,
  DIFF,
  IDLE,
  PERMISSION,
  RUNNING,
  reset,
} from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

const WAITING = { ...RUNNING, activity: 'waiting' } as const;

/** Waits until the cards have stood in their places long enough to be answered. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('.gate vscode-button[aria-disabled="true"]') === null,
  );
}

describe('permissions', () => {
  test('show what is asked, with its diff, and each is answered by its own buttons', () =>
    inChat(
      async ({ tell, page, said }) => {
        const second = { ...PERMISSION, gateId: 'g9', title: 'Write src/greet.ts', diffs: [DIFF] };
        await tell(reset({ status: WAITING, gates: [PERMISSION, second] }));
        const write = page.getByRole('group', { name: 'Write src/greet.ts' });
        expect(await write.textContent()).toContain('Good day');
        await write.getByRole('button', { name: 'Reject' }).click();
        await page
          .getByRole('group', { name: 'Run a command' })
          .getByRole('button', { name: 'Allow Once' })
          .click();
        expect(await said('answer')).toEqual([
          { type: 'answer', gateId: 'g9', optionId: 'reject_once' },
          { type: 'answer', gateId: 'g1', optionId: 'allow_once' },
        ]);
      },
      { height: 1000 },
    ));

  test('are answered by Alt and a digit, from the composer too, and never twice', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: WAITING, gates: [PERMISSION] }));
      await page.getByRole('textbox', { name: 'Message' }).click();
      await settled(page);
      await page.keyboard.press('Alt+3');
      await page.keyboard.press('Alt+1');
      expect(await said('answer')).toEqual([
        { type: 'answer', gateId: 'g1', optionId: 'reject_once' },
      ]);
    }));

  test('are not answered by the second half of a double click on the card before', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: WAITING, gates: [PERMISSION] }));
      await settled(page);
      await page.getByRole('button', { name: 'Allow Once' }).click();
      const next = { ...PERMISSION, gateId: 'next' };
      await tell({ type: 'gates', gates: [next] });
      const button = page.locator('[data-gate="next"]').getByRole('button', { name: 'Allow Once' });
      await button.click({ force: true, timeout: 500 });
      await page.keyboard.press('Alt+1');
      expect(await said('answer')).toHaveLength(1);
      await settled(page);
      await page.evaluate(() =>
        window.dispatchEvent(
          new KeyboardEvent('keydown', { code: 'Digit1', altKey: true, repeat: true }),
        ),
      );
      expect(await said('answer')).toHaveLength(1);
      await button.click();
      expect((await said('answer')).at(-1)).toMatchObject({ gateId: 'next' });
    }));

  test('that move into the place of an answered one wait as well', () =>
    inChat(async ({ tell, page, said }) => {
      const second = { ...PERMISSION, gateId: 'second' };
      await tell(reset({ status: WAITING, gates: [PERMISSION, second] }));
      await settled(page);
      await page.getByRole('button', { name: 'Allow Once' }).first().click();
      await tell({ type: 'gates', gates: [second] });
      const button = page.getByRole('button', { name: 'Allow Once' });
      await button.click({ force: true, timeout: 500 });
      expect(await said('answer')).toHaveLength(1);
      await button.click();
      expect(await said('answer')).toHaveLength(2);
    }));

  test('that were answered elsewhere vanish, and the focus goes on to the composer', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: WAITING, gates: [PERMISSION] }));
      await page.getByRole('button', { name: 'Allow Once' }).focus();
      await tell({ type: 'gates', gates: [] });
      expect(await page.getByRole('button', { name: 'Allow Once' }).count()).toBe(0);
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    }));

  test('do not come back with the conversation; their answer is a line of it', () =>
    inChat(
      async ({ tell, page }) => {
        await tell(reset({ status: WAITING, gates: [PERMISSION] }));
        await tell(reset({ status: IDLE, items: CONVERSATION, gates: [] }));
        expect(await page.locator('.gate').count()).toBe(0);
        expect(await page.locator('.row-answer').textContent()).toContain('allowed by you');
      },
      { height: 1300 },
    ));

  test('whose answer failed say so and can be answered again', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: WAITING, gates: [PERMISSION] }));
      await page.getByRole('button', { name: 'Allow Once' }).click();
      await tell({
        type: 'answer_failed',
        gateId: 'g1',
        error: 'The connection was lost. Try again.',
      });
      expect(await page.getByRole('alert').textContent()).toContain('connection was lost');
      await page.getByRole('button', { name: 'Allow Once' }).click();
      expect(await said('answer')).toHaveLength(2);
    }));

  test('are brought into focus by a reveal', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: WAITING, gates: [ASK, PERMISSION] }));
      await tell({ type: 'reveal', id: 'g1' });
      const focused = page.locator('[data-gate="g1"] vscode-button:focus');
      expect(await focused.textContent()).toBe('Allow Once');
    }));
});

describe('questions', () => {
  test('are a form that checks its fields and sends what the schema wants', () =>
    inChat(
      async ({ tell, page, said }) => {
        await tell(reset({ status: WAITING, gates: [ASK] }));
        const answer = page.getByRole('button', { name: 'Answer' });
        await answer.click();
        expect(await page.getByRole('alert').allTextContents()).toEqual([
          'This field is required.',
          'This field is required.',
        ]);
        expect(await said('answer')).toEqual([]);
        await page.getByRole('textbox', { name: 'Wording' }).fill('Good day');
        await page.getByRole('radio', { name: 'Warm' }).check();
        await page.getByRole('textbox', { name: 'How often' }).fill('5');
        await answer.click();
        expect(await page.getByRole('alert').allTextContents()).toEqual(['Enter 3 or less.']);
        await page.getByRole('textbox', { name: 'How often' }).fill('2');
        await page.getByText('German').click();
        await answer.click();
        expect(await said('answer')).toEqual([
          {
            type: 'answer',
            gateId: 'g2',
            content: {
              wording: 'Good day',
              tone: 'warm',
              times: 2,
              languages: ['German'],
              shout: false,
            },
          },
        ]);
      },
      { height: 1100 },
    ));

  test('of one text field are answered by Enter, and can be declined', () =>
    inChat(async ({ tell, page, said }) => {
      const gate = {
        ...ASK,
        schema: {
          type: 'object',
          properties: { answer: { type: 'string' } },
          required: ['answer'],
        },
      };
      await tell(reset({ status: WAITING, gates: [gate, { ...gate, gateId: 'other' }] }));
      await page.getByRole('textbox', { name: 'answer' }).first().fill('42');
      await settled(page);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Decline' }).last().click();
      expect(await said('answer')).toEqual([
        { type: 'answer', gateId: 'g2', content: { answer: '42' } },
        { type: 'answer', gateId: 'other', declined: true },
      ]);
    }));
});

test('a sign-in opens its page and goes on or is cancelled', () =>
  inChat(async ({ tell, page, said }) => {
    await tell(reset({ status: WAITING, gates: [AUTH] }));
    await page.getByRole('button', { name: 'Open Sign-in Page' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    expect((await said('open_link'))[0]?.href).toBe(AUTH.url);
    expect(await said('answer')).toEqual([{ type: 'answer', gateId: 'g3', content: {} }]);
  }));

describe('Stop', () => {
  test('reads "Stopping…" until its turn has ended, and a second press sends nothing', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: RUNNING }));
      await page.getByRole('button', { name: 'Stop' }).click();
      const stopping = page.getByRole('button', { name: 'Stopping…' });
      await stopping.click({ force: true });
      await tell({ type: 'status', status: { ...RUNNING, usage: null } });
      expect(await stopping.count()).toBe(1);
      expect(await said('stop')).toHaveLength(1);
      await tell({ type: 'status', status: IDLE });
      expect(await page.getByRole('button', { name: /^Stop/ }).count()).toBe(0);
    }));
});
