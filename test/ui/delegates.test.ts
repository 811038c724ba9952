import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ChatItem, ChatTool } from '../../src/protocol/chat.ts';
import type { ChatDelegate } from '../../src/protocol/chat-delegates.ts';
import { DIFF, IDLE, PERMISSION, RUNNING, reset, tool } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

const SHOTS = join(import.meta.dirname, '../output/ui');

async function shoot(page: Page, name: string): Promise<void> {
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

const PROMPT: ChatItem = { kind: 'user', id: 'u1', at: 0, text: 'Do it', attachments: [] };

const SCOUT: ChatDelegate = {
  loopId: 'a',
  name: 'scout',
  state: 'running',
  background: false,
  prompt: 'Find every greeting\nand say where it stands',
};

function call(delegate: Partial<ChatDelegate> = {}, part: Partial<ChatTool> = {}): ChatTool {
  return tool({
    id: 'd1',
    title: 'Delegate: Find every greeting',
    name: 'delegate',
    toolKind: 'think',
    status: 'in_progress',
    input: '{"prompt": "…"}',
    delegate: { ...SCOUT, ...delegate },
    ...part,
  });
}

const STEPS: readonly ChatItem[] = [
  { ...PROMPT, id: 'cu', text: SCOUT.prompt },
  { kind: 'assistant', id: 'ca', text: 'I look into `src` **first**.', streaming: false },
  tool({ id: 'ct', title: 'Edit src/greet.ts', name: 'edit', toolKind: 'edit', diffs: [DIFF] }),
  tool({ id: 'cr', title: 'npm test', status: 'in_progress', output: 'running\n' }),
];

const DEEP: ChatTool = call(
  { loopId: 'a1', name: 'deep', prompt: 'Read the guide' },
  { id: 'd2', title: 'Delegate: Read the guide' },
);

const rowsOf = (loopId: string, items: readonly ChatItem[], more = false) => ({
  type: 'delegate_rows' as const,
  loopId,
  items,
  more,
});

describe('the card of a delegate', () => {
  test('asks for its rows while it works, shows them nested and grows with them', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: [PROMPT, call()], status: RUNNING }));
      expect(await said('delegate_open')).toEqual([{ type: 'delegate_open', loopId: 'a' }]);
      const card = page.locator('.delegate').first();
      expect(await card.locator('.tool-title').first().textContent()).toBe(
        'scout Find every greeting',
      );
      expect(await card.textContent()).toContain('Reading what it did…');
      await tell(rowsOf('a', [...STEPS, DEEP]));
      const rows = card.locator('.delegate-rows').first();
      expect(await rows.textContent()).toContain('I look into src first.');
      expect(await rows.locator('.diff').count()).toBe(1);
      // Its task stands in the card: not in its rows again.
      expect(await rows.locator('.user').count()).toBe(0);
      // What acts on the session's own conversation is not offered inside.
      expect(await rows.getByText('Put Files Back').count()).toBe(0);
      // A step of its own can be ended, by the loop that it is of.
      await rows.getByRole('button', { name: 'Stop npm test' }).click();
      expect(await said('stop_tool')).toMatchObject([{ type: 'stop_tool', loopId: 'a' }]);
      // Its own delegate asks for its rows by itself.
      expect((await said('delegate_open')).map(({ loopId }) => loopId)).toEqual(['a', 'a1']);
      const id = 'ca2';
      const growing: ChatItem = { kind: 'assistant', id, text: 'And ', streaming: true };
      await tell(
        rowsOf('a1', []),
        { type: 'delegate_upsert', loopId: 'a', items: [growing] },
        { type: 'delegate_append', loopId: 'a', id, field: 'text', offset: 4, text: 'then' },
        { type: 'delegate_append', loopId: 'a', id, field: 'text', offset: 6, text: 'en on.' },
      );
      expect(await rows.textContent()).toContain('And then on.');
      expect(await rows.textContent()).toContain('Nothing yet.');
    }));

  test('stops that delegate alone, opens its transcript, and lets one talk to it', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: [PROMPT, call()], status: RUNNING }), rowsOf('a', [DEEP]));
      await page.getByRole('button', { name: 'Stop deep' }).click();
      await page.getByRole('button', { name: 'Stop scout' }).click();
      await page.getByRole('button', { name: 'Open the transcript of scout' }).click();
      await page.getByRole('button', { name: 'Talk to scout' }).click();
      expect((await said('delegate_stop')).map(({ loopId }) => loopId)).toEqual(['a1', 'a']);
      expect(await said('stop')).toEqual([]);
      expect(await said('stop_tool')).toEqual([]);
      expect((await said('delegate_transcript')).map(({ loopId }) => loopId)).toEqual(['a']);
      expect((await said('talk_to')).map(({ loopId }) => loopId)).toEqual(['a']);
    }));

  test('folds its rows when it is done, reads them again when they are unfolded, and shows the result as Markdown', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: [PROMPT, call()], status: RUNNING }), rowsOf('a', STEPS));
      const done = call(
        { state: 'completed' },
        { status: 'completed', output: '- **one**\n- two' },
      );
      await tell({ type: 'upsert', items: [done] });
      expect(await page.locator('.delegate-rows').count()).toBe(0);
      expect((await said('delegate_close')).map(({ loopId }) => loopId)).toEqual(['a']);
      expect(await page.locator('.delegate-result li').allInnerTexts()).toEqual(['one', 'two']);
      expect(await page.getByRole('button', { name: 'Stop scout' }).count()).toBe(0);
      await page.getByRole('button', { name: 'What it does' }).click();
      await tell();
      expect(await said('delegate_open')).toHaveLength(1);
      await tell(rowsOf('a', STEPS, true));
      await page.getByRole('button', { name: 'Show All' }).click();
      expect(await said('delegate_transcript')).toHaveLength(1);
      // A page that is laid anew asks again for what is unfolded.
      await tell(reset({ items: [PROMPT, done] }));
      expect(await said('delegate_open')).toHaveLength(2);
    }));

  test('waits for the person while a question of it is open', () =>
    inChat(async ({ tell, page, said }) => {
      const gate = { ...PERMISSION, loopId: 'a', title: 'scout: Run a command' };
      await tell(reset({ items: [PROMPT, call()], status: RUNNING, gates: [gate] }));
      const status = page.locator('.delegate .tool-status').first();
      expect(await status.textContent()).toContain('Needs you');
      expect(await page.locator('.gate-title').textContent()).toContain('scout: Run a command');
      await page.waitForTimeout(600);
      await page.locator('.gate vscode-button').getByText('Allow Once').click();
      expect(await said('answer')).toHaveLength(1);
      await tell({ type: 'gates', gates: [] });
      expect(await status.textContent()).toContain('Running');
    }));

  test('says that it goes on in the background, and where its result came in', () =>
    inChat(async ({ tell, page }) => {
      const begun = { status: 'completed' as const, output: 'It works in the background.' };
      await tell(reset({ items: [PROMPT, call({ background: true }, begun)] }));
      const card = page.locator('.delegate').first();
      expect(await card.textContent()).toContain('It goes on in the background');
      expect(await card.textContent()).not.toContain('It works in the background.');
      const back: ChatItem = {
        kind: 'hand_back',
        id: 'row:9',
        name: 'scout',
        text: 'Found **three**.',
        toolCallId: 'd1',
      };
      const ended = call({ background: true, state: 'completed', resultRow: 'row:9' }, begun);
      await tell({ type: 'upsert', items: [ended, back] });
      expect(await page.locator('.hand-back').textContent()).toContain('Result of scout');
      expect(await page.locator('.hand-back strong').allInnerTexts()).toContain('three');
      await card.getByRole('button', { name: 'Show Result' }).click();
      await page.getByRole('button', { name: 'Show What It Did' }).click();
    }));

  test('says what is wrong: it failed, it can not be read, it did nothing, a piece is missing', () =>
    inChat(async ({ tell, page, said }) => {
      const failed = call({ state: 'failed' }, { status: 'failed', output: 'The model refused.' });
      await tell(reset({ items: [PROMPT, failed] }));
      const card = page.locator('.delegate').first();
      expect(await card.locator('.tool-status').textContent()).toContain('Failed');
      expect(await card.textContent()).toContain('The model refused.');
      await page.getByRole('button', { name: 'What it does' }).click();
      await tell();
      await tell({ type: 'delegate_closed', loopId: 'a', error: 'the store is gone' });
      expect(await card.textContent()).toContain('could not be read: the store is gone');
      await card.getByRole('button', { name: 'Show', exact: true }).click();
      await tell();
      expect(await said('delegate_open')).toHaveLength(2);
      await tell(rowsOf('a', []));
      expect(await card.textContent()).toContain('It did nothing.');
      const text: ChatItem = { kind: 'assistant', id: 'x', text: 'a', streaming: true };
      await tell(rowsOf('a', [text]), {
        type: 'delegate_append',
        loopId: 'a',
        id: 'x',
        field: 'text',
        offset: 9,
        text: 'late',
      });
      expect(await said('delegate_open')).toHaveLength(3);
    }));

  test('draws the newest rows only, however many come', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ items: [PROMPT, call()], status: RUNNING }), rowsOf('a', []));
      for (let batch = 0; batch < 5; batch += 1) {
        const items = Array.from({ length: 100 }, (_, at): ChatItem => {
          const id = `m${batch}-${at}`;
          return { kind: 'assistant', id, text: `message ${id}`, streaming: false };
        });
        await tell({ type: 'delegate_upsert', loopId: 'a', items });
      }
      expect(await page.locator('.delegate-rows .row').count()).toBe(60);
      expect(await page.locator('.delegate-rows').textContent()).toContain('message m4-99');
      expect(await page.locator('.delegate-rows').textContent()).toContain('Only the newest part');
    }));

  test.each([
    ['dark', 360],
    ['light', 360],
    ['high-contrast', 360],
    ['dark', 220],
  ] as const)('keeps inside its frame in %s at %i pixels, also with long words', (theme, width) =>
    inChat(
      async ({ tell, page }) => {
        const long = 'averyveryverylongwordthatnobodywouldwrite'.repeat(6);
        const words: ChatItem = { kind: 'assistant', id: 'cl', text: long, streaming: false };
        const done = call(
          { loopId: 'b', name: long, prompt: long, state: 'completed' },
          { id: 'd3', status: 'completed', output: `${long}\n\n\`${long}\`` },
        );
        await tell(
          reset({ items: [PROMPT, call(), done], status: RUNNING }),
          rowsOf('a', [...STEPS.slice(1), words, DEEP]),
          rowsOf('a1', STEPS.slice(1, 3)),
        );
        const log = page.locator('.log');
        const spills = async () => log.evaluate((one) => one.scrollWidth - one.clientWidth);
        expect(await spills()).toBe(0);
        await log.evaluate((one) => one.scrollTo(0, 0));
        await page.waitForTimeout(200);
        expect(await spills()).toBe(0);
        await shoot(page, `delegate-${theme}-${width}`);
        await log.evaluate((one) => one.scrollTo(0, one.scrollHeight));
        await page.waitForTimeout(200);
        await shoot(page, `delegate-end-${theme}-${width}`);
      },
      { theme, width, height: 900 },
    ),
  );
});

describe('whom messages go to', () => {
  test('is said above the composer, with one click back to the main agent', () =>
    inChat(async ({ tell, page, said }) => {
      const talksTo = { loopId: 'a', name: 'scout' };
      await tell(reset({ items: [PROMPT, call()], status: { ...RUNNING, talksTo } }));
      expect(await page.locator('.talk').textContent()).toContain('Your messages go to scout');
      const box = page.getByRole('textbox', { name: 'Message' });
      expect(await box.getAttribute('placeholder')).toBe('Write to scout');
      await box.fill('also the tests');
      await box.press('Enter');
      expect((await said('send')).map(({ mode }) => mode)).toEqual(['prompt']);
      await page.getByRole('button', { name: 'Back to the Main Agent' }).click();
      expect((await said('talk_to')).map(({ loopId }) => loopId)).toEqual([null]);
      // What it does stands unfolded as long as it is spoken to, also at rest.
      const done = call({ state: 'completed' }, { status: 'completed', output: 'done' });
      await tell({ type: 'upsert', items: [done] });
      expect(await page.locator('.delegate-rows').count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Talk to scout' }).count()).toBe(0);
      const atWork = { ...IDLE, talksTo, delegatesAtWork: ['a'] };
      await tell({ type: 'status', status: atWork });
      expect(await page.locator('.delegate .tool-status').textContent()).toContain('Running');
      await tell({ type: 'status', status: IDLE });
      expect(await page.locator('.talk').count()).toBe(0);
      expect(await page.locator('.delegate-rows').count()).toBe(0);
    }));

  test('Stop is offered while a delegate works though the session rests', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: [PROMPT], status: { ...IDLE, delegatesAtWork: ['a'] } }));
      expect(await page.locator('.header').textContent()).toContain('A delegate works');
      await page.locator('.header .stop').click();
      expect(await said('stop')).toHaveLength(1);
      await tell({ type: 'status', status: { ...IDLE, delegatesAtWork: ['a', 'b'] } });
      expect(await page.locator('.header').textContent()).toContain('2 delegates work');
      await tell({ type: 'status', status: IDLE });
      expect(await page.locator('.header .stop').count()).toBe(0);
    }));
});
