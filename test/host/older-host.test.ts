import { describe, expect, it, onTestFinished } from 'vitest';
import { connectAcpClient } from '../support/acp-client/connect.ts';
import { builtAs } from '../support/host-process/other-version.ts';
import { until } from '../vscode/driver/until.ts';
import { isAlive } from '../vscode/serve/processes.ts';
import { stopHost } from '../vscode/serve/session-hosts.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('a session host of an older version', () => {
  const { pilothouse } = usePilothouse();
  const window = () => pilothouse.window;

  it('is kept while it works, said to be, and replaced by a click', async () => {
    const { home, folder } = window();
    const old = connectAcpClient({
      spawn: {
        command: process.execPath,
        args: [builtAs('0.0.9')],
        env: { ...process.env, PILOTHOUSE_HOME: home },
      },
    });
    onTestFinished(async () => {
      old.kill();
      await stopHost(home);
    });
    const answer = JSON.stringify(await old.initialize({ _meta: { pilothouse: { version: 1 } } }));
    const pid = Number(/"host":\{"pid":(\d+)/.exec(answer)?.[1]);
    expect(isAlive(pid)).toBe(true);
    const sessionId = await old.newSession(folder ?? home);
    const counting = old.prompt(sessionId, 'count slowly from 1 to 3000').catch(() => 'gone');

    const tree = await pilothouse.sessions();
    await window().notifications.waitFor(/older Pilothouse host \(0\.0\.9\), kept/, 60_000);
    await tree.waitFor(/count slowly/);
    expect(await tree.description()).toBe('older host 0.0.9');
    expect(isAlive(pid)).toBe(true);
    await window().screenshot('older-host');

    await window().notifications.click(/older Pilothouse host/, 'Restart Host Now');
    expect(await window().dialogs.waitFor(/End the session host/)).toContain(
      'What runs is stopped',
    );
    await window().dialogs.click('Restart Session Host');
    await until('the old host to end', () => !isAlive(pid), { milliseconds: 60_000 });
    await counting;
    await until('a new host', () => pilothouse.hosts().length === 1, { milliseconds: 60_000 });
    await until('the view to say so', async () => (await tree.description()) === '');
    await tree.waitFor(/count slowly/);
  });
});
