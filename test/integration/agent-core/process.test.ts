import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  AGENT_CORE,
  answering,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';

describe('the command line', () => {
  it('prints help and version and nothing else', () => {
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, [AGENT_CORE, ...args], { encoding: 'utf8' });
    expect(run('--version')).toMatch(/^\d+\.\d+\.\d+\n$/u);
    for (const word of ['--model', '--log-level', 'PILOTHOUSE_HOME', 'PILOTHOUSE_MODEL'])
      expect(run('--help')).toContain(word);
  });

  it('refuses an unknown option with exit code 2 and a hint', async () => {
    const client = startAgentCore(tempFolder('home'), { args: ['--nonsense'] });
    expect((await client.exited).code).toBe(2);
    expect(client.stderr).toContain('--help');
  });

  it('takes the model of new sessions from --model before PILOTHOUSE_MODEL', async () => {
    const model = async (args: string[], env: NodeJS.ProcessEnv): Promise<unknown> => {
      const client = startAgentCore(tempFolder('home'), { args, env });
      await client.initialize();
      const { configOptions } = await client.call('session/new', {
        cwd: tempFolder('work'),
        mcpServers: [],
      });
      return (configOptions as { id: string; currentValue: string }[]).find(
        ({ id }) => id === 'model',
      )?.currentValue;
    };
    expect(await model([], {})).toBe('rehearsal/script');
    expect(await model([], { PILOTHOUSE_MODEL: 'openai/a' })).toBe('openai/a');
    expect(await model(['--model', 'openai/b'], { PILOTHOUSE_MODEL: 'openai/a' })).toBe('openai/b');
  });
});

describe('a client that reads no log', () => {
  it('is served all the same, and the process ends with it', async () => {
    const client = startAgentCore(tempFolder('home'), { args: ['--log-level', 'debug'] });
    await client.initialize();
    client.closeStderr();
    for (let times = 0; times < 3; times += 1) {
      // Each is worth a warning.
      client.notify('session/cancel', { sessionId: 'nowhere' });
      expect(await client.call('session/list')).toMatchObject({ sessions: [] });
    }
    await client.close();
    expect((await client.exited).code).toBe(0);
  });
});

describe('the data folder', () => {
  it('is held by one process; a second one is refused with who holds it, and takes over when that one is gone', async () => {
    const home = tempFolder('home');
    const first = startAgentCore(home);
    await first.initialize();
    const second = startAgentCore(home);
    await expect(second.initialize()).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining(String(first.pid)),
      data: { code: 'journal.locked' },
    });
    expect((await second.exited).code).toBe(1);
    await first.close();
    const third = startAgentCore(home);
    expect(await third.initialize()).toMatchObject({ protocolVersion: 1 });
  });

  it('is taken over from a killed process', async () => {
    const home = tempFolder('home');
    const first = startAgentCore(home);
    await first.initialize();
    first.kill();
    await first.exited;
    expect(await startAgentCore(home).initialize()).toMatchObject({ protocolVersion: 1 });
  });
});

describe("a tool's environment", () => {
  it('holds neither keys nor what belongs to the editor', async () => {
    const folder = tempFolder('work');
    const env = {
      OPENAI_API_KEY: 'sk-secret-marker',
      ELECTRON_RUN_AS_NODE: '1',
      VSCODE_IPC_HOOK_CLI: '/x',
      PILOTHOUSE_KEY_ACME: 'acme-marker',
      KEPT_VARIABLE: 'kept',
    };
    const client = answering(startAgentCore(tempFolder('home'), { env }), 'allow_once');
    await client.initialize();
    const sessionId = await client.newSession(folder);
    await client.prompt(sessionId, 'run env > env.txt');
    const text = readFileSync(join(folder, 'env.txt'), 'utf8');
    expect(text).toContain('KEPT_VARIABLE=kept');
    for (const word of [
      'sk-secret-marker',
      'acme-marker',
      'ELECTRON_RUN_AS_NODE',
      'VSCODE_IPC',
      'PILOTHOUSE_',
    ])
      expect(text).not.toContain(word);
  });

  it('can not reach the data folder', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const client = answering(startAgentCore(home), 'allow_once');
    await client.initialize();
    const sessionId = await client.newSession(folder);
    await client.call('session/set_mode', { sessionId, modeId: 'code' });
    await client.prompt(
      sessionId,
      `run cp ${home}/sessions.db stolen.db\nread ${home}/sessions.db\nwrite ${home}/x: y`,
    );
    expect(existsSync(join(folder, 'stolen.db'))).toBe(false);
    expect(existsSync(join(home, 'x'))).toBe(false);
    expect(client.textOf(sessionId)).toBe('Done: 3 steps, 3 failed.');
  });
});
