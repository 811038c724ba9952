import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { checkout } from '../install/paths.ts';
import { ensureVsCode } from '../install/vscode.ts';
import { linkExtensions } from '../serve/extensions.ts';
import type { ServerOptions } from '../serve/server.ts';

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
  /**
   * For the server and the extension host. `PILOTHOUSE_HOME` is a temporary one unless given, and a session host that
   * nobody needs ends after ten seconds.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly size?: { readonly width: number; readonly height: number };
  /** Device pixels per CSS pixel. Default: 1. */
  readonly scale?: number;
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

/** What a window and those that follow it on the same server are opened with. */
export interface Session {
  readonly options: OpenOptions;
  readonly scratch: string;
  readonly userDataDir: string;
  readonly home: string;
  readonly serverOptions: ServerOptions;
  readonly lines: string[];
}

/** Changes user settings. */
export async function writeSettings(
  session: Session,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  const file = join(session.userDataDir, 'User/settings.json');
  await mkdir(dirname(file), { recursive: true });
  const old = await readFile(file, 'utf8').catch(() => '{}');
  const before: unknown = JSON.parse(old);
  await writeFile(file, JSON.stringify({ ...(before as object), ...settings }, undefined, 2));
}

/** Makes the folders of a server and writes its settings. */
export async function prepare(options: OpenOptions): Promise<Session> {
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
  const own = { EXTENSIONS_GALLERY: '{}', PILOTHOUSE_IDLE_MS: '10000' };
  const env = { ...own, ...options.env, PILOTHOUSE_HOME: home };
  const folders = { userDataDir, extensionsDir, serverDataDir };
  const run = randomUUID();
  const serverOptions = { vsCode, ...folders, trust, development: false, env, run };
  const session = { options, scratch, userDataDir, home, serverOptions, lines: [] };
  await writeSettings(session, {
    ...quietSettings,
    'workbench.colorTheme': themes[options.theme ?? 'dark'],
    ...options.settings,
  });
  return session;
}

/** A browser profile as the options want it. */
export async function newContext(browser: Browser, options: OpenOptions): Promise<BrowserContext> {
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
