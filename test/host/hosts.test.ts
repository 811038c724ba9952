import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { environmentOf, isAlive, processes, signal } from '../vscode/serve/processes.ts';
import {
  answerInput,
  chooseFolder,
  openWsDoor,
  useOtherFolder,
  type WsDoor,
} from './support/hosts.ts';
import { usePilothouse } from './support/pilothouse.ts';

const OLD = 'say I was here before';
const MANY = Array.from({ length: 40 }, (_, at) => String(at + 1));

describe('a host that was added: another data folder', () => {
  const { home, work } = useOtherFolder(OLD);
  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;
  const tree = () => pilothouse.sessions();

  const host = (description: RegExp) =>
    tree().then((view) =>
      view.waitFor('Elsewhere', (row) => row.level === 1 && description.test(row.description)),
    );

  /** The host processes of the other folder: there is to be one. */
  const hostsOf = () =>
    pilothouse.hosts().filter(({ pid }) => environmentOf(pid)['PILOTHOUSE_HOME'] === home());

  it('stands in the tree with its sessions, while nothing of the own ones changes', async () => {
    await pilothouse.newSession();
    await chat.send('say I am of this folder');
    await chat.waitForReply('of this folder');
    const before = await (await tree()).rows();
    expect(before.some(({ label }) => label === 'This machine')).toBe(false);
    await window().screenshot('hosts-none');
    await window().runCommand('Pilothouse: Add Host…');
    await window().quickInput.pick(/Another data folder/);
    await chooseFolder(pilothouse, home());
    await answerInput(pilothouse, /called/, 'Elsewhere');
    await host(/connected/);
    const rows = async () =>
      (await (await tree()).rows()).map(({ label, level }) => `${level} ${label}`);
    await until(
      'the sessions of both',
      async () => {
        const all = await rows();
        return all.includes(`3 ${OLD}`) && all.includes('3 say I am of this folder');
      },
      { saw: rows },
    );
    expect((await rows())[0]).toBe('1 This machine');
    await window().screenshot('hosts-added');
  });

  it('opens a session of it: conversation and transcript document', async () => {
    await (await tree()).click(OLD);
    await chat.waitForTitle(OLD);
    await chat.waitForReply('I was here before');
    await window().runCommand('Pilothouse: Open Transcript');
    await window().editors.waitForText(/I was here before/);
    await until('the lenses', async () => (await window().editors.lenses()).length > 0);
    await window().screenshot('hosts-transcript');
    await window().runCommand('View: Close All Editors');
  });

  it('runs a prompt there, answers its question, and stops it', async () => {
    await (await tree()).click(OLD);
    await chat.waitForTitle(OLD);
    await chat.send('write there.txt: over there', 'finish with it is written');
    await chat.waitForQuestion('Write there.txt');
    await pilothouse.waitForWaiting(1);
    await (await tree()).waitFor(/Write there\.txt/);
    await window().screenshot('hosts-asking');
    await chat.answer('Write there.txt', 'Allow once');
    await chat.waitForReply('it is written');
    expect(existsSync(join(work(), 'there.txt'))).toBe(true);
    expect(existsSync(file('there.txt'))).toBe(false);
    await chat.send('count slowly from 1 to 3000');
    await chat.waitForReply(/\b9\b/);
    await (await tree()).action(OLD, 'Stop');
    await chat.waitForReply('Stopped by you');
    await chat.waitForActivity('Ready');
  });

  it('starts a session there from its row', async () => {
    await (await tree()).action('Elsewhere', 'New Session Here');
    await chat.waitForTitle('Untitled session');
    await chat.send('say I am new there');
    await chat.waitForReply('I am new there');
    const rows = await (await tree()).rows();
    const at = (label: string) => rows.findIndex((row) => row.label === label);
    expect(at('Elsewhere')).toBeLessThan(at('say I am new there'));
  });

  it('goes on with the shown session by itself after a crash, nothing twice and nothing missing', async () => {
    await (await tree()).click(OLD);
    await chat.waitForTitle(OLD);
    await chat.send('count slowly from 1 to 40');
    await chat.waitForReply(/\b12\b/);
    const door = pilothouse
      .agents()
      .find(({ pid }) => environmentOf(pid)['PILOTHOUSE_HOME'] === home());
    expect(door).toBeDefined();
    if (door) signal(door.pid, 'SIGKILL');
    await chat.waitForReply(/\b40\b[\s\S]*Finished/);
    const said = (await chat.replies()).split('Stopped by you').at(-1) ?? '';
    const numbers: readonly string[] = said.match(/\b\d+\b/g) ?? [];
    const from = numbers.indexOf('1');
    expect(numbers.slice(from, from + MANY.length)).toEqual(MANY);
    expect(numbers.filter((one) => one === '23')).toHaveLength(1);
    await host(/connected/);
  });

  it('is offline once it can not be started again, keeps its list, and comes back by Retry', async () => {
    const lock = join(home(), 'sessions.db');
    expect(hostsOf()).toHaveLength(1);
    const [old] = hostsOf();
    await breakFolder();
    if (old) signal(old.pid, 'SIGKILL');
    await until('it to be gone', () => old && !isAlive(old.pid));
    await host(/offline since/);
    const row = await (await tree()).waitFor(OLD);
    expect(row.description).toContain('offline');
    await window().screenshot('hosts-offline');
    await chat.waitForText(/“Elsewhere” is offline/);
    await window().screenshot('hosts-offline-chat');
    await mendFolder();
    await (await tree()).action('Elsewhere', 'Retry Host');
    await host(/^connected/);
    await chat.waitForReply('I was here before');
    await chat.send('say I am back');
    await chat.waitForReply('I am back');
    expect(existsSync(lock)).toBe(true);
  });

  it('is renamed and taken off the list; its sessions stay where they are', async () => {
    await (await tree()).menu('Elsewhere', 'Rename Host…');
    await answerInput(pilothouse, /called/, 'Over there');
    await (await tree()).menu('Over there', 'Remove Host…');
    await window().dialogs.waitFor(/Remove “Over there”/);
    await window().screenshot('hosts-remove');
    await window().dialogs.click('Remove');
    await (await tree()).waitUntilGone('Over there');
    await (await tree()).waitUntilGone('This machine');
    await (await tree()).waitUntilGone(OLD);
    expect(existsSync(join(home(), 'sessions.db'))).toBe(true);
  });

  async function breakFolder(): Promise<void> {
    await rename(home(), `${home()}.away`);
    await writeFile(home(), 'a file in the place of the folder');
  }

  async function mendFolder(): Promise<void> {
    await rm(home());
    await rename(`${home()}.away`, home());
  }
});

describe('a host that was added: an address', () => {
  const { home, work } = useOtherFolder(OLD);
  const { pilothouse } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;
  const tree = () => pilothouse.sessions();
  const token = 'a-token-that-nobody-may-see';
  let door: WsDoor;

  beforeAll(async () => {
    door = await openWsDoor(home(), token);
  });
  afterAll(() => door.kill());

  const host = async (description: RegExp) =>
    (await tree()).waitFor('There', (row) => description.test(row.description));

  it('refuses a wrong token, and takes the right one', async () => {
    await tree();
    await window().runCommand('Pilothouse: Add Host…');
    await window().quickInput.pick(/Another machine/);
    await answerInput(pilothouse, /Address/, door.url);
    await answerInput(pilothouse, /called/, 'There');
    await answerInput(pilothouse, /Token/, 'wrong');
    await host(/token refused/);
    await window().notifications.waitFor(/“There” did not take the token/);
    await window().screenshot('hosts-refused');
    await window().notifications.dismiss(/did not take the token/);
    await (await tree()).click('Enter another token');
    await answerInput(pilothouse, /Token/, token);
    await host(/^connected/);
    await (await tree()).waitFor(OLD);
    const shown = processes().filter(({ command }) => command.includes(token));
    expect(shown).toEqual([]);
  });

  it('is controlled like one of this machine, and its files are not looked for here', async () => {
    await (await tree()).click(OLD);
    await chat.waitForReply('I was here before');
    await chat.send('write there.txt: over there', 'finish with it is written');
    await chat.waitForQuestion('Write there.txt');
    await chat.answer('Write there.txt', 'Allow once');
    await chat.waitForReply('it is written');
    expect(existsSync(join(work(), 'there.txt'))).toBe(true);
    const card = await chat.card('Write there.txt');
    await card.getByText('there.txt', { exact: true }).last().click();
    await window().notifications.waitFor(/there\.txt is on “There”, not on this machine/);
    await window().notifications.dismiss(/not on this machine/);
    await window().runCommand('Pilothouse: Show Changes');
    await window().editors.waitForTab(/Changes: /);
    await window().runCommand('Pilothouse: Open Transcript');
    await window().editors.waitForText(/I was here before/);
    await window().screenshot('hosts-there');
    await window().runCommand('View: Close All Editors');
    await chat.send('count slowly from 1 to 3000');
    await chat.waitForReply(/\b9\b/);
    await chat.press('Stop');
    await chat.waitForReply('Stopped by you');
  });

  it('is asked for a folder of its own for a new session', async () => {
    await (await tree()).action('There', 'New Session Here');
    await answerInput(pilothouse, /Folder on “There”/, work());
    await chat.send('say I am new there');
    await chat.waitForReply('I am new there');
  });

  it('goes on with a turn whose connection broke, nothing twice and nothing missing', async () => {
    await chat.send('count slowly from 1 to 100');
    await chat.waitForReply(/\b12\b/);
    await door.kill();
    await host(/offline since/);
    await window().screenshot('hosts-there-offline');
    door = await openWsDoor(home(), token, Number(new URL(door.url).port));
    await host(/^connected/);
    await chat.waitForReply(/\b100\b[\s\S]*Finished/, 60_000);
    const numbers: readonly string[] = (await chat.replies()).match(/\b\d+\b/g) ?? [];
    const from = numbers.findIndex((one, at) => one === '1' && numbers[at + 1] === '2');
    const all = Array.from({ length: 100 }, (_, at) => String(at + 1));
    expect(numbers.slice(from, from + 100)).toEqual(all);
    expect(numbers.filter((one) => one === '57')).toHaveLength(1);
  });
});
