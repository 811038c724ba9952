import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAcpClient } from '../support/acp-client/connect.ts';
import { AGENT_CORE } from '../support/agent-core/agent-core.ts';
import { until } from '../vscode/driver/until.ts';
import { environmentOf, isAlive, signal } from '../vscode/serve/processes.ts';
import { stopHost } from '../vscode/serve/session-hosts.ts';
import { usePilothouse } from './support/pilothouse.ts';

const OLD = 'say I was here before';
const MANY = Array.from({ length: 40 }, (_, at) => String(at + 1));

describe('a host that was added: another data folder', () => {
  let root = '';
  const home = () => join(root, 'data');
  const work = () => join(root, 'work');

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'pilothouse-hosts-'));
    await mkdir(work());
    await mkdir(home(), { mode: 0o700 });
    const client = connectAcpClient({
      spawn: {
        command: process.execPath,
        args: [AGENT_CORE, '--in-process'],
        env: { ...process.env, PILOTHOUSE_HOME: home(), PILOTHOUSE_SANDBOX: 'off' },
      },
    });
    await client.initialize();
    const sessionId = await client.newSession(work());
    await client.prompt(sessionId, OLD);
    await client.close();
  });

  const { pilothouse, file } = usePilothouse();
  const { chat } = pilothouse;
  const window = () => pilothouse.window;
  const tree = () => pilothouse.sessions();

  afterAll(async () => {
    await stopHost(home());
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });

  const host = (description: RegExp) =>
    tree().then((view) =>
      view.waitFor('Elsewhere', (row) => row.level === 1 && description.test(row.description)),
    );

  /** The host process of the other folder. */
  const hostOf = () =>
    pilothouse.hosts().find(({ pid }) => environmentOf(pid)['PILOTHOUSE_HOME'] === home());

  /** Writes a path into the editor's own folder dialog. */
  async function chooseFolder(path: string): Promise<void> {
    const { quickInput, page } = window();
    await quickInput.waitFor();
    const input = page.locator('.quick-input-widget .quick-input-box input').first();
    await until('the dialog to be there', async () => (await input.inputValue()).startsWith('/'));
    await until('the path to stand', async () => {
      if ((await input.inputValue()) === path) return true;
      await quickInput.type(path);
      return false;
    });
    await quickInput.accept();
  }

  it('stands in the tree with its sessions, while nothing of the own ones changes', async () => {
    await pilothouse.newSession();
    await chat.send('say I am of this folder');
    await chat.waitForReply('of this folder');
    const before = await (await tree()).rows();
    expect(before.some(({ label }) => label === 'This machine')).toBe(false);
    await window().screenshot('hosts-none');
    await window().runCommand('Pilothouse: Add Host…');
    await window().quickInput.pick(/Another data folder/);
    await chooseFolder(home());
    await until('the name to be asked for', async () =>
      /called/.test((await window().quickInput.waitFor()).message),
    );
    await window().quickInput.type('Elsewhere');
    await window().quickInput.accept();
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
    await chat.waitForTitle('New session').catch(() => undefined);
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
    const old = hostOf();
    expect(old).toBeDefined();
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
    await window().quickInput.waitFor();
    await window().quickInput.type('Over there');
    await window().quickInput.accept();
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
    const { rename, writeFile } = await import('node:fs/promises');
    await rename(home(), `${home()}.away`);
    await writeFile(home(), 'a file in the place of the folder');
  }

  async function mendFolder(): Promise<void> {
    const { rename } = await import('node:fs/promises');
    await rm(home());
    await rename(`${home()}.away`, home());
  }
});
