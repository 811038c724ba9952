import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import type { VsCodeWindow } from '../vscode/driver.ts';
import { Pilothouse, usePilothouse } from './support/pilothouse.ts';
import { SideClient } from './support/side-client.ts';

describe('one session in two windows', () => {
  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const others: VsCodeWindow[] = [];
  let side: SideClient | null = null;

  afterEach(async () => {
    await side?.close();
    side = null;
    for (const other of others.splice(0)) await other.dispose();
    await pilothouse.calm();
  });

  /** A second window on the same folder with the session of that title in its chat. */
  async function second(title: RegExp): Promise<Pilothouse> {
    const window = await pilothouse.window.openAnother();
    others.push(window);
    const other = new Pilothouse(() => window);
    await other.openSession(title);
    await other.chat.waitForReply(/Finished/, 90_000);
    expect(await other.chat.title()).toMatch(title);
    await other.chat.waitForText(/Also open in 1 other window/);
    return other;
  }

  it('never forks: what both send are turns in order, which both show', async () => {
    await pilothouse.newSession();
    await chat.send('say I began');
    await chat.waitForReply('I began');
    const id = await pilothouse.sessionId();
    const other = await second(/I began/);
    await chat.waitForText(/Also open in 1 other window/);
    await other.chat.waitForReply('I began');
    await pilothouse.window.screenshot('two-windows');

    await chat.send('count slowly from 1 to 30', 'finish with first done');
    await other.chat.waitForActivity('Working');
    await other.chat.type('say from the second window');
    await other.window.pressKeys('Alt+Enter');
    const order = /first done[\s\S]*from the second window/;
    await other.chat.waitForReply(order, 60_000);
    await chat.waitForReply(order, 60_000);
    await chat.waitForActivity('Ready');
    await other.chat.waitForActivity('Ready');
    await other.chat.send('say from the second again');
    await chat.waitForReply(/from the second again[\s\S]*Finished/);
    await chat.waitForActivity('Ready');
    await chat.send('say from the first again');
    await other.chat.waitForReply(/from the second again[\s\S]*from the first again/);

    side = await SideClient.open(pilothouse.window.home);
    expect(await side.turns(id)).toBe(5);
    const prompts = async (one: Pilothouse) => (await one.chat.prompts()).match(/say .*|count .*/g);
    expect(await prompts(other)).toEqual(await prompts(pilothouse));
    const rows = await (await other.sessions()).rows();
    expect(rows.filter(({ label }) => /I began/.test(label))).toHaveLength(1);
  });

  it('goes on when the browser is killed, and is asked in both windows that come; one answers', async () => {
    await pilothouse.newSession();
    await chat.send('count slowly from 1 to 5', 'write killed.txt: yes', 'finish with written');
    await chat.waitForQuestion('Write killed.txt');
    const id = await pilothouse.sessionId();
    const host = pilothouse.hostPid();
    await pilothouse.window.killBrowser();
    // A browser that was killed has kept nothing: neither which views were open nor which session.
    await pilothouse.window.reopen();
    await pilothouse.openSession(/count slowly/);
    await chat.waitForQuestion('Write killed.txt');
    expect(await pilothouse.sessionId()).toBe(id);

    const window = await pilothouse.window.openAnother();
    others.push(window);
    const other = new Pilothouse(() => window);
    await other.openSession(/count slowly/);
    await other.chat.waitForQuestion('Write killed.txt');
    await other.waitForWaiting(1);
    // Another session in its chat: the question comes as a notification.
    await other.newSession();
    await other.window.setFocused(true);
    await other.window.notifications.waitFor(/Write killed\.txt/);
    await other.window.screenshot('asked-in-both');

    await chat.answer('Write killed.txt', 'Allow once');
    await other.window.notifications.waitUntilGone(/Write killed\.txt/);
    await other.waitForWaiting(0);
    await (await other.sessions()).click(/count slowly/);
    await other.chat.waitForReply('written');
    expect(await other.chat.questions()).toEqual([]);
    await chat.waitForReply('written');
    expect(existsSync(file('killed.txt'))).toBe(true);
    expect(pilothouse.hostPid()).toBe(host);
    side = await SideClient.open(pilothouse.window.home);
    expect(await side.turns(id)).toBe(1);
  });

  it('is only read where the other one took sole control, and controlled again by a click', async () => {
    await pilothouse.newSession();
    await chat.send('say I am shared');
    await chat.waitForReply('I am shared');
    const other = await second(/I am shared/);
    await other.window.runCommand('Pilothouse: Take Sole Control of Session');
    await pilothouse.window.notifications.waitFor(
      /Another window took control of “say I am shared”/,
    );
    await chat.waitForText(/Reading only: another window has control/);
    await pilothouse.window.screenshot('reading-only');
    await other.chat.send('write by-the-owner.txt: yes', 'finish with done by the owner');
    await other.chat.waitForQuestion('Write by-the-owner.txt');
    await chat.waitForActivity('Working');
    expect(await chat.questions()).toEqual([]);
    await other.chat.answer('Write by-the-owner.txt', 'Allow once');
    await chat.waitForReply('done by the owner');
    await chat.press('Take Control');
    await until('to be in control', async () => !/Reading only/.test(await chat.text()));
    await chat.send('say both again');
    await other.chat.waitForReply('both again');
  });
});
