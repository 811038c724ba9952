import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { processes } from '../vscode/serve/processes.ts';
import { usePilothouse } from './support/pilothouse.ts';

const hideChat = 'View: Toggle Secondary Side Bar Visibility';

describe('a session', () => {
  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const bar = () => pilothouse.window.statusBar;
  /** A statement whose command runs until `go(name)` creates that file. */
  const waitForFile = (name: string) => `run until [ -e ${name} ]; do sleep 0.05; done`;
  const go = (name: string) => writeFile(file(name), '');

  afterEach(() => pilothouse.calm());

  it('starts from the palette and streams an answer to a prompt', async () => {
    expect(pilothouse.agents()).toEqual([]);
    await pilothouse.newSession();
    expect(pilothouse.agents()).toHaveLength(1);
    await chat.send('count slowly from 1 to 12', 'finish with counted to twelve');
    const early = await chat.waitForReply(/\b2\b/);
    expect(early).not.toMatch(/\b12\b|counted/);
    await chat.waitForReply(/\b9\b[\s\S]*\b12\b[\s\S]*counted to twelve/);
    await chat.waitForActivity('Ready');
  });

  it('asks in the chat, where a reject leaves nothing written', async () => {
    await pilothouse.newSession();
    await chat.send('write rejected.txt: no', 'finish with after the answer');
    await chat.answer('Write rejected.txt', 'Reject');
    await chat.waitForReply('after the answer');
    expect(existsSync(file('rejected.txt'))).toBe(false);
    // The untouched twin: the same prompt, allowed.
    await chat.send('write allowed.txt: yes', 'finish with after the second answer');
    await chat.answer('Write allowed.txt', 'Allow once');
    await chat.waitForReply('after the second answer');
    expect(await readFile(file('allowed.txt'), 'utf8')).toBe('yes');
  });

  it('asks in the tree, where an inline action approves', async () => {
    await pilothouse.newSession();
    await chat.send('write by-tree.txt: tree', 'finish with approved by the tree');
    const sessions = await pilothouse.sessions();
    await sessions.waitFor('Write by-tree.txt');
    await until('a badge', async () => (await pilothouse.window.badge('Pilothouse')) === '1');
    expect(existsSync(file('by-tree.txt'))).toBe(false);
    await sessions.action('Write by-tree.txt', 'Approve');
    await chat.waitForReply('approved by the tree');
    await sessions.waitUntilGone('Write by-tree.txt');
    await until('no badge', async () => (await pilothouse.window.badge('Pilothouse')) === '');
    expect(await readFile(file('by-tree.txt'), 'utf8')).toBe('tree');
  });

  it('asks by a notification while its chat is hidden, where Allow once approves', async () => {
    await pilothouse.newSession();
    await pilothouse.window.runCommand(hideChat);
    await until('the chat to be hidden', async () => !(await chat.isVisible()));
    await pilothouse.window.runCommand('Pilothouse: Send Prompt');
    await pilothouse.window.quickInput.type('write by-toast.txt: toast');
    await pilothouse.window.quickInput.accept();
    const toast = await pilothouse.window.notifications.waitFor(/Write by-toast\.txt/);
    expect(toast).toMatchObject({ severity: 'warning', buttons: ['Allow once', 'Reject', 'Open'] });
    expect(existsSync(file('by-toast.txt'))).toBe(false);
    await pilothouse.window.notifications.click(/Write by-toast\.txt/, 'Allow once');
    await until('the file', () => existsSync(file('by-toast.txt')));
    await bar().waitUntilGone(/running/);
    await pilothouse.waitForWaiting(0);
    await pilothouse.window.runCommand('Pilothouse: Focus Chat');
    await chat.waitForReply('Done: 1 step');
  });

  it('asks while another one is in the chat, and an answered question stays away', async () => {
    await pilothouse.newSession();
    await chat.send(waitForFile('go-other'), 'write other.txt: other', 'finish with it went on');
    await chat.answer(waitForFile('go-other').slice('run '.length), 'Allow once');
    await chat.waitForActivity('Working');
    await pilothouse.newSession();
    await chat.send('say I am in front');
    await chat.waitForReply('I am in front');
    await go('go-other');
    await pilothouse.window.notifications.waitFor(/Write other\.txt/);
    expect((await pilothouse.waitForWaiting(1))?.kind).toBe('warning');
    expect(await chat.questions()).toEqual([]);
    await pilothouse.window.notifications.click(/Write other\.txt/, 'Open');
    await chat.answer('Write other.txt', 'Allow once');
    await chat.waitForReply('it went on');
    expect(await readFile(file('other.txt'), 'utf8')).toBe('other');
    await pilothouse.waitForWaiting(0);

    const sessions = await pilothouse.sessions();
    const idle = ({ ariaLabel }: { ariaLabel: string }) => ariaLabel.includes('idle');
    await sessions.waitFor(waitForFile('go-other'), idle);
    await sessions.waitFor('say I am in front', idle);
    await sessions.click('say I am in front');
    await chat.waitForTitle('say I am in front');
    await sessions.click(waitForFile('go-other'));
    await chat.waitForReply('it went on');
    expect(await chat.replies()).toMatch(/allowed/i);
    expect(await chat.questions()).toEqual([]);
  });

  const script = (seconds: number, name: string, last: number) => [
    `start sleep ${seconds}`,
    `count slowly from 1 to ${last}`,
    `write ${name}.txt: late`,
    `finish with ${name} is through`,
  ];
  /** Seconds that no other process sleeps: it is known by them, also from outside a sandbox. */
  const ownSeconds = () => 10_000 + Math.round(Math.random() * 1e9) / 1000;
  const sleeps = (seconds: number) =>
    processes().some(({ command }) => command.startsWith(`sleep ${seconds}`));

  it('stops from the status bar: its processes end and later tools never run', async () => {
    const [twin, stopped] = [ownSeconds(), ownSeconds()];
    await pilothouse.newCodeSession();
    await chat.send(...script(twin, 'twin', 3));
    await chat.waitForReply('twin is through');
    expect(existsSync(file('twin.txt'))).toBe(true);
    expect(sleeps(twin)).toBe(true);

    await pilothouse.newCodeSession();
    await chat.send(...script(stopped, 'stopped', 2000));
    await chat.waitForReply(/\b5\b/);
    expect(sleeps(stopped)).toBe(true);
    await bar().click('1 running');
    await chat.waitForReply('Stopped by you');
    await until('the background process to end', () => !sleeps(stopped));
    await bar().waitUntilGone(/running|Stopping/);
    expect(existsSync(file('stopped.txt'))).toBe(false);
    expect(sleeps(twin)).toBe(true);
  });

  it('runs beside another one, and Stop asks which of them', async () => {
    await pilothouse.newSession();
    await chat.send('count slowly from 1001 to 3000');
    await chat.waitForReply('1003');
    await pilothouse.newSession();
    await chat.send('count slowly from 4001 to 6000');
    await chat.waitForReply('4003');
    await bar().click('2 running');
    await pilothouse.window.quickInput.pick('count slowly from 1001 to 3000');
    await bar().waitFor('1 running');
    const shown = (await chat.replies()).match(/\d{4}/g)?.at(-1);
    await chat.waitForReply(String(Number(shown) + 5));
    const sessions = await pilothouse.sessions();
    await sessions.waitFor('count slowly from 1001 to 3000', (row) =>
      row.ariaLabel.includes('idle'),
    );
    await sessions.action('count slowly from 4001 to 6000', 'Stop');
    await chat.waitForReply('Stopped by you');
    await bar().waitUntilGone(/running|Stopping/);
  });

  it('keeps its place by its last message, while unread only marks it', async () => {
    const older = waitForFile('go-older');
    await pilothouse.newCodeSession();
    await chat.send(older, 'finish with the older one');
    await chat.waitForActivity('Working');
    await pilothouse.newSession();
    await go('go-older');
    const sessions = await pilothouse.sessions();
    await sessions.waitFor(older, (row) => row.ariaLabel.includes('unread'));
    await chat.send('say newer');
    await chat.waitForReply('newer');
    await chat.waitForActivity('Ready');
    const order = async () =>
      (await sessions.rows()).flatMap(({ label, ariaLabel }) =>
        label === 'say newer' || label === older
          ? [ariaLabel.includes('unread') ? `unread ${label}` : label]
          : [],
      );
    const waitForOrder = (...wanted: string[]) =>
      until(
        `the order ${wanted.join(', ')}`,
        async () => (await order()).join('\n') === wanted.join('\n'),
        { saw: order },
      );
    await waitForOrder('say newer', `unread ${older}`);
    await sessions.click(older);
    await chat.waitForReply('the older one');
    await waitForOrder('say newer', older);
    await chat.send('say now I am the newest');
    await waitForOrder(older, 'say newer');
  });
});
