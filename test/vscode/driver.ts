import { mkdir, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { type Editors, editors } from './driver/editor.ts';
import {
  type Dialogs,
  dialogs,
  type Notifications,
  notifications,
} from './driver/notifications.ts';
import {
  newContext,
  type OpenOptions,
  prepare,
  type Session,
  writeSettings,
} from './driver/prepare.ts';
import { type QuickInput, quickInput, runCommand } from './driver/quick-input.ts';
import { type StatusBar, statusBar } from './driver/status-bar.ts';
import { type Tree, tree } from './driver/tree.ts';
import { shownText, until } from './driver/until.ts';
import { type WebviewQuery, webview } from './driver/webview.ts';
import { checkout } from './install/paths.ts';
import { launchBrowser } from './serve/browser.ts';
import type { Process } from './serve/processes.ts';
import { type Server, startServer } from './serve/server.ts';
import { windowUrl } from './serve/url.ts';

/** A VS Code window of a server of its own, driven by clicks and keys. */
export interface VsCodeWindow {
  readonly page: Page;
  readonly server: Server;
  readonly folder: string | undefined;
  /** The data folder that agent-core uses here. */
  readonly home: string;
  readonly notifications: Notifications;
  readonly dialogs: Dialogs;
  readonly statusBar: StatusBar;
  readonly quickInput: QuickInput;
  readonly editors: Editors;
  /** The tree view with that title; open its container first. */
  tree(title: string): Tree;
  /** The document of a webview on screen. */
  webview(query?: WebviewQuery): Promise<Frame>;
  /** Runs a command through the palette by the label it has there. */
  runCommand(label: string): Promise<void>;
  /** Presses keys one after another, such as `Control+Shift+P`. */
  pressKeys(...keys: string[]): Promise<void>;
  /** Clicks a view container in the activity bar, by its title; it stays open if it is already. */
  openContainer(title: string): Promise<void>;
  /** Waits until no extension is being activated. */
  settled(): Promise<void>;
  /** The number or text on the badge of an activity bar icon; '' if there is none. */
  badge(title: string): Promise<string>;
  /** Loses or regains the focus, as if the person looked at another window. */
  setFocused(focused: boolean): Promise<void>;
  /** Changes user settings while the window is open. */
  changeSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  /** Grants trust as a person does, through the trust editor. */
  trustWorkspace(): Promise<void>;
  /** Reloads the window as a person does. */
  reload(): Promise<void>;
  /** Closes the window as a person does; {@link reopen} opens it again. */
  close(): Promise<void>;
  reopen(): Promise<void>;
  /** Kills the browser without a word to the server. */
  killBrowser(): Promise<void>;
  /** Opens another window of the same VS Code, on `folder` or the same one; its `dispose` closes it alone. */
  openAnother(folder?: string): Promise<VsCodeWindow>;
  /**
   * Stops the server (SIGTERM), starts it again on the same port and opens the window again. Session hosts live on.
   */
  restartServer(): Promise<void>;
  /** Saves a PNG: an absolute path, or a name under `test/output/screens`. Returns the path. */
  screenshot(name: string): Promise<string>;
  /** What runs below the extension hosts now, orphans included. */
  extensionHostChildren(): Process[];
  /** What the page's console got, extension host included. */
  consoleLog(): readonly string[];
  serverLog(): string;
  /** Closes everything; resolves with the processes that had to be killed (should be none). */
  dispose(): Promise<readonly Process[]>;
}

class DrivenWindow implements VsCodeWindow {
  readonly #session: Session;
  #server: Server;
  #browser: Browser;
  #context: BrowserContext;
  #page: Page;

  constructor(
    session: Session,
    server: Server,
    browser: Browser,
    context: BrowserContext,
    page: Page,
  ) {
    this.#session = session;
    this.#server = server;
    this.#browser = browser;
    this.#context = context;
    this.#page = page;
  }

  get page(): Page {
    return this.#page;
  }
  get server(): Server {
    return this.#server;
  }
  get folder(): string | undefined {
    return this.#session.options.folder;
  }
  get home(): string {
    return this.#session.home;
  }
  get notifications(): Notifications {
    return notifications(this.#page);
  }
  get dialogs(): Dialogs {
    return dialogs(this.#page);
  }
  get statusBar(): StatusBar {
    return statusBar(this.#page);
  }
  get quickInput(): QuickInput {
    return quickInput(this.#page);
  }
  get editors(): Editors {
    return editors(this.#page);
  }

  tree(title: string): Tree {
    return tree(this.#page, title);
  }

  webview(query?: WebviewQuery): Promise<Frame> {
    return webview(this.#page, query);
  }

  runCommand(label: string): Promise<void> {
    return runCommand(this.#page, label);
  }

  async pressKeys(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }

  #activity(title: string) {
    const label = `.action-label[aria-label^="${title}"]`;
    return this.#page.locator('.part.activitybar .action-item', { has: this.#page.locator(label) });
  }

  async openContainer(title: string): Promise<void> {
    const item = this.#activity(title).first();
    await item.waitFor();
    if ((await item.getAttribute('aria-expanded')) !== 'true') await item.click();
    await until(`the container ${title}`, async () => {
      return (await item.getAttribute('aria-expanded')) === 'true';
    });
    await this.#page.mouse.move(0, 0); // So that no hover covers the view.
  }

  async settled(): Promise<void> {
    const busy = (text: string) => text.startsWith('Activating Extensions');
    await until('extensions to be activated', async () => {
      return !(await this.statusBar.items()).some((item) => busy(item.text));
    });
  }

  async badge(title: string): Promise<string> {
    const badge = this.#activity(title).first().locator('.badge-content');
    return (await badge.isVisible()) ? await shownText(badge) : '';
  }

  async setFocused(focused: boolean): Promise<void> {
    await this.#page.evaluate((now) => {
      document.hasFocus = () => now;
      window.dispatchEvent(new Event(now ? 'focus' : 'blur'));
    }, focused);
  }

  changeSettings(settings: Readonly<Record<string, unknown>>): Promise<void> {
    return writeSettings(this.#session, settings);
  }

  async trustWorkspace(): Promise<void> {
    await this.runCommand('Workspaces: Manage Workspace Trust');
    const editor = this.#page.locator('.workspace-trust-editor');
    await editor.locator('a.monaco-button', { hasText: 'Trust' }).first().click();
    await editor.locator('.workspace-trust-title', { hasText: 'You trust' }).first().waitFor();
    await this.#page.locator('.modal-editor-part a[aria-label^="Close"]').first().click();
    await editor.first().waitFor({ state: 'detached' });
  }

  async #open(): Promise<void> {
    const { options, lines } = this.#session;
    this.#page.on('console', (message) => lines.push(message.text()));
    await this.#page.goto(
      windowUrl(this.#server.url, {
        ...(options.folder !== undefined && { folder: options.folder }),
        ...(options.workspace !== undefined && { workspace: options.workspace }),
      }),
    );
    await this.#restored();
  }

  async #restored(): Promise<void> {
    const part = (selector: string) =>
      this.#page.locator(selector).first().waitFor({ timeout: 60_000 });
    await part('.part.activitybar .action-item');
    await part('.part.statusbar .statusbar-item');
  }

  async reload(): Promise<void> {
    await this.#page.reload();
    await this.#restored();
  }

  async close(): Promise<void> {
    const closed = this.#page.waitForEvent('close');
    await this.#page.close({ runBeforeUnload: true });
    await closed;
  }

  async reopen(): Promise<void> {
    if (!this.#browser.isConnected()) {
      this.#browser = await launchBrowser();
      this.#context = await newContext(this.#browser, this.#session.options);
    }
    this.#page = await this.#context.newPage();
    await this.#open();
  }

  async killBrowser(): Promise<void> {
    const session = await this.#browser.newBrowserCDPSession();
    const gone = new Promise((resolve) => this.#browser.once('disconnected', resolve));
    await session.send('Browser.crash').catch(() => undefined); // It cannot answer any more.
    await gone;
  }

  async openAnother(folder = this.folder): Promise<VsCodeWindow> {
    const own = { ...this.#session.options, ...(folder === undefined ? {} : { folder }) };
    const context = await newContext(this.#browser, own);
    const session = { ...this.#session, options: own };
    const page = await context.newPage();
    const other = new DrivenWindow(session, this.#server, this.#browser, context, page);
    other.dispose = async () => {
      await context.close();
      return [];
    };
    await other.#open();
    return other;
  }

  async restartServer(): Promise<void> {
    const port = Number(new URL(this.#server.url).port);
    await this.#server.stop({ keepHosts: true });
    this.#server = await startServer({ ...this.#session.serverOptions, port });
    await this.#page.close();
    this.#page = await this.#context.newPage();
    await this.#open();
  }

  async screenshot(name: string): Promise<string> {
    const file = isAbsolute(name) ? name : join(checkout, 'test/output/screens', name);
    const path = file.endsWith('.png') ? file : `${file}.png`;
    await mkdir(dirname(path), { recursive: true });
    await this.#page.screenshot({ path });
    return path;
  }

  extensionHostChildren(): Process[] {
    return this.#server.extensionHostChildren();
  }

  consoleLog(): readonly string[] {
    return this.#session.lines;
  }

  serverLog(): string {
    return this.#server.log();
  }

  async dispose(): Promise<readonly Process[]> {
    if (this.#browser.isConnected()) await this.#browser.close();
    const killed = await this.#server.stop();
    await rm(this.#session.scratch, { recursive: true, force: true, maxRetries: 5 });
    return killed;
  }

  /** Opens the first window. */
  static async open(options: OpenOptions): Promise<DrivenWindow> {
    const session = await prepare(options);
    const server = await startServer(session.serverOptions);
    const browser = await launchBrowser().catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    const context = await newContext(browser, options);
    const window = new DrivenWindow(session, server, browser, context, await context.newPage());
    try {
      await window.#open();
      return window;
    } catch (error) {
      await window.dispose();
      throw error;
    }
  }
}

/** Starts a server, opens a window and waits until its workbench stands. */
export function openVsCode(options: OpenOptions = {}): Promise<VsCodeWindow> {
  return DrivenWindow.open(options);
}
