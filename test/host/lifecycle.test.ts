import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { notifications } from '../vscode/driver/notifications.ts';
import { runCommand } from '../vscode/driver/quick-input.ts';
import { shownText, until } from '../vscode/driver/until.ts';
import { webview } from '../vscode/driver/webview.ts';
import { isAlive, processes, signal } from '../vscode/serve/processes.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('agent-core and its window', () => {
  const { pilothouse } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  afterEach(() => pilothouse.calm());

  /** A running session with a background process, in the chat; resolves with its title. */
  async function busySession(): Promise<string> {
    const title = `start sleep ${10_000 + Math.round(Math.random() * 1e9) / 1000}`;
    await pilothouse.newCodeSession();
    await chat.send(title, 'count slowly from 1 to 3000');
    await chat.waitForReply(/\b4\b/);
    return title;
  }

  /** agent-core and all that it started; there must be something to lose. */
  function running(title: string): number[] {
    const sleep = title.slice('start '.length);
    const all = window().extensionHostChildren();
    const own = processes().filter(({ command }) => command.startsWith(sleep));
    expect(pilothouse.agents()).toHaveLength(1);
    expect(own.length).toBeGreaterThan(0);
    return [...new Set([...all, ...own].map(({ pid }) => pid))];
  }

  const allGone = (pids: readonly number[]) =>
    until('every process of the window to end', () => !pids.some(isAlive), {
      milliseconds: 5000,
      saw: () => processes().filter(({ pid }) => pids.includes(pid)),
    });

  const order = async () => {
    const rows = await (await pilothouse.sessions()).rows();
    return rows.filter(({ level }) => level > 1).map(({ label }) => label);
  };

  const waitForOrder = (wanted: readonly string[]) =>
    until(
      `the order ${wanted.join(', ')}`,
      async () => (await order()).join('\n') === wanted.join('\n'),
      { saw: order },
    );

  it('end with a reload, after which the session that was open is there again', async () => {
    await pilothouse.newSession();
    await chat.send('say I am another one');
    await chat.waitForReply('another one');
    const title = await busySession();
    const id = await pilothouse.sessionId();
    const before = running(title);
    const reloaded = window().reload();
    await allGone(before);
    await reloaded;
    await chat.waitForTitle(title);
    await chat.waitForReply(/\b4\b[\s\S]*Stopped/);
    expect(await pilothouse.sessionId()).toBe(id);
    await waitForOrder([title, 'say I am another one']);
    await chat.send('say I go on');
    await chat.waitForReply('I go on');
  });

  it('end when the window is closed, and the session keeps its id once more', async () => {
    const title = await busySession();
    const id = await pilothouse.sessionId();
    const before = running(title);
    await window().close();
    await allGone(before);
    await window().reopen();
    await chat.waitForTitle(title);
    expect(await pilothouse.sessionId()).toBe(id);
  });

  it('end when the server is told to end, and the sessions keep ids and order', async () => {
    await pilothouse.newSession();
    await chat.send('say I was the first');
    await chat.waitForReply('the first');
    const first = await pilothouse.sessionId();
    const title = await busySession();
    const second = await pilothouse.sessionId();
    const before = running(title);
    await (await pilothouse.sessions()).waitFor(title);
    await (await pilothouse.sessions()).waitFor('say I was the first');
    const rows = await order();
    signal(window().server.pid, 'SIGTERM');
    await allGone(before);
    await window().restartServer();
    await chat.waitForTitle(title);
    await waitForOrder(rows);
    expect(await pilothouse.sessionId()).toBe(second);
    await (await pilothouse.sessions()).click('say I was the first');
    await chat.waitForReply('I was the first');
    expect(await pilothouse.sessionId()).toBe(first);
  });

  it('is refused to a second window with the reason, until the first one is closed', async () => {
    await pilothouse.newSession();
    const [holder] = pilothouse.agents();
    expect(holder).toBeDefined();
    const other = await window().page.context().newPage();
    const folder = await mkdtemp(join(tmpdir(), 'pilothouse-host-other-'));
    const url = new URL(window().page.url());
    url.searchParams.set('folder', folder);
    await other.goto(url.href);
    await runCommand(other, 'Pilothouse: New Session');
    await notifications(other).waitFor(new RegExp(`in use by process ${holder?.pid}`), 60_000);
    await runCommand(other, 'Pilothouse: Focus Chat');
    const body = async () => {
      const frame = await webview(other, { containing: '.composer', milliseconds: 60_000 });
      return frame.locator('body');
    };
    const says = (wanted: RegExp) =>
      until(
        `the second window to say ${wanted}`,
        async () => wanted.test(await shownText(await body())),
        { milliseconds: 60_000, saw: async () => shownText(await body()) },
      );
    await says(new RegExp(`not running.*in use by process ${holder?.pid}`));
    await window().close();
    await allGone([holder?.pid ?? 0]);
    const restart = async () => (await body()).getByText('Restart', { exact: true });
    await until(
      'the second window to have its agent-core',
      async () => {
        // It may have tried again by itself.
        const click = (await restart()).click({ timeout: 1000 });
        await click.catch(() => undefined);
        return (await shownText(await body())).includes('No session yet');
      },
      { milliseconds: 60_000, saw: async () => shownText(await body()) },
    );
    await other.close({ runBeforeUnload: true });
    await until('its agent-core to end', () => pilothouse.agents().length === 0);
    await rm(folder, { recursive: true });
    await window().reopen();
    await chat.waitForActivity('Ready');
  });

  const kill = () => {
    for (const { pid } of pilothouse.agents()) signal(pid, 'SIGKILL');
  };

  it('may be killed: a new session works at once, and the old one goes on when it is told to', async () => {
    const title = await busySession();
    const before = running(title);
    kill();
    await pilothouse.newSession();
    await chat.send('say I live');
    await chat.waitForReply('I live');
    await allGone(before);
    await (await pilothouse.sessions()).click(title);
    // What was said in the last quarter of a second may not have been on disk.
    await chat.waitForReply(/\b1\b[\s\S]*Interrupted/);
    await chat.press('Continue');
    await chat.waitForReply(/Done: \d+ steps/);
    await chat.waitForActivity('Ready');
  });

  it('says so when it dies again and again, and starts again by a click', async () => {
    await pilothouse.newSession();
    await chat.send('say before the deaths');
    await chat.waitForReply('before the deaths');
    const givenUp = async () => {
      kill();
      return (await chat.text()).includes('again and again');
    };
    await until('it to be given up', givenUp, { milliseconds: 60_000, saw: () => chat.text() });
    expect(pilothouse.agents()).toEqual([]);
    await chat.waitForActivity('Not running');
    expect((await window().statusBar.waitFor('Pilothouse')).kind).toBe('error');
    await window().screenshot('agent-given-up');
    await chat.press('Restart');
    await chat.waitForActivity('Ready');
    await window().statusBar.waitUntilGone('Pilothouse');
    await chat.send('say after the deaths');
    await chat.waitForReply('after the deaths');
  });
});
