import type { Page } from 'playwright-core';
import { clickMenuEntry } from './tree.ts';
import { matches, until } from './until.ts';

/** The editor area. */
export interface Editors {
  /** Titles of the open tabs. */
  tabs(): Promise<string[]>;
  waitForTab(title: string | RegExp): Promise<void>;
  clickTab(title: string): Promise<void>;
  /** The lines on screen in the active text editor, top to bottom. */
  text(): Promise<string>;
  /** Waits until the text on screen matches. */
  waitForText(wanted: RegExp): Promise<string>;
  /** Code lenses on screen. */
  lenses(): Promise<string[]>;
  clickLens(text: string): Promise<void>;
  /** Clicks an action in the editor's title bar. */
  titleAction(title: string): Promise<void>;
  /** Opens the context menu where `text` shows and clicks an entry. */
  menu(text: string, entry: string): Promise<void>;
  /** Opens a file of the workspace by name, through Quick Open. */
  open(name: string): Promise<void>;
}

const group = '.editor-group-container.active';

function normal(text: string): string {
  return text.replace(/[\u00a0\u00b7]/g, ' ').replace(/\u200c|\u200b/g, '');
}

export function editors(page: Page): Editors {
  const tabs = () =>
    page
      .locator('.tabs-container .tab .monaco-icon-label')
      .evaluateAll((all) =>
        all.map((tab) =>
          ['name', 'suffix']
            .map((part) => tab.querySelector(`.monaco-icon-${part}-container`)?.textContent ?? '')
            .join(''),
        ),
      );
  const text = async () => {
    const lines = await page.locator(`${group} .monaco-editor .view-lines`).evaluateAll((areas) =>
      areas.flatMap((area) =>
        [...area.querySelectorAll<HTMLElement>('.view-line')]
          .map((line) => ({ top: Number.parseFloat(line.style.top), text: line.textContent ?? '' }))
          .sort((one, other) => one.top - other.top)
          .map((line) => line.text),
      ),
    );
    return normal(lines.join('\n'));
  };
  const lenses = page.locator(`${group} .codelens-decoration a`);
  return {
    tabs,
    text,
    async waitForTab(title) {
      const open = async () => (await tabs()).some((tab) => matches(tab, title));
      await until(`a tab ${title}`, open, { saw: tabs });
    },
    async clickTab(title) {
      const index = await until(`a tab ${title}`, async () => {
        const found = (await tabs()).indexOf(title);
        return found < 0 ? undefined : { found };
      });
      await page.locator('.tabs-container .tab').nth(index.found).click();
    },
    async waitForText(wanted) {
      const look = async () => {
        const found = await text();
        return wanted.test(found) ? found : undefined;
      };
      return until(`editor text ${wanted}`, look, { saw: text });
    },
    async lenses() {
      return lenses.evaluateAll((all) => all.map((lens) => lens.textContent ?? ''));
    },
    async clickLens(name) {
      await lenses.getByText(name).first().click();
    },
    async titleAction(title) {
      await page
        .locator(`${group} .title .editor-actions a[aria-label^="${title}"]`)
        .first()
        .click();
    },
    async menu(where, entry) {
      const place = page.locator(`${group} .view-line span span`).getByText(where).first();
      await place.click({ button: 'right' });
      await clickMenuEntry(page, entry);
    },
    async open(name) {
      await page.keyboard.press('Control+p');
      await page.locator('.quick-input-widget .quick-input-box input').first().fill(name);
      // Exactly that name: titles of other editors may hold it too.
      const label = page.locator('.monaco-icon-name-container').getByText(name, { exact: true });
      await page.locator('.quick-input-list .monaco-list-row', { has: label }).first().click();
      await until(`a tab ${name}`, async () => (await tabs()).includes(name), { saw: tabs });
    },
  };
}
