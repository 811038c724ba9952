import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { isAlive, processes, signal } from '../vscode/serve/processes.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('the session host and its windows', () => {
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

  /** The doors of the windows; there must be some to lose. */
  function doors(): number[] {
    const pids = pilothouse.agents().map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThan(0);
    return pids;
  }

  /** The session host and all that it started; there must be something to keep. */
  function kept(title: string): number[] {
    const sleep = title.slice('start '.length);
    const sleeps = processes().filter(({ command }) => command.startsWith(sleep));
    expect(pilothouse.hosts()).toHaveLength(1);
    expect(sleeps.length).toBeGreaterThan(0);
    return [...new Set([...pilothouse.hosts(), ...sleeps].map(({ pid }) => pid))];
  }

  const allGone = (pids: readonly number[]) =>
    until('every one of these processes to end', () => !pids.some(isAlive), {
      milliseconds: 20_000,
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

  it('lives on with a reload, after which the session goes on in the chat', async () => {
    await pilothouse.newSession();
    await chat.send('say I am another one');
    await chat.waitForReply('another one');
    const title = await busySession();
    const id = await pilothouse.sessionId();
    const gone = doors();
    const before = kept(title);
    const reloaded = window().reload();
    await allGone(gone);
    await reloaded;
    await chat.waitForTitle(title);
    await chat.waitForActivity('Working', 60_000);
    expect(await pilothouse.sessionId()).toBe(id);
    expect(new Set(kept(title))).toEqual(new Set(before));
    await waitForOrder([title, 'say I am another one']);
    await chat.press('Stop');
    await chat.waitForReply(/\b4\b[\s\S]*Stopped by you/);
    await allGone(before.filter((pid) => pid !== pilothouse.hostPid()));
    await chat.send('say I go on');
    await chat.waitForReply('I go on');
  });

  it('lives on when the window is closed, for the next one', async () => {
    const title = await busySession();
    const id = await pilothouse.sessionId();
    const gone = doors();
    const before = kept(title);
    await window().close();
    await allGone(gone);
    await window().reopen();
    await chat.waitForTitle(title);
    await chat.waitForActivity('Working', 60_000);
    expect(await pilothouse.sessionId()).toBe(id);
    expect(new Set(kept(title))).toEqual(new Set(before));
  });

  it('lives on when the server is told to end, and the sessions keep ids and order', async () => {
    await pilothouse.newSession();
    await chat.send('say I was the first');
    await chat.waitForReply('the first');
    const first = await pilothouse.sessionId();
    const title = await busySession();
    const second = await pilothouse.sessionId();
    const gone = doors();
    const before = kept(title);
    await (await pilothouse.sessions()).waitFor(title);
    await (await pilothouse.sessions()).waitFor('say I was the first');
    const rows = await order();
    signal(window().server.pid, 'SIGTERM');
    await allGone(gone);
    await window().restartServer();
    await chat.waitForTitle(title);
    await waitForOrder(rows);
    expect(await pilothouse.sessionId()).toBe(second);
    expect(new Set(kept(title))).toEqual(new Set(before));
    await (await pilothouse.sessions()).click('say I was the first');
    await chat.waitForReply('I was the first');
    expect(await pilothouse.sessionId()).toBe(first);
  });

  it('ends by itself when no window needs it any more', async () => {
    await pilothouse.newSession();
    await chat.send('say I am done');
    await chat.waitForReply('I am done');
    const { pid } = pilothouse.hosts()[0] ?? { pid: 0 };
    await window().close();
    await until('the session host to end', () => !isAlive(pid), { milliseconds: 60_000 });
    await window().reopen();
    await chat.waitForReply('I am done', 60_000);
    expect(pilothouse.hostPid()).not.toBe(pid);
  });

  it('says how it is, is stopped by hand, and comes back with the next use', async () => {
    await pilothouse.newSession();
    await chat.send('say before the stop');
    await chat.waitForReply('before the stop');
    const pid = pilothouse.hostPid();
    await window().runCommand('Pilothouse: Show Session Host Status');
    await window().notifications.waitFor(new RegExp(`runs as process ${pid}, version \\d`));
    await window().notifications.click(/runs as process/, 'Stop Session Host');
    await allGone([pid]);
    await chat.send('say after the stop');
    await chat.waitForReply('after the stop', 60_000);
    expect(pilothouse.hosts()).toHaveLength(1);
    await window().runCommand('Pilothouse: Show Log');
    await window().quickInput.pick('Session host');
    await window().editors.waitForTab('agent-core.log');
  });

  it('may be killed: a new session works at once, and the old one goes on when it is told to', async () => {
    const title = await busySession();
    const before = kept(title);
    pilothouse.killHost();
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
      pilothouse.killHost();
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
