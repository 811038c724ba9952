import { describe, expect, test } from 'vitest';
import type { ChatStatus } from '../../src/protocol/chat.ts';
import { ASK, CONVERSATION, IDLE, PERMISSION, RUNNING, reset, tool } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

/** Messages of each kind that waits. */
const WAITING: Pick<ChatStatus, 'pending' | 'nextTurns'> = {
  pending: (['pending', 'behind_approval', 'given_back'] as const).map((state) => ({
    id: state,
    mode: 'steer',
    text: `a steer, ${state}`,
    attached: ['format.ts:5-9'],
    state,
    editable: true,
  })),
  nextTurns: { paused: 'Paused by you', items: [{ id: 'q', text: 'a later turn', attached: [] }] },
};

const inChat = withChat();

test('landmarks and roles name the parts of the page', () =>
  inChat(async ({ tell, page }) => {
    await tell(
      reset({
        status: { ...RUNNING, activity: 'waiting' },
        items: CONVERSATION.slice(0, 2),
        gates: [PERMISSION],
      }),
    );
    for (const [role, name] of [
      ['banner', undefined],
      ['main', undefined],
      ['log', 'Conversation'],
      ['region', 'Waiting for your answer'],
      ['region', 'Message'],
      ['heading', IDLE.title],
      ['meter', 'Context: 42.3K of 200K tokens (21%), cost $0.12'],
      ['button', 'New Session'],
    ] as const) {
      expect(
        await page.getByRole(role, name === undefined ? {} : { name }).count(),
        `${role} ${name}`,
      ).toBe(1);
    }
  }));

test('every control has a name', () =>
  inChat(
    async ({ tell, page }) => {
      await tell(
        reset({
          status: { ...RUNNING, activity: 'waiting', ...WAITING },
          items: CONVERSATION,
          gates: [PERMISSION, ASK],
        }),
      );
      const session = await page.context().newCDPSession(page);
      const { nodes } = await session.send('Accessibility.getFullAXTree');
      const controls = new Set([
        'button',
        'textbox',
        'combobox',
        'checkbox',
        'radio',
        'link',
        'img',
        'meter',
      ]);
      const unnamed = nodes
        .filter((node) => !node.ignored && controls.has(String(node.role?.value)))
        .filter((node) => String(node.name?.value ?? '').trim() === '');
      expect(nodes.length).toBeGreaterThan(50);
      expect(unnamed.map((node) => node.role?.value)).toEqual([]);
    },
    { height: 1800 },
  ));

test('a turn is announced when it ends, and its tokens are not', () =>
  inChat(async ({ tell, page }) => {
    await tell(
      reset({
        status: RUNNING,
        items: [{ kind: 'assistant', id: 'a', text: '', streaming: true }],
      }),
    );
    await tell({ type: 'append', id: 'a', field: 'text', offset: 0, text: 'All done.' });
    const announcer = page.locator('.announcer');
    expect(await announcer.textContent()).toBe('');
    await tell({
      type: 'upsert',
      items: [
        {
          kind: 'turn_end',
          id: 'e',
          stopReason: 'end_turn',
          terminal: 'natural',
          reason: '',
          seconds: 3,
        },
      ],
    });
    expect(await announcer.textContent()).toBe('All done. — Finished · 3.0 s');
  }));

test('rows are walked by arrow keys from the log', () =>
  inChat(async ({ tell, page }) => {
    await tell(reset({ items: CONVERSATION }));
    await page.getByRole('log').evaluate((log) => log.scrollTo(0, 0));
    await page.locator('[data-row="u1"]').waitFor();
    await page.getByRole('log').focus();
    const focused = () =>
      page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset['row']);
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('u1');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('th1');
    await page.keyboard.press('End');
    await expect.poll(focused).toBe('e1');
  }));

test('status is told by words, not by colour alone', () =>
  inChat(
    async ({ tell, page }) => {
      const states = [
        'pending',
        'in_progress',
        'completed',
        'failed',
        'cancelled',
        'denied',
        'outcome_unknown',
      ] as const;
      await tell(
        reset({ items: states.map((status) => tool({ id: status, toolKind: 'read', status })) }),
      );
      expect(await page.locator('.tool-status').allTextContents()).toEqual([
        'Pending',
        'Running',
        'Done',
        'Failed',
        'Stopped',
        'Denied',
        'Outcome unknown',
      ]);
    },
    { height: 900 },
  ));

describe.each(['high-contrast', 'high-contrast-light'] as const)('in %s', (theme) => {
  test('cards, chips, gates and the composer are drawn with the contrast border', () =>
    inChat(
      async ({ tell, page }) => {
        await tell(reset({ status: RUNNING, items: CONVERSATION, gates: [PERMISSION] }));
        const wanted = theme === 'high-contrast' ? 'rgb(111, 195, 223)' : 'rgb(15, 74, 133)';
        for (const part of [
          '.tool',
          '.user',
          '.chip',
          '.plan',
          '.code-block',
          '.gate',
          '.composer-box',
        ]) {
          const colour = await page
            .locator(part)
            .first()
            .evaluate((element) => getComputedStyle(element).borderTopColor);
          expect(colour, part).toBe(wanted);
        }
      },
      { theme, height: 1600 },
    ));
});

test('with reduced motion nothing spins', () =>
  inChat(
    async ({ tell, page }) => {
      await tell(reset({ status: RUNNING }));
      const names = await page
        .locator('.codicon-modifier-spin')
        .evaluateAll((icons) => icons.map((icon) => getComputedStyle(icon).animationName));
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names)).toEqual(new Set(['none']));
    },
    { bodyClass: 'vscode-reduce-motion' },
  ));

test('at 200 pixels nothing is cut off to the side', () =>
  inChat(
    async ({ tell, page }) => {
      const long = '/a-very-long-path-without-a-blank'.repeat(12);
      await tell(
        reset({
          status: {
            ...RUNNING,
            title: long,
            cwd: long,
            rehearsal: true,
            queued: [{ id: 'q', text: long }],
          },
          items: [
            {
              kind: 'user',
              id: 'u',
              at: 0,
              text: long,
              attachments: [{ kind: 'file', name: long, uri: 'file:///x' }],
            },
            ...CONVERSATION,
            { kind: 'assistant', id: 'long', text: long, streaming: false },
            tool({ id: 'lt', title: long, input: long, output: long }),
          ],
          gates: [{ ...PERMISSION, title: long, details: [long] }],
        }),
      );
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter(
            (element) =>
              element.closest(
                '.output, .diff-lines, .code-block pre, .sr-only, .markdown table',
              ) === null,
          )
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
          .map((element) => `${element.tagName}.${element.className}`),
      );
      expect(wide).toEqual([]);
    },
    { width: 200, height: 1200 },
  ));

describe('in place of a conversation', () => {
  const NONE: ChatStatus = {
    ...IDLE,
    activity: 'none',
    sessionId: null,
    title: '',
    rehearsal: true,
  };

  test('without a session it says what to do, and one click inserts a script for the rehearsal', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: NONE }));
      await page.getByRole('button', { name: 'New Session' }).last().click();
      expect(await said('command')).toEqual([{ type: 'command', name: 'new_session' }]);
      await page.getByRole('button', { name: 'Insert an Example Script' }).click();
      const box = page.getByRole('textbox', { name: 'Message' });
      await expect.poll(() => box.inputValue()).toContain('finish with');
      await box.press('Enter');
      expect(await said('send')).toHaveLength(1);
      expect(await page.locator('.badge').textContent()).toBe('Rehearsal');
    }));

  test.each([
    ['untrusted', 'Manage Trust', 'manage_trust'],
    ['no_folder', 'Open Folder', 'open_folder'],
    ['offline', 'Restart', 'restart'],
    ['offline', 'Show Log', 'show_log'],
  ] as const)('%s offers %s', (activity, label, name) =>
    inChat(async ({ tell, page, said }) => {
      await tell(
        reset({ status: { ...NONE, activity, offlineReason: 'It ended with exit code 9.' } }),
      );
      await page.getByRole('button', { name: label }).click();
      expect(await said('command')).toEqual([{ type: 'command', name }]);
    }),
  );

  test('offline keeps the conversation and says why', () =>
    inChat(async ({ tell, page }) => {
      await tell(
        reset({
          items: CONVERSATION,
          status: { ...IDLE, activity: 'offline', offlineReason: 'It ended with exit code 9.' },
        }),
      );
      expect(await page.locator('.banner').textContent()).toContain('exit code 9');
      expect(await page.locator('.row').count()).toBeGreaterThan(0);
    }));
});

test('texts come translated, and missing ones in English', () =>
  inChat(async ({ tell, page }) => {
    await tell(reset({ status: RUNNING, strings: { stop: 'Anhalten' } }));
    await page.getByRole('button', { name: 'Anhalten' }).waitFor();
    await page.getByRole('button', { name: 'New Session' }).waitFor();
  }));
