import type { Locator, Page } from 'playwright-core';
import { matches, plain, shownText, until } from './until.ts';

/** An entry of a quick pick. */
export interface QuickEntry {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

/** The quick pick or input box at the top of the window. */
export interface QuickInput {
  isOpen(): Promise<boolean>;
  /** Waits for it; resolves with title and placeholder or prompt. */
  waitFor(): Promise<{ title: string; placeholder: string; message: string }>;
  waitUntilClosed(): Promise<void>;
  entries(): Promise<QuickEntry[]>;
  /** Picks the entry with that label. */
  pick(label: string | RegExp): Promise<void>;
  /** Picks it if it can be picked right now; false if not, and then nothing was clicked. */
  tryPick(label: string | RegExp): Promise<boolean>;
  /** Ticks or unticks an entry of a pick of many; `accept()` ends it. */
  toggle(label: string | RegExp): Promise<void>;
  /** Clicks a button of an entry by its tooltip. */
  entryButton(label: string | RegExp, tooltip: string): Promise<void>;
  /** Replaces the text of the input. */
  type(text: string): Promise<void>;
  /** Enter. */
  accept(): Promise<void>;
  /** Escape. */
  cancel(): Promise<void>;
}

class PageQuickInput implements QuickInput {
  readonly #page: Page;
  readonly #widget: Locator;
  readonly #input: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#widget = page.locator('.quick-input-widget');
    this.#input = this.#widget.locator('.quick-input-box input').first();
  }

  isOpen(): Promise<boolean> {
    return this.#widget.first().isVisible();
  }

  async waitFor(): Promise<{ title: string; placeholder: string; message: string }> {
    await until('a quick input', () => this.isOpen());
    const message = this.#widget.locator('.quick-input-message');
    return {
      title: await shownText(this.#widget.locator('.quick-input-title')),
      placeholder: (await this.#input.getAttribute('placeholder')) ?? '',
      message: (await message.isVisible()) ? await shownText(message) : '',
    };
  }

  async waitUntilClosed(): Promise<void> {
    await until('the quick input to close', async () => !(await this.isOpen()));
  }

  async #raw(): Promise<{ id: string; entry: QuickEntry }[]> {
    const rows = this.#widget.locator('.quick-input-list .monaco-list-row');
    const found = await rows.evaluateAll((all) =>
      all.map((row) => ({
        top: Number.parseFloat((row as HTMLElement).style.top),
        id: row.id,
        label: row.querySelector('.monaco-icon-name-container')?.textContent ?? '',
        description: row.querySelector('.label-description')?.textContent ?? '',
        detail: row.querySelector('.quick-input-list-label-meta')?.textContent ?? '',
      })),
    );
    return found
      .sort((one, other) => one.top - other.top)
      .map(({ id, label, description, detail }) => ({
        id,
        entry: { label: plain(label), description: plain(description), detail: plain(detail) },
      }));
  }

  async entries(): Promise<QuickEntry[]> {
    return (await this.#raw()).map(({ entry }) => entry);
  }

  async #locate(label: string | RegExp): Promise<Locator> {
    const look = async () => (await this.#raw()).find(({ entry }) => matches(entry.label, label));
    const { id } = await until(`entry ${label} in the quick pick`, look, {
      saw: async () => (await this.entries()).map((entry) => entry.label).slice(0, 20),
    });
    return this.#page.locator(`[id="${id}"]`);
  }

  async pick(label: string | RegExp): Promise<void> {
    await (await this.#locate(label)).click();
  }

  async tryPick(label: string | RegExp): Promise<boolean> {
    const found = (await this.#raw()).find(({ entry }) => matches(entry.label, label));
    if (!found) return false;
    const click = this.#page.locator(`[id="${found.id}"]`).click({ timeout: 2000 });
    return click.then(
      () => true,
      () => false,
    );
  }

  async toggle(label: string | RegExp): Promise<void> {
    await (await this.#locate(label)).locator('.monaco-checkbox').click();
  }

  async entryButton(label: string | RegExp, tooltip: string): Promise<void> {
    const row = await this.#locate(label);
    await row.hover();
    await row.locator(`.quick-input-list-entry-action-bar a[aria-label="${tooltip}"]`).click();
  }

  async type(text: string): Promise<void> {
    await until('a quick input', () => this.isOpen());
    await this.#input.fill(text);
  }

  async accept(): Promise<void> {
    await this.#input.press('Enter');
  }

  async cancel(): Promise<void> {
    await until('the quick input to close', async () => {
      // The first one may only close a hover.
      if (await this.isOpen()) await this.#page.keyboard.press('Escape');
      return !(await this.isOpen());
    });
  }
}

/** The window's quick input. */
export function quickInput(page: Page): QuickInput {
  return new PageQuickInput(page);
}

/** A window that starts on a busy machine may take as long to know the commands of its extensions. */
const STARTING_MS = 60_000;

/**
 * Runs a command through the palette (F1), by the exact label it has there, such as
 * `Pilothouse: New Session`. Waits until the palette offers it, so that it also waits for
 * extensions to load and for `enablement`.
 */
export async function runCommand(page: Page, label: string): Promise<void> {
  const quick = quickInput(page);
  const palette = page.locator('.quick-input-widget input[placeholder*="command to run"]');
  const offers = async () => (await quick.entries()).some((entry) => entry.label === label);
  const offered = async () => {
    if (!(await palette.isVisible())) await page.keyboard.press('F1');
    // While a window starts, whatever takes the focus closes the palette: then it is opened again.
    const filled = await palette.fill(`>${label}`, { timeout: 2000 }).then(
      () => true,
      () => false,
    );
    if (!filled) return false;
    const isThere = await until('', offers, { milliseconds: 1500 }).catch(() => false);
    if (isThere && (await quick.tryPick(label))) return true;
    if (await palette.isVisible()) await page.keyboard.press('Escape');
    return false;
  };
  await until(`the command palette to offer "${label}"`, offered, { milliseconds: STARTING_MS });
}
