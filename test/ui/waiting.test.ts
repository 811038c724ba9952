import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ChatStatus } from '../../src/protocol/chat.ts';
import type { ChatPending } from '../../src/protocol/chat-pending.ts';
import { IDLE, PERMISSION, RUNNING, reset, tool } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

const box = (page: Page) => page.getByRole('textbox', { name: 'Message' });

const STEER: ChatPending = {
  id: 'm1',
  mode: 'steer',
  text: 'Use two spaces',
  attached: [],
  state: 'pending',
  editable: true,
};

const QUEUE: ChatStatus['nextTurns'] = {
  paused: null,
  items: [
    { id: 'q1', text: 'first', attached: [] },
    { id: 'q2', text: 'second', attached: [] },
    { id: 'q3', text: 'third', attached: [] },
  ],
};

describe('sending while a turn runs', () => {
  test.each([
    ['steer', 'Steer', 'steers'],
    ['next', 'Queue', 'queues'],
    ['interrupt', 'Interrupt', 'interrupts'],
    ['note', 'Note', 'note'],
  ] as const)('with Enter set to %s the button and the placeholder say so', (mode, word, hint) =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, runningSend: mode } }));
      expect(await box(page).getAttribute('placeholder')).toContain(hint);
      await box(page).fill('more');
      expect(await page.locator('.send').textContent()).toBe(word);
      await box(page).press('Enter');
      expect(await said('send')).toMatchObject([{ text: 'more', mode }]);
    }),
  );

  test.each([
    ['steer', 'Alt+Enter', 'next'],
    ['next', 'Alt+Enter', 'steer'],
    ['steer', 'Control+Enter', 'interrupt'],
    ['next', 'Control+Enter', 'interrupt'],
  ] as const)('where Enter is %s, %s is %s', (enter, key, mode) =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, runningSend: enter } }));
      await box(page).fill('more');
      await box(page).press(key);
      expect(await said('send')).toMatchObject([{ text: 'more', mode }]);
      expect(await box(page).inputValue()).toBe('more');
    }),
  );

  test('the menu beside it holds every other way, with its key', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: RUNNING }));
      await box(page).fill('by the way');
      await page.getByRole('button', { name: 'Choose How to Send' }).click();
      expect(await page.getByRole('menuitem').allInnerTexts()).toEqual([
        'Queue for Next Turn\nAlt+Enter',
        'Interrupt\nCtrl+Enter',
        'Note: the agent will not read it',
      ]);
      await page.getByRole('menuitem', { name: 'Note: the agent will not read it' }).click();
      expect(await said('send')).toMatchObject([{ text: 'by the way', mode: 'note' }]);
    }));

  test('Escape closes the menu and gives the keyboard back to the text', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: RUNNING }));
      await box(page).fill('half');
      await page.getByRole('button', { name: 'Choose How to Send' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      await page.keyboard.type(' and more');
      expect(await box(page).inputValue()).toBe('half and more');
      expect(await said('stop')).toEqual([]);
    }));

  test('while it stops, every key sends after the stop', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, activity: 'stopping' } }));
      await box(page).fill('later');
      expect(await page.locator('.send').textContent()).toBe('Send after Stop');
      await box(page).press('Control+Enter');
      expect(await said('send')).toMatchObject([{ text: 'later', mode: 'prompt' }]);
    }));

  test('an idle session sends a prompt and offers nothing else', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset());
      expect(await page.locator('.send').textContent()).toBe('Send');
      expect(await page.getByRole('button', { name: 'Choose How to Send' }).count()).toBe(0);
    }));
});

describe('Escape', () => {
  test('twice stops; once only says so', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: RUNNING }));
      await box(page).click();
      await page.keyboard.press('Escape');
      await page.getByText('Press Esc again to stop').waitFor();
      expect(await said('stop')).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await said('stop')).toHaveLength(1);
      await page.getByRole('button', { name: 'Stopping…' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      expect(await said('stop')).toHaveLength(1);
    }));

  test('does nothing to a session at rest', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: IDLE }));
      await box(page).click();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      expect(await said('stop')).toEqual([]);
    }));
});

describe('messages on their way', () => {
  const states = [
    [STEER, 'after this step'],
    [{ ...STEER, state: 'behind_approval' }, 'after your answer'],
    [{ ...STEER, mode: 'interrupt_immediate' }, 'at once; steps not begun are skipped'],
    [{ ...STEER, mode: 'queue' }, 'the agent will not read it'],
    [{ ...STEER, state: 'given_back' }, 'not delivered: the turn ended first'],
  ] as const satisfies readonly (readonly [ChatPending, string])[];

  test('say in words how they stand', () =>
    inChat(async ({ tell, page }) => {
      const pending = states.map(([message], at) => ({ ...message, id: `m${at}` }));
      await tell(reset({ status: { ...RUNNING, pending }, gates: [PERMISSION] }));
      const shown = page.getByRole('list', { name: 'Messages for the running turn' });
      expect(await shown.locator('.waiting-state').allInnerTexts()).toEqual(
        states.map(([, words]) => words),
      );
    }));

  test('an interrupt waits for the steps under way, and says so', () =>
    inChat(async ({ tell, page }) => {
      const pending: ChatPending[] = [{ ...STEER, mode: 'interrupt_immediate' }];
      const items = [tool({ id: 't1', status: 'in_progress' })];
      await tell(reset({ status: { ...RUNNING, pending }, items }));
      const state = page.locator('.waiting-state');
      expect(await state.textContent()).toBe('as soon as the steps under way are over');
      await tell({ type: 'upsert', items: [tool({ id: 't1', status: 'completed' })] });
      expect(await state.textContent()).toBe('at once; steps not begun are skipped');
    }));

  test('are changed where they stand: Enter saves, Escape leaves them and stops nothing', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, pending: [STEER] } }));
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      const edit = page.getByRole('textbox', { name: 'Edit message' });
      await edit.press('Escape');
      expect(await edit.count()).toBe(0);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.locator('.edit-box textarea:focus').waitFor();
      await page.keyboard.type(', please');
      await page.keyboard.press('Enter');
      expect(await said('pending_edit')).toEqual([
        { type: 'pending_edit', id: 'm1', text: 'Use two spaces, please' },
      ]);
      expect(await said('stop')).toEqual([]);
      expect(await said('send')).toEqual([]);
    }));

  test('name the lines they are about', () =>
    inChat(async ({ tell, page }) => {
      await tell(
        reset({ status: { ...RUNNING, pending: [{ ...STEER, attached: ['format.ts:5-9'] }] } }),
      );
      expect(await page.getByRole('list', { name: 'Attached context' }).textContent()).toBe(
        'format.ts:5-9',
      );
    }));

  test('are taken back, and those that came back go into the composer or away', () =>
    inChat(async ({ tell, page, said }) => {
      const back: ChatPending = { ...STEER, id: 'm2', state: 'given_back' };
      await tell(reset({ status: { ...RUNNING, pending: [STEER, back] } }));
      await page.getByRole('button', { name: 'Take Back' }).click();
      await page.getByRole('button', { name: 'Put into Composer' }).click();
      await page.getByRole('button', { name: 'Dismiss' }).click();
      expect(await said('pending_revoke')).toMatchObject([{ id: 'm1' }, { id: 'm2' }]);
      expect(await said('pending_recompose')).toMatchObject([{ id: 'm2' }]);
    }));

  test('that come back are announced', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: { ...RUNNING, pending: [STEER] } }));
      const back: ChatPending = { ...STEER, state: 'given_back' };
      await tell({ type: 'status', status: { ...IDLE, pending: [back] } });
      expect(await page.locator('.announcer').textContent()).toBe(
        'Not delivered, the turn ended first: Use two spaces',
      );
    }));

  test('are cut after two lines and shown whole on demand', () =>
    inChat(async ({ tell, page }) => {
      const text = 'a long steer that goes on and on '.repeat(30);
      await tell(reset({ status: { ...RUNNING, pending: [{ ...STEER, text }, STEER] } }));
      const [long] = await page.locator('.waiting-row').all();
      const height = async () => (await long?.boundingBox())?.height ?? 0;
      const cut = await height();
      await page.getByRole('button', { name: 'Show All' }).click();
      expect(await height()).toBeGreaterThan(cut);
      await page.getByRole('button', { name: 'Show Less' }).click();
      expect(await height()).toBe(cut);
    }));
});

describe('the queue for the next turns', () => {
  const list = (page: Page) => page.getByRole('region', { name: 'Queued for the next turns' });

  test('is edited, sent, moved and emptied by the keyboard', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, nextTurns: QUEUE } }));
      const edits = list(page).getByRole('button', { name: 'Edit', exact: true });
      await edits.nth(1).focus();
      await page.keyboard.press('Alt+ArrowUp');
      await page.keyboard.press('Alt+ArrowDown');
      expect(await said('next_move')).toEqual([
        { type: 'next_move', id: 'q2', before: 'q1' },
        { type: 'next_move', id: 'q2', before: null },
      ]);
      await page.keyboard.press('Enter');
      await list(page).locator('textarea:focus').waitFor();
      await page.keyboard.type('!');
      await page.keyboard.press('Enter');
      expect(await said('next_edit')).toEqual([{ type: 'next_edit', id: 'q2', text: 'second!' }]);
      await list(page)
        .getByRole('button', { name: 'Stop the Turn and Send Now' })
        .nth(2)
        .press('Enter');
      expect(await said('next_send_now')).toMatchObject([{ id: 'q3' }]);
      await list(page).getByRole('button', { name: 'More Actions' }).first().press('Enter');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      expect(await said('next_remove')).toMatchObject([{ id: 'q1' }]);
    }));

  test('keeps the keyboard on a row that has moved', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: { ...RUNNING, nextTurns: QUEUE } }));
      await list(page).getByRole('button', { name: 'Edit', exact: true }).nth(2).focus();
      const [first, second, third] = QUEUE.items;
      if (!first || !second || !third) throw new Error('no items');
      const moved = { paused: null, items: [third, first, second] };
      await tell({ type: 'status', status: { ...RUNNING, nextTurns: moved } });
      const row = await page.evaluate(
        () => document.activeElement?.closest('.next-row')?.querySelector('p')?.textContent,
      );
      expect(row).toBe('third');
    }));

  test('is reordered by dragging', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...RUNNING, nextTurns: QUEUE } }));
      const rows = page.locator('.next-row');
      await rows.nth(0).dragTo(rows.nth(2));
      await rows.nth(2).dragTo(rows.nth(0));
      expect(await said('next_move')).toEqual([
        { type: 'next_move', id: 'q1', before: null },
        { type: 'next_move', id: 'q3', before: 'q1' },
      ]);
      expect(await box(page).inputValue()).toBe('');
    }));

  test('says why it is paused and goes on when asked (A16)', () =>
    inChat(async ({ tell, page, said }) => {
      const paused = { ...QUEUE, paused: 'Paused because you pressed Stop' };
      await tell(reset({ status: { ...IDLE, nextTurns: paused } }));
      expect(await list(page).getByRole('status').textContent()).toContain('you pressed Stop');
      expect(await list(page).getByRole('button', { name: 'Send Now', exact: true }).count()).toBe(
        3,
      );
      await list(page).getByRole('button', { name: 'Resume Queue' }).click();
      expect(await said('next_resume')).toHaveLength(1);
      await tell({ type: 'status', status: { ...RUNNING, nextTurns: QUEUE } });
      await list(page).getByRole('button', { name: 'Pause Queue' }).click();
      expect(await said('next_pause')).toHaveLength(1);
    }));

  test('goes away when it is empty (A13)', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: { ...RUNNING, nextTurns: QUEUE } }));
      expect(await list(page).count()).toBe(1);
      await tell({
        type: 'status',
        status: { ...RUNNING, nextTurns: { paused: null, items: [] } },
      });
      expect(await list(page).count()).toBe(0);
    }));
});

describe('a single step', () => {
  test('is stopped on its card while it runs, and only then', () =>
    inChat(async ({ tell, page, said }) => {
      const items = [
        tool({ id: 't1', title: 'npm test', status: 'in_progress' }),
        tool({ id: 't2', title: 'npm run lint', status: 'pending' }),
        tool({ id: 't3', title: 'npm run build', status: 'completed' }),
      ];
      await tell(reset({ status: RUNNING, items }));
      expect(await page.getByRole('button', { name: /^Stop / }).count()).toBe(1);
      await page.getByRole('button', { name: 'Stop npm test' }).click();
      expect(await said('stop_tool')).toEqual([{ type: 'stop_tool', toolCallId: 't1' }]);
      expect(await said('stop')).toEqual([]);
    }));
});
