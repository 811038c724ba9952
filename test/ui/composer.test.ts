import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ChatCompletion } from '../../src/protocol/chat.ts';
import { IDLE, RUNNING, reset } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

const box = (page: Page) => page.getByRole('textbox', { name: 'Message' });

describe('sending', () => {
  test('Enter sends, Shift+Enter breaks the line, and the text goes only when it was taken', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await box(page).click();
      await page.keyboard.type('one');
      await page.keyboard.press('Shift+Enter');
      await page.keyboard.type('two');
      await page.keyboard.press('Enter');
      const [sent] = await said('send');
      expect(sent).toMatchObject({ text: 'one\ntwo', attachments: [], images: [] });
      expect(await box(page).inputValue()).toBe('one\ntwo');
      await page.keyboard.press('Enter');
      expect(await said('send')).toHaveLength(1);
      await tell({ type: 'sent', requestId: sent?.requestId ?? 0 });
      expect(await box(page).inputValue()).toBe('');
    }));

  test('what a hurried person types and sends while all starts is sent once to the session that comes', () =>
    inChat(async ({ tell, page, said }) => {
      const starting = { ...IDLE, activity: 'starting', sessionId: null } as const;
      await tell(reset({ status: starting }));
      await box(page).fill('early');
      await box(page).press('Enter');
      await box(page).press('Enter');
      expect(await said('send')).toEqual([]);
      await tell({ type: 'status', status: IDLE });
      expect(await said('send')).toMatchObject([{ text: 'early' }]);
      expect(await box(page).inputValue()).toBe('early');
    }));

  test('what was typed and not sent before a session came stays in the composer', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: { ...IDLE, activity: 'none', sessionId: null } }));
      await box(page).fill('a thought');
      await tell(reset({ status: IDLE }));
      expect(await box(page).inputValue()).toBe('a thought');
      expect(await said('send')).toEqual([]);
    }));

  test('an error is shown beside the kept text, until it is changed', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await box(page).fill('try');
      await box(page).press('Enter');
      const [sent] = await said('send');
      await tell({ type: 'sent', requestId: sent?.requestId ?? 0, error: 'the disk is full' });
      expect(await page.getByRole('alert').textContent()).toBe('Not sent: the disk is full');
      expect(await box(page).inputValue()).toBe('try');
      await box(page).press('Enter');
      expect(await said('send')).toHaveLength(2);
      await tell({ type: 'sent', requestId: (await said('send'))[1]?.requestId ?? 0 });
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(await box(page).inputValue()).toBe('');
    }));

  test('prompts that have not begun are shown', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: { ...RUNNING, queued: [{ id: 'q1', text: 'next' }] } }));
      expect(await page.getByRole('list', { name: 'Queued prompts' }).textContent()).toContain(
        'next',
      );
    }));

  test('Enter that commits a composition does not send', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await box(page).click();
      const session = await page.context().newCDPSession(page);
      await session.send('Input.imeSetComposition', {
        text: 'にほん',
        selectionStart: 3,
        selectionEnd: 3,
      });
      await session.send('Input.dispatchKeyEvent', {
        type: 'rawKeyDown',
        key: 'Enter',
        code: 'Enter',
        windowsVirtualKeyCode: 229,
      });
      await session.send('Input.insertText', { text: '日本' });
      expect(await said('send')).toEqual([]);
      expect(await box(page).inputValue()).toBe('日本');
      await page.keyboard.press('Enter');
      expect((await said('send')).map(({ text }) => text)).toEqual(['日本']);
    }));

  test('what cannot be sent now stays in the composer', () =>
    inChat(async ({ tell, page, said }) => {
      for (const activity of ['offline', 'untrusted', 'no_folder', 'starting'] as const) {
        await tell(reset({ status: { ...IDLE, activity } }));
        await box(page).fill('later');
        await box(page).press('Enter');
      }
      expect(await said('send')).toEqual([]);
      expect(await box(page).inputValue()).toBe('later');
    }));
});

describe('mentions and commands', () => {
  const found: readonly ChatCompletion[] = [
    { kind: 'file', name: 'a.ts', uri: 'file:///w/a.ts', detail: 'src' },
    { kind: 'file', name: 'ü (1).txt', uri: 'file:///w/a%20b/%C3%BC%20(1).txt', detail: 'a b' },
  ];

  test('a path with blanks is attached whole, and goes out with the message', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await box(page).click();
      await page.keyboard.type('read @ü');
      await expect.poll(async () => (await said('complete')).at(-1)?.query).toBe('ü');
      const asked = (await said('complete')).at(-1);
      await tell({ type: 'completions', requestId: asked?.requestId ?? 0, items: found });
      await page.keyboard.press('ArrowDown');
      const active = await box(page).getAttribute('aria-activedescendant');
      expect(await page.locator(`#${active}`).textContent()).toContain('ü (1).txt');
      await page.keyboard.press('Enter');
      expect(await box(page).inputValue()).toBe('read @ü (1).txt ');
      expect(await page.getByRole('listbox').count()).toBe(0);
      await page.keyboard.press('Enter');
      expect((await said('send'))[0]?.attachments).toEqual([
        { kind: 'file', name: 'ü (1).txt', uri: 'file:///w/a%20b/%C3%BC%20(1).txt' },
      ]);
    }));

  test('Escape closes the list and nothing else, also while a turn runs', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: RUNNING }));
      await box(page).click();
      await page.keyboard.type('/');
      expect(await page.getByRole('listbox').getByRole('option').allTextContents()).toEqual([
        '/compactShorten the conversation',
        '/reviewReview the changes of this session',
      ]);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('listbox').count()).toBe(0);
      await page.keyboard.press('Escape');
      expect(await box(page).inputValue()).toBe('/');
      expect([...(await said('stop')), ...(await said('send'))]).toEqual([]);
    }));

  test('a command is completed by Tab', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset());
      await box(page).click();
      await page.keyboard.type('/re');
      await page.keyboard.press('Tab');
      expect(await box(page).inputValue()).toBe('/review ');
    }));

  test('a command typed in full is sent by one Enter, unless it takes words', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await box(page).click();
      await page.keyboard.type('/review');
      await page.keyboard.press('Enter');
      expect(await box(page).inputValue()).toBe('/review ');
      expect(await said('send')).toEqual([]);
      await box(page).fill('');
      await page.keyboard.type('/compact');
      await page.keyboard.press('Enter');
      expect((await said('send')).map(({ text }) => text)).toEqual(['/compact']);
      expect(await page.getByRole('listbox').count()).toBe(0);
    }));

  test('an attachment can be taken off again', () =>
    inChat(async ({ tell, page }) => {
      const [file] = found;
      if (file === undefined) throw new Error('no file');
      await tell(reset(), { type: 'compose', attachments: [file], text: 'look', focus: true });
      expect(await box(page).evaluate((input) => input === document.activeElement)).toBe(true);
      await page.getByRole('button', { name: 'Remove a.ts' }).click();
      expect(await page.getByRole('list', { name: 'Attached context' }).count()).toBe(0);
      expect(await box(page).inputValue()).toBe('look');
    }));
});

describe('pictures', () => {
  const paste = (page: Page, name: string, type: string, size: number) =>
    box(page).evaluate(
      (input, given) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(given.size)], given.name, { type: given.type }));
        input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
      },
      { name, type, size },
    );

  test('are pasted, shown, sent and removable; too large or foreign ones are refused with a reason', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset());
      await paste(page, 'shot.png', 'image/png', 3);
      await page.getByRole('img', { name: 'Image: shot.png' }).waitFor();
      await paste(page, 'huge.png', 'image/png', 6 * 1024 * 1024);
      await expect
        .poll(() => page.getByRole('alert').textContent())
        .toContain('huge.png is larger than 5 MB');
      await paste(page, 'odd.bmp', 'image/bmp', 3);
      await expect.poll(() => page.getByRole('alert').textContent()).toContain('odd.bmp is not');
      await box(page).press('Enter');
      expect((await said('send'))[0]?.images).toEqual([
        { mimeType: 'image/png', data: 'AAAA', name: 'shot.png' },
      ]);
      await page.getByRole('button', { name: 'Remove shot.png' }).click();
      expect(await page.getByRole('img', { name: 'Image: shot.png' }).count()).toBe(0);
    }));
});

describe('drafts', () => {
  test('live through a thrown-away page, each with its session', () =>
    inChat(async ({ tell, page, reload, said }) => {
      await tell(reset());
      await box(page).fill('for session one');
      await tell(reset({ status: { ...IDLE, sessionId: 's2' } }));
      expect(await box(page).inputValue()).toBe('');
      await box(page).fill('for session two');
      await reload();
      expect((await said('ready'))[0]?.sessionId).toBe('s2');
      await tell(reset({ status: { ...IDLE, sessionId: 's2' } }));
      expect(await box(page).inputValue()).toBe('for session two');
      await tell(reset());
      expect(await box(page).inputValue()).toBe('for session one');
    }));
});

test('an option changed while a turn runs says when it applies, until that turn has ended', () =>
  inChat(async ({ tell, page }) => {
    const note = page.getByText('Applies from the next turn');
    await tell(reset());
    await page.getByRole('combobox', { name: /^Mode( |$)/ }).selectOption('code');
    expect(await note.count()).toBe(0);
    await tell({ type: 'status', status: RUNNING });
    expect(await note.count()).toBe(0);
    await page.getByRole('combobox', { name: /^Mode( |$)/ }).selectOption('architect');
    expect(await note.isVisible()).toBe(true);
    await tell({ type: 'status', status: { ...RUNNING, turnId: 't2' } });
    expect(await note.count()).toBe(0);
  }));

test('pickers set options, grouped ones too, and follow the status', () =>
  inChat(async ({ tell, page, said }) => {
    await tell(reset());
    await page.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('code');
    await page.getByRole('combobox', { name: 'Model', exact: true }).selectOption('ollama/qwen');
    expect((await said('set_option')).map(({ configId, value }) => [configId, value])).toEqual([
      ['mode', 'code'],
      ['model', 'ollama/qwen'],
    ]);
    await tell({
      type: 'status',
      status: {
        ...IDLE,
        options: [{ id: 'web', name: 'Web access', type: 'boolean', currentValue: true }],
      },
    });
    await page.getByRole('button', { name: 'More Options (Web access)' }).click();
    await page.getByRole('button', { name: 'Web access', pressed: true }).click();
    expect((await said('set_option')).at(-1)).toMatchObject({ configId: 'web', value: false });
  }));
