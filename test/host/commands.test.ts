import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../vscode/driver/until.ts';
import { checkout } from '../vscode/install/paths.ts';
import { usePilothouse } from './support/pilothouse.ts';

const command = z.object({
  command: z.string(),
  title: z.string(),
  category: z.string(),
  enablement: z.string().default(''),
});
const menuEntry = z.object({ command: z.string(), when: z.string() });
const manifest = z.object({
  contributes: z.object({
    commands: z.array(command),
    menus: z.object({ commandPalette: z.array(menuEntry) }),
  }),
});

async function json(name: string): Promise<unknown> {
  return JSON.parse(await readFile(join(checkout, name), 'utf8'));
}

/** Commands about what is not here: a changed file before the eyes, a lost turn, a delegate, an added host. */
const ABOUT_OTHERS =
  /changedPaths|pilothouse-staged|groupedByFolder$|^pilothouse\.(interrupted|faulted|delegates|talksToDelegate|hosts)$/;

/** Commands about others in the session, of which there are none. */
const ABOUT_COMPANY = /pilothouse\.(reading|shared)\b/;

/** What the palette must offer: labels, without those that are not for it or about something that is not there. */
async function labels(): Promise<string[]> {
  const { contributes } = manifest.parse(await json('package.json'));
  const texts = z.record(z.string(), z.string()).parse(await json('package.nls.json'));
  const text = (value: string) => texts[value.replaceAll('%', '')] ?? value;
  const elsewhere = contributes.menus.commandPalette
    .filter(({ when }) => when === 'false' || ABOUT_OTHERS.test(when))
    .filter(({ when }) => !when.startsWith('!'))
    .map((entry) => entry.command);
  return contributes.commands
    .filter((one) => !elsewhere.includes(one.command) && !ABOUT_COMPANY.test(one.enablement))
    .map(({ category, title }) => `${text(category)}: ${text(title)}`);
}

/** Files below a folder that hold the text, byte by byte. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const found = await Promise.all(
    paths.map(async (path) => {
      // A log or a temporary file may go meanwhile.
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      return bytes.includes(text) ? [path] : [];
    }),
  );
  return found.flat();
}

describe('the extension', () => {
  const { pilothouse, file } = usePilothouse(async (folder) => {
    await writeFile(`${folder}/open.txt`, 'open\n');
    return {};
  });
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  afterEach(() => pilothouse.calm());

  /** The running extensions as the editor lists them, with what it says of their activation. */
  async function runningExtensions(): Promise<Map<string, string>> {
    await window().runCommand('Developer: Show Running Extensions');
    const rows = window().page.locator('.runtime-extensions-editor .monaco-list-row');
    await rows.filter({ hasText: 'Activation' }).first().waitFor();
    const seen = new Map<string, string>();
    await until('the end of the list', async () => {
      const before = seen.size;
      const shown = await rows.evaluateAll((all) =>
        all.map((row) => [
          row.querySelector('.name')?.textContent ?? '',
          row.querySelector('.activation-time')?.textContent ?? '',
        ]),
      );
      for (const [name = '', time = ''] of shown) seen.set(name, time);
      await window().pressKeys('PageDown');
      return seen.size === before;
    });
    // It opens over the window, where no other command is offered.
    await until('the list to close', async () => {
      await window().pressKeys('Escape');
      return !(await rows.first().isVisible());
    });
    return seen;
  }

  it('is activated by its first use, not before, and quickly', async () => {
    await window().settled();
    const before = await runningExtensions();
    expect(before.size).toBeGreaterThan(2);
    expect([...before.keys()]).not.toContain('Pilothouse');
    expect(window().extensionHostChildren()).toEqual([]);
    await pilothouse.sessions();
    await until('its agent-core', () => pilothouse.agents().length === 1);
    const after = await runningExtensions();
    const activation = (name: string) => Number(/(\d+)\s?ms/.exec(after.get(name) ?? '')?.[1]);
    const milliseconds = activation('Pilothouse');
    console.log(`activation ms ${milliseconds} (Git ${activation('Git')})`);
    expect(milliseconds).toBeGreaterThan(0);
  });

  it('offers every command in the palette under its category', async () => {
    await pilothouse.newSession();
    await chat.send('write never.txt: no');
    await chat.waitForActivity('Needs you');
    await window().runCommand('Pilothouse: Filter Sessions');
    await window().quickInput.type('write');
    await window().quickInput.accept();
    await window().editors.open('open.txt');
    const wanted = await labels();
    expect(wanted.length).toBeGreaterThan(30);
    await window().pressKeys('F1');
    await window().quickInput.type('>Pilothouse: ');
    const seen = new Set<string>();
    await until(
      'every command',
      async () => {
        for (const { label } of await window().quickInput.entries()) seen.add(label);
        await window().pressKeys('PageDown');
        return wanted.every((label) => seen.has(label));
      },
      { saw: () => wanted.filter((label) => !seen.has(label)) },
    );
    await window().quickInput.cancel();
    await chat.answer('Write never.txt', 'Reject');
    await window().runCommand('Pilothouse: Clear Filter');
  });

  it('keeps an API key in the secret storage alone', async () => {
    const secret = `sk-${crypto.randomUUID()}`;
    await pilothouse.newSession();
    await chat.send(`say I am not ${secret.slice(0, 8)}`);
    await chat.waitForReply('I am not');
    await window().runCommand('Pilothouse: Set API Key');
    await window().quickInput.pick('openai');
    await until('the box for the key', async () =>
      (await window().quickInput.waitFor()).message.includes('secret storage'),
    );
    const input = window().page.locator('.quick-input-box input').first();
    expect(await input.getAttribute('type')).toBe('password');
    await window().quickInput.type(secret);
    await window().quickInput.accept();
    await window().quickInput.waitUntilClosed();

    await window().runCommand('Pilothouse: Remove API Key');
    await until('the source', async () =>
      (await window().quickInput.entries()).some(({ label }) => label === 'openai'),
    );
    await window().quickInput.cancel();
    await chat.choose('Model', /^GPT/);
    // Settings, logs of both sides, and the data folder are all below.
    const everything = dirname(window().home);
    expect(await filesWith(everything, 'I am not')).not.toEqual([]);
    expect(await filesWith(everything, secret)).toEqual([]);
    expect(await filesWith(file('.'), secret)).toEqual([]);

    await window().runCommand('Pilothouse: Remove API Key');
    await window().quickInput.pick('openai');
    await until('the key to be gone', async () => {
      await window().runCommand('Pilothouse: Remove API Key');
      const toasts = await window().notifications.list();
      if (toasts.some(({ text }) => text === 'No API key is stored.')) return true;
      await window().quickInput.cancel();
      return false;
    });
  });
});
