import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { OpenOptions } from '../../vscode/driver/prepare.ts';
import type { StatusItem } from '../../vscode/driver/status-bar.ts';
import type { Tree } from '../../vscode/driver/tree.ts';
import { until } from '../../vscode/driver/until.ts';
import type { VsCodeWindow } from '../../vscode/driver.ts';
import { type Process, signal } from '../../vscode/serve/processes.ts';
import { isSessionHost } from '../../vscode/serve/session-hosts.ts';
import { useVsCode } from '../../vscode/use-vscode.ts';
import { Chat } from './chat.ts';

/** Pilothouse in a VS Code window, driven as a person drives it. */
export class Pilothouse {
  readonly #window: () => VsCodeWindow;
  readonly chat: Chat;

  constructor(window: () => VsCodeWindow) {
    this.#window = window;
    this.chat = new Chat(window);
  }

  get window(): VsCodeWindow {
    return this.#window();
  }

  /** The Sessions view, opened by its icon. */
  async sessions(): Promise<Tree> {
    await this.window.openContainer('Pilothouse');
    return this.window.tree('Sessions');
  }

  /** Shows the chat by a session's row. While a window starts its rows move under the mouse: then it is clicked again. */
  async openSession(title: string | RegExp): Promise<void> {
    const shown = () => until('', () => this.chat.isVisible(), { milliseconds: 5000 });
    const open = async () => {
      await (await this.sessions()).click(title);
      return shown().catch(() => false);
    };
    await until(`the chat of ${title}`, open, { milliseconds: 60_000 });
  }

  /** Starts a session from the command palette and waits until it can be written to. */
  async newSession(): Promise<void> {
    const before = (await this.chat.isVisible()) ? await this.chat.shown() : '';
    await this.window.runCommand('Pilothouse: New Session');
    await this.chat.waitForNew(before);
  }

  /** Starts a session whose mode is Code: it writes and runs in the folder without asking. */
  async newCodeSession(): Promise<void> {
    await this.newSession();
    await this.chat.choose('Mode', 'Code');
  }

  /** The id of the session in the chat, taken as a person takes it: by Copy Session ID. */
  async sessionId(): Promise<string> {
    await this.window.page.evaluate(() => navigator.clipboard.writeText(''));
    await this.window.runCommand('Pilothouse: Copy Session ID');
    return until('an id on the clipboard', () =>
      this.window.page.evaluate(() => navigator.clipboard.readText()).then((text) => text || null),
    );
  }

  /** What the status bar says about open questions; undefined while there are none. */
  async waitingItem(): Promise<StatusItem | undefined> {
    const items = await this.window.statusBar.items();
    return items.find(({ id }) => id.endsWith('pilothouse.internal.waiting'));
  }

  async waitForWaiting(count: number): Promise<StatusItem | undefined> {
    await until(`${count} open questions in the status bar`, async () => {
      return ((await this.waitingItem())?.text ?? '0') === String(count);
    });
    return this.waitingItem();
  }

  /** Stops whatever a test that failed left running, so that the next one begins in peace. */
  async calm(): Promise<void> {
    const { statusBar, quickInput } = this.window;
    if (await quickInput.isOpen()) await quickInput.cancel();
    const busy = async () =>
      (await statusBar.items()).some(({ text }) => /running|Stopping/.test(text));
    // A turn that is about to end by itself would take the command out of the palette again.
    const idle = until('quiet', async () => !(await busy()), { milliseconds: 3000 });
    if (await idle.catch(() => false)) return;
    await this.window.runCommand('Pilothouse: Stop All Sessions');
    await until('quiet', async () => !(await busy()));
  }

  /** The agent-core processes of this server's windows: doors to the session host. */
  agents(): Process[] {
    return this.window
      .extensionHostChildren()
      .filter((one) => one.command.includes('agent-core.mjs') && !isSessionHost(one));
  }

  /** The processes that the sessions live in. */
  hosts(): Process[] {
    return this.window.server.sessionHosts();
  }

  /** The session host, which must be there. */
  hostPid(): number {
    const [host] = this.hosts();
    if (!host) throw new Error('There is no session host.');
    return host.pid;
  }

  /** Crashes the session host: no word to anybody. */
  killHost(): void {
    for (const { pid } of this.hosts()) signal(pid, 'SIGKILL');
  }
}

/** One VS Code with Pilothouse for all tests of a file, on a folder of its own, and that folder. */
export function usePilothouse(
  prepare: (folder: string) => Promise<Partial<OpenOptions>> = async () => ({}),
): { readonly pilothouse: Pilothouse; readonly file: (name: string) => string } {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pilothouse-host-'));
  });
  const window = useVsCode(async () => ({ folder, ...(await prepare(folder)) }));
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { pilothouse: new Pilothouse(window), file: (name) => join(folder, name) };
}
