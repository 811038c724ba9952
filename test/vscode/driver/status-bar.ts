import type { Locator, Page } from 'playwright-core';
import { matches, plain, shownText, until } from './until.ts';

/** An item of the status bar. */
export interface StatusItem {
  /** `publisher.extension.itemId` for an extension's item. */
  readonly id: string;
  readonly text: string;
  readonly ariaLabel: string;
  /** Whether it has the warning or error background. */
  readonly kind: 'plain' | 'warning' | 'error';
}

/** The status bar. Items are found by their visible text. */
export interface StatusBar {
  /** Items on screen, from left to right. */
  items(): Promise<StatusItem[]>;
  waitFor(text: string | RegExp, milliseconds?: number): Promise<StatusItem>;
  waitUntilGone(text: string | RegExp): Promise<void>;
  click(text: string | RegExp): Promise<void>;
  /** Hovers the item and returns its tooltip's text. */
  tooltip(text: string | RegExp): Promise<string>;
}

function kindOf(classes: string): StatusItem['kind'] {
  if (classes.includes('error-kind')) return 'error';
  return classes.includes('warning-kind') ? 'warning' : 'plain';
}

export function statusBar(page: Page): StatusBar {
  const items = async (): Promise<StatusItem[]> => {
    const found = await page.locator('.part.statusbar .statusbar-item').evaluateAll((all) =>
      all
        .filter((item) => item.getClientRects().length > 0)
        .map((item) => ({
          left: item.getBoundingClientRect().left,
          id: item.id,
          text: item.textContent ?? '',
          ariaLabel:
            item.querySelector('[aria-label]')?.getAttribute('aria-label') ??
            item.getAttribute('aria-label') ??
            '',
          classes: item.className,
        }))
        .sort((one, other) => one.left - other.left),
    );
    return found.map(({ id, text, ariaLabel, classes }) => ({
      id,
      text: plain(text),
      ariaLabel,
      kind: kindOf(classes),
    }));
  };
  const find = async (text: string | RegExp) =>
    (await items()).find((item) => matches(item.text, text));
  const waitFor = (text: string | RegExp, milliseconds?: number) =>
    until(`status bar item ${text}`, () => find(text), {
      saw: items,
      ...(milliseconds !== undefined && { milliseconds }),
    });
  const locate = async (text: string | RegExp): Promise<Locator> =>
    page.locator(`.part.statusbar [id="${(await waitFor(text)).id}"]`);
  return {
    items,
    waitFor,
    async waitUntilGone(text) {
      const gone = async () => (await find(text)) === undefined;
      await until(`no status bar item ${text}`, gone, { saw: items });
    },
    async click(text) {
      const item = await locate(text);
      await item.locator('a.statusbar-item-label').click();
    },
    async tooltip(text) {
      const item = await locate(text);
      await item.hover();
      const hover = page.locator('.workbench-hover-container .hover-contents');
      await hover.first().waitFor();
      return await shownText(hover.first());
    },
  };
}
