import { describe, expect, it } from 'vitest';
import type { ChatItem } from '../../src/protocol/chat.ts';
import { shownText } from '../vscode/driver/until.ts';
import { DIFF, IDLE, reset, tool } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const PROMPT: ChatItem = {
  kind: 'user',
  id: 'u1',
  at: 1,
  text: 'Make it polite',
  attachments: [],
  messageId: 'm1',
  checkpoint: { checkpointId: 'c1', files: 2, onStack: true },
};

const FILLING: readonly ChatItem[] = Array.from({ length: 30 }, (_, at) => ({
  kind: 'assistant',
  id: `a${at}`,
  text: `Reply ${at}`,
  streaming: false,
}));

describe('going back in the chat', () => {
  const inChat = withChat();

  it('is offered by a menu on each prompt, by keys alone', () =>
    inChat(async ({ page, tell, said }) => {
      await tell(reset({ items: [PROMPT] }));
      const button = page.getByRole('button', { name: 'Message Actions' });
      await button.focus();
      await page.keyboard.press('Enter');
      const names = await page.getByRole('menuitem').allInnerTexts();
      expect(names).toEqual([
        'Roll Back to Before This…',
        'Restore Files to Before This…',
        'Fork from Here',
        'Remove from Here On…',
        'Copy Text',
      ]);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      expect(await said('message_action')).toEqual([
        { type: 'message_action', action: 'restore', messageId: 'm1' },
      ]);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press('Enter');
      await page.keyboard.press('r');
      await page.keyboard.press('f');
      await page.keyboard.press('Enter');
      expect((await said('message_action')).at(-1)).toMatchObject({ action: 'fork' });
    }));

  it('is offered only as far as there is something to go back to', () =>
    inChat(async ({ page, tell }) => {
      const { checkpoint: _, ...plain } = PROMPT;
      const inject = { mode: 'steer' as const, seam: 'after the tools ran' };
      const steered: ChatItem = { ...plain, id: 'u2', messageId: 'm2', inject };
      await tell(reset({ items: [plain, steered] }));
      const entries = async (at: number) => {
        await page.getByRole('button', { name: 'Message Actions' }).nth(at).click();
        const found = await page.getByRole('menuitem').allInnerTexts();
        await page.keyboard.press('Escape');
        return found;
      };
      expect(await entries(0)).toEqual(['Fork from Here', 'Remove from Here On…', 'Copy Text']);
      expect(await entries(1)).toEqual(['Copy Text']);
      expect(await shownText(page.locator('.row-user').nth(1))).toMatch(
        /Steered\s*after the tools ran\s*Make it polite/,
      );
    }));

  it('shows the whole menu also at the edges of a small view', () =>
    inChat(
      async ({ page, tell }) => {
        await tell(reset({ items: [...FILLING, PROMPT] }));
        await page.getByRole('button', { name: 'Message Actions' }).click();
        const box = await page.getByRole('menu').boundingBox();
        expect(box).not.toBeNull();
        const { x = 0, y = 0, width = 0, height = 0 } = box ?? {};
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(230);
        expect(y + height).toBeLessThanOrEqual(360);
      },
      { width: 230, height: 360 },
    ));

  it('is offered for the files of one step, once it is done', () =>
    inChat(async ({ page, tell, said }) => {
      const edit = tool({ id: 't1', toolKind: 'edit', title: 'Edit greet.ts', diffs: [DIFF] });
      await tell(reset({ items: [{ ...edit, status: 'in_progress' }] }));
      const restore = page.getByRole('button', { name: /Restore the files of this step/ });
      expect(await restore.count()).toBe(0);
      await tell({ type: 'upsert', items: [edit] });
      await restore.click();
      expect(await said('restore_tool')).toEqual([{ type: 'restore_tool', toolCallId: 't1' }]);
    }));

  it('says that a step’s edits are staged while they wait, and offers no restore of what is not on disk', () =>
    inChat(async ({ page, tell }) => {
      const diff = { path: '/w/a.ts', added: 1, removed: 0, isNew: true, lines: [], cut: false };
      const call = tool({ id: 't1', toolKind: 'edit', staged: true, diffs: [diff] });
      const status = (paths: string[]) =>
        ({ ...IDLE, staged: { files: paths.length, paths, on: true } }) as const;
      await tell(reset({ items: [PROMPT, call], status: status(['/w/a.ts']) }));
      const word = page.locator('.tool-status');
      expect(await shownText(word)).toContain('Staged');
      expect(
        await page.getByRole('button', { name: /Restore the files of this step/ }).count(),
      ).toBe(0);
      await tell({ type: 'status', status: status(['/w/other.ts']) });
      await word.getByText('Done').waitFor();
    }));

  it('offers Redo, and Review, Keep and Discard for what is staged', () =>
    inChat(async ({ page, tell, said }) => {
      await tell(reset({ items: [PROMPT] }));
      expect(await page.locator('.decisions').count()).toBe(0);
      await tell({
        type: 'status',
        status: { ...IDLE, canRedo: true, staged: { files: 3, on: true } },
      });
      expect(await shownText(page.locator('.staged'))).toContain('3 staged files');
      for (const name of ['Redo', 'Review', 'Keep All', 'Discard All'])
        await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'More Options (Stage Edits)' }).click();
      const toggle = page.getByRole('button', { name: 'Stage Edits', exact: true });
      expect(await toggle.getAttribute('aria-pressed')).toBe('true');
      await toggle.click();
      expect((await said('command')).map(({ name }) => name)).toEqual([
        'redo',
        'show_staged',
        'keep_staged',
        'discard_staged',
        'toggle_staged',
      ]);
    }));

  it('folds what the judge said behind its verdict', () =>
    inChat(async ({ page, tell }) => {
      await tell(
        reset({
          items: [
            {
              kind: 'judge',
              id: 'j',
              judge: 'rehearsal/judge',
              verdict: 'vetoed',
              reason: 'no tests ran',
              correction: 'Run the tests.',
            },
          ],
        }),
      );
      const head = page.getByRole('button', { name: /not done yet: no tests ran/ });
      expect(await page.getByText('Run the tests.').count()).toBe(0);
      await head.click();
      await page.getByText('Run the tests.').waitFor();
      expect(await head.getAttribute('aria-expanded')).toBe('true');
    }));
});
