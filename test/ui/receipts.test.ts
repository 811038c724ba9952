import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shownText } from '../vscode/driver/until.ts';
import { launchBrowser } from './support/browser.ts';
import { type MediaServer, startMediaServer } from './support/media-server.ts';
import {
  bareState,
  openReceipts,
  type ReceiptsPage,
  receipt,
  receiptsState,
  TIMELINE,
} from './support/receipts-page.ts';

describe('the receipts page', () => {
  let browser: Browser | undefined;
  let server: MediaServer | undefined;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchBrowser(), startMediaServer()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function withPage(
    use: (receipts: ReceiptsPage) => Promise<void>,
    options?: Parameters<typeof openReceipts>[2],
  ): Promise<void> {
    if (browser === undefined || server === undefined) throw new Error('The browser is not up.');
    const receipts = await openReceipts(browser, server, options);
    await use(receipts);
    expect(receipts.faults).toEqual([]);
    await receipts.page.close();
  }

  it('says who asked for what, what happened and why not', () =>
    withPage(async ({ page, tell }) => {
      await tell(receiptsState({ entries: TIMELINE }));
      const row = (seq: number) => page.locator(`[data-seq="${seq}"]`);
      expect(await shownText(row(5))).toMatch(/Stop\s*stopped[\s\S]*by VS Code \(owner\)/);
      expect(await shownText(row(3))).toMatch(/Steer\s*refused[\s\S]*No turn was running\./);
      expect(await page.locator('.receipts-day').count()).toBe(2);
      await row(3).getByRole('button', { expanded: false }).press('Enter');
      expect(await shownText(row(3).locator('.receipt-details'))).toMatch(
        /session\/inject[\s\S]*rejected \(rejected\)[\s\S]*no_active_prompt/,
      );
      await row(3).getByRole('button', { name: 'Copy as JSON' }).click();
      await row(3).getByText('Copied').waitFor();
    }));

  it('asks for what its filters, buttons and end say', () =>
    withPage(async ({ page, tell, said }) => {
      await tell(receiptsState({ entries: TIMELINE, hasOlder: true }));
      await page.getByRole('combobox', { name: 'Status' }).selectOption('rejected');
      await page.getByRole('combobox', { name: 'Control' }).selectOption('session/cancel');
      await page.getByRole('combobox', { name: 'Receipts of' }).selectOption('host');
      await page.getByRole('button', { name: 'Verify' }).click();
      await page.getByRole('button', { name: 'Export…' }).click();
      expect(await said()).toEqual([
        { type: 'ready' },
        { type: 'load_older' },
        { type: 'filter', filter: { method: null, status: 'rejected' } },
        { type: 'filter', filter: { method: 'session/cancel', status: null } },
        { type: 'stream', stream: 'host' },
        { type: 'verify' },
        { type: 'export' },
      ]);
    }));

  it('shows which chain is whole and which record is broken', () =>
    withPage(async ({ page, tell }) => {
      const chains = [
        { name: 'Conversation', ok: true, text: 'whole: every record fits its hash' },
        { name: 'Receipts', ok: false, text: 'broken at record 5' },
      ];
      await tell(receiptsState({ entries: TIMELINE, verify: { kind: 'done', at: 0, chains } }));
      expect(await shownText(page.locator('.verified-broken'))).toMatch(/broken at record 5/);
      expect(await page.locator('.verified .broken').count()).toBe(1);
    }));

  it('draws of 10,000 receipts only those in sight, and keeps its place when more come', () =>
    withPage(async ({ page, tell }) => {
      const entries = Array.from({ length: 10_000 }, (_, at) =>
        receipt({ seq: 10_000 - at, controlId: `c${at}`, asked: `Receipt ${10_000 - at}` }),
      );
      await tell(receiptsState({ entries }));
      expect(await page.locator('.receipt').count()).toBeLessThan(40);
      const list = page.locator('.receipts-scroll');
      await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await page.getByText('Receipt 1', { exact: true }).waitFor();
      const { entries: _, ...state } = bareState({ entries });
      const newest = receipt({ seq: 10_001, controlId: 'n', asked: 'The newest' });
      await tell({ type: 'more', state, newer: [newest], older: [] });
      await page.getByText('Receipt 1', { exact: true }).waitFor();
      await list.evaluate((element) => element.scrollTo(0, 0));
      await page.getByText('The newest').waitFor();
      await tell({
        type: 'more',
        state,
        newer: [receipt({ seq: 10_002, controlId: 'm', asked: 'Still newer' })],
        older: [],
      });
      await page.getByText('Still newer').waitFor();
    }));

  it('says that there is nothing, that nothing matches, and what went wrong', () =>
    withPage(async ({ page, tell, said }) => {
      await tell(receiptsState({}));
      await page.getByText('No receipts yet').waitFor();
      await tell(receiptsState({ filter: { method: null, status: 'rejected' } }));
      await page.getByRole('button', { name: 'Clear Filter' }).click();
      await tell(receiptsState({ problem: 'The agent is gone.' }));
      expect(await shownText(page.getByRole('alert'))).toContain('The agent is gone.');
      await page.getByRole('button', { name: 'Retry' }).click();
      expect((await said()).slice(-2)).toEqual([
        { type: 'filter', filter: { method: null, status: null } },
        { type: 'refresh' },
      ]);
    }));

  it('needs no sideways scrolling in a narrow column', () =>
    withPage(
      async ({ page, tell }) => {
        await tell(receiptsState({ entries: TIMELINE }));
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(overflow).toBe(0);
      },
      { width: 260 },
    ));
});
