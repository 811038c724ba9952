import { setTimeout as delay } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { matches, plain, shownText, until } from './until.ts';

/** A row of a tree view as it shows. */
export interface TreeRow {
  readonly label: string;
  readonly description: string;
  /** What a screen reader says, state included. */
  readonly ariaLabel: string;
  /** 1 for a top row. */
  readonly level: number;
  /** undefined: it has no children. */
  readonly expanded: boolean | undefined;
  readonly selected: boolean;
  /** Inline actions, in order, without the keys that their tooltips name. */
  readonly actions: readonly string[];
}

/** A tree view that is open. Labels are exact strings or patterns. */
export interface Tree {
  /** The rows on screen (a long tree is virtual). */
  rows(): Promise<TreeRow[]>;
  /** Waits for a row; `accept` may ask more of it, such as a description. */
  waitFor(label: string | RegExp, accept?: (row: TreeRow) => boolean): Promise<TreeRow>;
  waitUntilGone(label: string | RegExp): Promise<void>;
  click(label: string | RegExp): Promise<void>;
  doubleClick(label: string | RegExp): Promise<void>;
  /** Clicks an inline action of a row by its title. */
  action(label: string | RegExp, title: string): Promise<void>;
  /** Opens a row's context menu and clicks an entry. */
  menu(label: string | RegExp, entry: string): Promise<void>;
  expand(label: string | RegExp): Promise<void>;
  collapse(label: string | RegExp): Promise<void>;
  /** Clicks an action in the view's title. */
  titleAction(title: string): Promise<void>;
  /** Unfolds the view itself, if it is folded in its container. */
  unfold(): Promise<void>;
  /** What stands beside the view's title, '' if nothing does. */
  description(): Promise<string>;
  /** The view's message line, '' if there is none. */
  message(): Promise<string>;
  /** The text of the welcome content that an empty view shows. */
  welcome(): Promise<string>;
  /** Clicks a button or link of the welcome content. */
  clickWelcome(name: string): Promise<void>;
}

interface RawRow {
  readonly id: string;
  readonly row: TreeRow;
}

function readRows(list: Locator): Promise<RawRow[]> {
  return list.locator('.monaco-list-row').evaluateAll((rows) =>
    rows
      .map((row) => {
        const expanded = row.getAttribute('aria-expanded');
        const actions = row.querySelectorAll('.actions a.action-label');
        return {
          top: Number.parseFloat((row as HTMLElement).style.top),
          id: row.id,
          row: {
            label: row.querySelector('.label-name')?.textContent ?? '',
            description: row.querySelector('.label-description')?.textContent ?? '',
            ariaLabel: row.getAttribute('aria-label') ?? '',
            level: Number(row.getAttribute('aria-level')),
            expanded: expanded === null ? undefined : expanded === 'true',
            selected: row.getAttribute('aria-selected') === 'true',
            actions: [...actions].map((one) =>
              (one.getAttribute('aria-label') ?? '').replace(/ \([^()]*\)$/, ''),
            ),
          },
        };
      })
      .sort((one, other) => one.top - other.top),
  );
}

/** Longer than a menu takes to act on a click and go away. */
const MENU_GONE_MS = 1_000;

/**
 * A menu that is open: its entry `name` is clicked. A menu lets clicks pass at first, so that letting go of the right
 * button chooses nothing: one that is still there is clicked again.
 */
export async function clickMenuEntry(page: Page, name: string): Promise<void> {
  const entry = page.locator('.monaco-menu .action-menu-item', {
    has: page.locator('.action-label').getByText(name, { exact: true }),
  });
  await entry.first().click();
  await until('the menu to take the click', async () => {
    const isGone = await entry
      .first()
      .waitFor({ state: 'hidden', timeout: MENU_GONE_MS })
      .then(
        () => true,
        () => false,
      );
    // It may go away in between, which is what was wanted.
    if (!isGone)
      await entry
        .first()
        .click({ timeout: MENU_GONE_MS })
        .catch(() => undefined);
    return isGone;
  });
}

class PageTree implements Tree {
  readonly #page: Page;
  readonly #pane: Locator;
  readonly #list: Locator;
  readonly #title: string;

  constructor(page: Page, title: string) {
    this.#page = page;
    this.#title = title;
    // A view's description stands between its title and the last word.
    const labels = [`="${title} Section"`, `^="${title} - "`];
    const header = page.locator(labels.map((label) => `.pane-header[aria-label${label}]`).join());
    this.#pane = page.locator('.pane', { has: header });
    this.#list = page.getByRole('tree', { name: title, exact: true });
  }

  async #raw(): Promise<RawRow[]> {
    const found = await readRows(this.#list);
    return found.map(({ id, row }) => ({
      id,
      row: { ...row, label: plain(row.label), description: plain(row.description) },
    }));
  }

  async #locate(
    label: string | RegExp,
    accept: (row: TreeRow) => boolean = () => true,
  ): Promise<{ row: TreeRow; locator: Locator; id: string }> {
    const look = async () =>
      (await this.#raw()).find(({ row }) => matches(row.label, label) && accept(row));
    const { id, row } = await until(`row ${label} in ${this.#title}`, look, {
      saw: () => this.rows(),
    });
    return { row, id, locator: this.#page.locator(`[id="${id}"]`) };
  }

  /** A row that stays in its place: ids are those of places, and a click on one that moves hits another row. */
  async #settled(
    label: string | RegExp,
    accept?: (row: TreeRow) => boolean,
  ): Promise<{ row: TreeRow; locator: Locator; id: string }> {
    let before = await this.#locate(label, accept);
    await until(`row ${label} to stay in its place`, async () => {
      await delay(200);
      const now = await this.#locate(label, accept);
      const stayed = now.id === before.id;
      before = now;
      return stayed;
    });
    return before;
  }

  async rows(): Promise<TreeRow[]> {
    return (await this.#raw()).map(({ row }) => row);
  }

  async waitFor(label: string | RegExp, accept?: (row: TreeRow) => boolean): Promise<TreeRow> {
    return (await this.#locate(label, accept)).row;
  }

  async waitUntilGone(label: string | RegExp): Promise<void> {
    const gone = async () => !(await this.rows()).some((row) => matches(row.label, label));
    await until(`no row ${label} in ${this.#title}`, gone, { saw: () => this.rows() });
  }

  async click(label: string | RegExp): Promise<void> {
    const { locator } = await this.#settled(label);
    await locator.locator('.monaco-icon-label-container').first().click();
  }

  async doubleClick(label: string | RegExp): Promise<void> {
    const { locator } = await this.#settled(label);
    await locator.locator('.monaco-icon-label-container').first().dblclick();
  }

  async action(label: string | RegExp, title: string): Promise<void> {
    const { row, locator } = await this.#settled(label, ({ actions }) => actions.includes(title));
    await locator.hover();
    await locator.locator('.actions a.action-label').nth(row.actions.indexOf(title)).click();
  }

  async menu(label: string | RegExp, entry: string): Promise<void> {
    const { locator } = await this.#settled(label);
    await locator.click({ button: 'right' });
    await clickMenuEntry(this.#page, entry);
  }

  async #unfold(label: string | RegExp, wanted: boolean): Promise<void> {
    const { row, locator } = await this.#locate(label, ({ expanded }) => expanded !== undefined);
    if (row.expanded !== wanted) await locator.locator('.monaco-tl-twistie').click();
    await this.#locate(label, ({ expanded }) => expanded === wanted);
  }

  expand(label: string | RegExp): Promise<void> {
    return this.#unfold(label, true);
  }

  collapse(label: string | RegExp): Promise<void> {
    return this.#unfold(label, false);
  }

  async titleAction(title: string): Promise<void> {
    // The only view of a container has its actions in the container's title.
    const part = this.#page.locator('.part', { has: this.#pane });
    const own = this.#pane.locator('.pane-header:not(.hidden)');
    const header = (await own.count()) > 0 ? own : part.locator('.title');
    await this.#pane.first().hover();
    await header.locator(`a.action-label[aria-label^="${title}"]`).first().click();
  }

  async unfold(): Promise<void> {
    const header = this.#pane.locator('.pane-header').first();
    if ((await header.getAttribute('aria-expanded')) === 'false') await header.click();
    await this.#list.waitFor();
  }

  async description(): Promise<string> {
    const words = this.#pane.locator('.pane-header .description');
    return (await words.count()) > 0 ? await shownText(words.first()) : '';
  }

  async message(): Promise<string> {
    const message = this.#pane.locator('.message:not(.hide)');
    return (await message.count()) > 0 ? await shownText(message.first()) : '';
  }

  async welcome(): Promise<string> {
    return await shownText(this.#pane.locator('.welcome-view-content').first());
  }

  async clickWelcome(name: string): Promise<void> {
    const content = this.#pane.locator('.welcome-view-content');
    await content.locator('a', { hasText: name }).first().click();
  }
}

/** The tree view with this title, which must be open by the time it is used. */
export function tree(page: Page, title: string): Tree {
  return new PageTree(page, title);
}
