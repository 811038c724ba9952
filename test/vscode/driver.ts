import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { type Editors, editors } from './driver/editor.ts';
import {
  type Dialogs,
  dialogs,
  type Notifications,
  notifications,
} from './driver/notifications.ts';
import { type QuickInput, quickInput, runCommand } from './driver/quick-input.ts';
import { type StatusBar, statusBar } from './driver/status-bar.ts';
import { type Tree, tree } from './driver/tree.ts';
import { shownText, until } from './driver/until.ts';
import { type WebviewQuery, webview } from './driver/webview.ts';
import { checkout } from './install/paths.ts';
import { ensureVsCode } from './install/vscode.ts';
import { launchBrowser } from './serve/browser.ts';
import { linkExtensions } from './serve/extensions.ts';
import type { Process } from './serve/processes.ts';
import { type Server, type ServerOptions, startServer } from './serve/server.ts';
import { windowUrl } from './serve/url.ts';

/** The colour themes that screenshots are taken in. */
export const themes = {
  dark: 'Dark Modern',
  light: 'Light Modern',
  highContrast: 'Default High Contrast',
  highContrastLight: 'Default High Contrast Light',
} as const;

/** What {@link openVsCode} opens. Paths are absolute. */
export interface OpenOptions {
  readonly folder?: string;
  /** A `.code-workspace` file, instead of a folder. */
  readonly workspace?: string;
  /** Folders of the extensions to load. Default: this checkout. */
  readonly extensionDevelopmentPaths?: readonly string[];
  /** false: Restricted Mode until {@link VsCodeWindow.trustWorkspace}. Default: true. */
  readonly trust?: boolean;
  /** Added to the harness's own quiet user settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Kept when given; else a temporary one that goes with the window. */
  readonly userDataDir?: string;
  /** A language such as `de`, for extensions and their manifests (VS Code's own stays English). */
  readonly locale?: string;
  readonly theme?: keyof typeof themes;
  /** For the server and the extension host. `PILOTHOUSE_HOME` is a temporary one unless given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly size?: { readonly width: number; readonly height: number };
  /** Device pixels per CSS pixel. Default: 1. */
  readonly scale?: number;
}

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
  /** Stops the server (SIGTERM), starts it again on the same port and opens the window again. */
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

const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.editor.empty.hint': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'git.openRepositoryInParentFolders': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.banner': 'never',
  'files.autoSave': 'off',
  'terminal.integrated.gpuAcceleration': 'off',
};

interface Session {
  readonly options: OpenOptions;
  readonly scratch: string;
  readonly userDataDir: string;
  readonly home: string;
  readonly serverOptions: ServerOptions;
  readonly lines: string[];
}

async function writeSettings(
  session: Session,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  const file = join(session.userDataDir, 'User/settings.json');
  await mkdir(dirname(file), { recursive: true });
  const old = await readFile(file, 'utf8').catch(() => '{}');
  const before: unknown = JSON.parse(old);
  await writeFile(file, JSON.stringify({ ...(before as object), ...settings }, undefined, 2));
}

async function prepare(options: OpenOptions): Promise<Session> {
  const vsCode = await ensureVsCode();
  const scratch = await mkdtemp(join(tmpdir(), 'pilothouse-vscode-'));
  const userDataDir = options.userDataDir ?? join(scratch, 'user');
  const home = options.env?.['PILOTHOUSE_HOME'] ?? join(scratch, 'home');
  const extensionsDir = join(scratch, 'extensions');
  const serverDataDir = join(scratch, 'server');
  for (const folder of [userDataDir, home, extensionsDir, serverDataDir]) {
    await mkdir(folder, { recursive: true });
  }
  await linkExtensions(extensionsDir, options.extensionDevelopmentPaths ?? [checkout]);
  const trust = options.trust ?? true;
  const env = { EXTENSIONS_GALLERY: '{}', ...options.env, PILOTHOUSE_HOME: home };
  const folders = { userDataDir, extensionsDir, serverDataDir };
  const serverOptions = { vsCode, ...folders, trust, development: false, env };
  const session = { options, scratch, userDataDir, home, serverOptions, lines: [] };
  await writeSettings(session, {
    ...quietSettings,
    'workbench.colorTheme': themes[options.theme ?? 'dark'],
    ...options.settings,
  });
  return session;
}

async function newContext(browser: Browser, options: OpenOptions): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: options.size ?? { width: 1440, height: 900 },
    deviceScaleFactor: options.scale ?? 1,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (options.locale) {
    await context.addInitScript((language) => {
      Object.assign(globalThis, { _VSCODE_NLS_LANGUAGE: language });
    }, options.locale);
  }
  return context;
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

  async restartServer(): Promise<void> {
    const port = Number(new URL(this.#server.url).port);
    await this.#server.stop();
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
