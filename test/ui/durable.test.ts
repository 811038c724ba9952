import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ChatItem, ChatStatus } from '../../src/protocol/chat.ts';
import { IDLE, RUNNING, reset, tool } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

const box = (page: Page) => page.getByRole('textbox', { name: 'Message' });

const PROMPT: ChatItem = { kind: 'user', id: 'u1', at: 0, text: 'Do it', attachments: [] };
const INTERRUPTED: ChatItem = {
  kind: 'turn_end',
  id: 'e1',
  stopReason: 'cancelled',
  terminal: 'runtime_error',
  reason: 'Interrupted: the process ended while this turn was running',
  seconds: null,
};
const UNKNOWN = tool({
  id: 't1',
  status: 'outcome_unknown',
  toolKind: 'edit',
  title: 'Write a.txt',
});

describe('a turn that the agent process did not live to end', () => {
  test('says so, counts the steps to look at, and goes on by one click', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: [PROMPT, UNKNOWN, INTERRUPTED] }));
      const row = page.locator('.interrupted');
      expect(await row.textContent()).toContain('the session host ended during this turn');
      expect(await row.textContent()).toContain('whether 1 step took effect');
      expect(await page.locator('.tool').textContent()).toContain('Check before doing it again');
      expect(await page.getByText('Retry').count()).toBe(0);
      await row.locator('vscode-button').getByText('Continue').click();
      await row.locator('vscode-button').getByText('Show What Happened').click();
      expect((await said('command')).map(({ name }) => name)).toEqual([
        'continue',
        'show_transcript',
      ]);
    }));

  test('offers nothing once something followed, or while a turn runs', () =>
    inChat(async ({ tell, page }) => {
      const next: ChatItem = { ...PROMPT, id: 'u2' };
      await tell(reset({ items: [PROMPT, INTERRUPTED, next] }));
      expect(await page.locator('.interrupted').textContent()).toContain('Interrupted');
      expect(await page.locator('.interrupted vscode-button').count()).toBe(0);
      await tell(reset({ items: [PROMPT, INTERRUPTED], status: RUNNING }));
      expect(await page.locator('.interrupted vscode-button').count()).toBe(0);
    }));
});

describe('messages that the agent did not get to', () => {
  const held: ChatStatus = {
    ...IDLE,
    nextTurns: {
      paused: 'The agent restarted before these were sent',
      held: true,
      items: [
        { id: 'q1', text: 'first', attached: [] },
        { id: 'q2', text: 'second', attached: [] },
      ],
    },
  };

  test('are shown as not sent, with why, and each is sent, edited or removed', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: held }));
      const section = page.getByRole('region', { name: 'Not sent yet' });
      expect(await section.textContent()).toContain('The agent restarted before these were sent');
      const row = section.locator('.next-row').first();
      await row.getByRole('button', { name: 'Send', exact: true }).click();
      await row.getByRole('button', { name: 'Remove' }).click();
      await row.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('textbox', { name: 'Edit message' }).fill('first, changed');
      await page.keyboard.press('Enter');
      await section.getByRole('button', { name: 'Send All' }).click();
      expect(await said('next_send_now')).toMatchObject([{ id: 'q1' }]);
      expect(await said('next_remove')).toMatchObject([{ id: 'q1' }]);
      expect(await said('next_edit')).toMatchObject([{ id: 'q1', text: 'first, changed' }]);
      expect(await said('next_resume')).toHaveLength(1);
    }));

  test('are a prompt to put back into the composer where the agent never had it', () =>
    inChat(async ({ tell, page, said }) => {
      const pending = [
        {
          id: 'p1',
          mode: 'prompt' as const,
          text: 'do it',
          attached: [],
          state: 'given_back' as const,
          editable: true,
        },
      ];
      await tell(reset({ status: { ...IDLE, pending } }));
      const row = page.locator('.pending .waiting-row');
      expect(await row.textContent()).toContain('not sent');
      await row.getByRole('button', { name: 'Put into Composer' }).click();
      expect(await said('pending_recompose')).toMatchObject([{ id: 'p1' }]);
    }));
});

describe('a store that fails', () => {
  const message =
    'The disk that holds /home/ada/.pilothouse is full, so nothing more can be saved.';
  const faulted: ChatStatus = { ...IDLE, fault: { message, unsure: false } };

  test('says what happened and offers the way out, and typed text stays', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await box(page).fill('half a thought');
      await tell({ type: 'status', status: faulted });
      const banner = page.getByRole('alert', { name: 'This session can’t be saved' });
      expect(await banner.textContent()).toContain(message);
      expect(await banner.textContent()).not.toContain('It is not known');
      for (const name of ['Try Again', 'Restart Agent', 'Open Data Folder'])
        await banner.locator('vscode-button').getByText(name, { exact: true }).click();
      expect((await said('command')).map(({ name }) => name)).toEqual([
        'reopen',
        'restart',
        'open_data_folder',
      ]);
      expect(await box(page).inputValue()).toBe('half a thought');
      await tell({ type: 'status', status: IDLE });
      await banner.waitFor({ state: 'detached' });
    }));

  test('says so where the last step may not be on disk', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: { ...IDLE, fault: { message, unsure: true } } }));
      expect(await page.locator('.fault').textContent()).toContain('It is not known');
    }));
});

describe('condensing', () => {
  const row = (part: Partial<Extract<ChatItem, { kind: 'compaction' }>>): ChatItem => ({
    kind: 'compaction',
    id: 'c1',
    state: 'running',
    before: null,
    after: null,
    summary: '',
    reason: '',
    ...part,
  });

  test('begins at the meter, and shows its course and what the agent reads now', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: [PROMPT] }));
      await page.locator('.usage').click();
      await page.getByRole('menuitem', { name: 'Compact Conversation' }).click();
      expect(await said('command')).toMatchObject([{ name: 'compact' }]);
      await tell({ type: 'upsert', items: [row({})] });
      expect(await page.locator('.compaction').textContent()).toContain('Condensing');
      const summary = 'It was about **tea**.';
      await tell({
        type: 'upsert',
        items: [row({ state: 'done', before: 12, after: 3, summary })],
      });
      await page.getByRole('button', { name: '12 messages condensed to 3' }).click();
      expect(await page.locator('.compaction-summary strong').textContent()).toBe('tea');
      await tell({ type: 'upsert', items: [row({ state: 'failed', reason: 'it was stopped' })] });
      expect(await page.locator('.compaction').textContent()).toContain('it was stopped');
    }));

  test('can be stopped, and what is sent meanwhile is the next prompt', () =>
    inChat(async ({ tell, page, said }) => {
      const compacting: ChatStatus = { ...IDLE, activity: 'running', compacting: true };
      await tell(reset({ items: [PROMPT], status: compacting }));
      expect(await box(page).getAttribute('placeholder')).toContain('Condensing');
      await box(page).fill('next');
      await box(page).press('Enter');
      expect(await said('send')).toMatchObject([{ text: 'next', mode: 'prompt' }]);
      await page.locator('.header .stop').click();
      expect(await said('stop')).toHaveLength(1);
    }));
});
