import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('a folder that is not trusted', () => {
  const { pilothouse, file } = usePilothouse(async () => ({ trust: false }));
  const { chat } = pilothouse;
  const window = () => pilothouse.window;

  it('has no agent-core; the views say why, and trust starts it', async () => {
    const sessions = await pilothouse.sessions();
    await until('the tree to say why', async () => {
      return /not trusted\..*no agent is started/i.test(await sessions.welcome());
    });
    await window().runCommand('Pilothouse: Focus Chat');
    await chat.waitForEmpty('This folder is not trusted');
    expect(await chat.text()).toContain('no agent is started and no tool runs');
    await chat.type('say hello');
    await window().pressKeys('Enter');
    await window().screenshot('untrusted');
    await window().pressKeys('F1');
    await window().quickInput.type('>Pilothouse: ');
    const offered = async () => (await window().quickInput.entries()).map(({ label }) => label);
    await until('the palette', async () => (await offered()).includes('Pilothouse: Show Log'));
    expect(await offered()).not.toContain('Pilothouse: New Session');
    await window().quickInput.cancel();
    // The editor itself may be asking for processes at this moment.
    const agents = window()
      .extensionHostChildren()
      .filter(({ command }) => command.includes('agent-core'));
    expect(agents).toEqual([]);

    await window().trustWorkspace();
    await chat.waitForEmpty('No session yet');
    expect(await (await chat.composer()).inputValue()).toBe('say hello');
    await pilothouse.newSession();
    expect(pilothouse.agents()).toHaveLength(1);
    await chat.send(); // What was typed before is still in the composer.
    await chat.waitForReply('hello');
    await chat.send('write trusted.txt: yes', 'finish with written');
    await chat.answer('Write trusted.txt', 'Allow once');
    await chat.waitForReply('written');
    expect(await readFile(file('trusted.txt'), 'utf8')).toBe('yes');
  });
});
