import type { Page } from 'playwright-core';
import { matches, plain, shownText, until } from './until.ts';

/** A notification as it shows. */
export interface Notification {
  readonly text: string;
  readonly severity: 'info' | 'warning' | 'error' | 'unknown';
  readonly buttons: readonly string[];
}

/** The toasts at the corner, the notification centre, and modal dialogs. */
export interface Notifications {
  /** The toasts on screen, top one first. */
  list(): Promise<Notification[]>;
  /** Waits for a toast whose text is `text`, or matches it. */
  waitFor(text: string | RegExp, milliseconds?: number): Promise<Notification>;
  /** Clicks a button of that toast. */
  click(text: string | RegExp, button: string): Promise<void>;
  /** Clicks the X of that toast. */
  dismiss(text: string | RegExp): Promise<void>;
  /** Waits until no toast has that text. */
  waitUntilGone(text: string | RegExp, milliseconds?: number): Promise<void>;
}

/** Modal dialogs: VS Code shows one at a time. */
export interface Dialogs {
  /** The text of the open dialog, or undefined. */
  text(): Promise<string | undefined>;
  waitFor(text: string | RegExp): Promise<string>;
  click(button: string): Promise<void>;
}

const toast = '.notifications-toasts .notification-list-item';
const button = '.notification-list-item-buttons-container a.monaco-button';

function severityOf(classes: string): Notification['severity'] {
  if (classes.includes('codicon-error')) return 'error';
  if (classes.includes('codicon-warning')) return 'warning';
  return classes.includes('codicon-info') ? 'info' : 'unknown';
}

export function notifications(page: Page): Notifications {
  const list = async () => {
    const found = await page.locator(toast).evaluateAll(
      (items, buttonSelector) =>
        items.map((item) => ({
          text: item.querySelector('.notification-list-item-message')?.textContent ?? '',
          icon: item.querySelector('.notification-list-item-icon')?.className ?? '',
          buttons: [...item.querySelectorAll(buttonSelector)].map((one) => one.textContent ?? ''),
        })),
      button,
    );
    return found.map(({ text, icon, buttons }) => ({
      text: plain(text),
      severity: severityOf(icon),
      buttons: buttons.map(plain),
    }));
  };
  const indexOf = async (text: string | RegExp) => {
    const index = (await list()).findIndex((one) => matches(one.text, text));
    return index < 0 ? undefined : { index };
  };
  const locate = async (text: string | RegExp, milliseconds?: number) => {
    const { index } = await until(`a toast ${text}`, () => indexOf(text), {
      saw: list,
      ...(milliseconds !== undefined && { milliseconds }),
    });
    return { index, item: page.locator(toast).nth(index) };
  };
  return {
    list,
    async waitFor(text, milliseconds) {
      const found = () => list().then((all) => all.find((one) => matches(one.text, text)));
      return until(`a toast ${text}`, found, {
        saw: list,
        ...(milliseconds !== undefined && { milliseconds }),
      });
    },
    async click(text, name) {
      const { item } = await locate(text);
      await item.locator(button).getByText(name, { exact: true }).click();
    },
    async dismiss(text) {
      const { item } = await locate(text);
      await item.hover();
      await item.locator('.codicon-notifications-clear').click();
    },
    async waitUntilGone(text, milliseconds) {
      await until(`no toast ${text}`, async () => (await indexOf(text)) === undefined, {
        saw: list,
        ...(milliseconds !== undefined && { milliseconds }),
      });
    },
  };
}

export function dialogs(page: Page): Dialogs {
  const box = page.locator('.monaco-dialog-box');
  const text = async () => {
    if ((await box.count()) === 0) return undefined;
    return await shownText(box.locator('.dialog-message-container').first());
  };
  return {
    text,
    async waitFor(wanted) {
      const look = async () => {
        const found = await text();
        return found !== undefined && matches(found, wanted) ? found : undefined;
      };
      return until(`a dialog ${wanted}`, look, { saw: text });
    },
    async click(name) {
      await box.locator('a.monaco-button').getByText(name, { exact: true }).click();
      await box.waitFor({ state: 'detached' });
    },
  };
}
