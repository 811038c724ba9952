import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { isObject } from '../../../src/base/json.ts';
import { connectAcpClient } from '../../support/acp-client/connect.ts';
import { AGENT_CORE } from '../../support/agent-core/agent-core.ts';
import { until } from '../../vscode/driver/until.ts';
import { stopHost } from '../../vscode/serve/session-hosts.ts';
import type { Pilothouse } from './pilothouse.ts';

/** A data folder that is not the window's own, and a folder that its sessions work in. */
export type OtherFolder = { readonly home: () => string; readonly work: () => string };

const environment = (home: string) => ({
  ...process.env,
  PILOTHOUSE_HOME: home,
  PILOTHOUSE_SANDBOX: 'off',
});

/** One data folder for all tests of a block, with a session that has answered `prompt`. */
export function useOtherFolder(prompt: string): OtherFolder {
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
        env: environment(home()),
      },
    });
    await client.initialize();
    const sessionId = await client.newSession(work());
    await client.prompt(sessionId, prompt);
    await client.close();
  });
  afterAll(async () => {
    await stopHost(home());
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  });
  return { home, work };
}

/** A WebSocket door on a data folder. */
export type WsDoor = { readonly url: string; readonly kill: () => Promise<void> };

/** Opens one; `port` 0 is any. */
export async function openWsDoor(home: string, token: string, port = 0): Promise<WsDoor> {
  const child = spawn(process.execPath, [AGENT_CORE, 'serve', '--acp-ws', `127.0.0.1:${port}`], {
    env: { ...environment(home), PILOTHOUSE_WS_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ready = await new Promise<unknown>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(JSON.parse(text)));
    child.once('close', () => reject(new Error('The door did not open.')));
  });
  return {
    url: isObject(ready) ? String(ready['acp_ws']) : '',
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Answers an input box once it asks for something. */
export async function answerInput(
  { window }: Pilothouse,
  asked: RegExp,
  text: string,
): Promise<void> {
  await until(`a question for ${asked}`, async () => {
    const { title, placeholder, message } = await window.quickInput.waitFor();
    return asked.test(`${title} ${placeholder} ${message}`);
  });
  await window.quickInput.type(text);
  await window.quickInput.accept();
}

/** Writes a path into the editor's own folder dialog. */
export async function chooseFolder({ window }: Pilothouse, path: string): Promise<void> {
  const { quickInput, page } = window;
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
