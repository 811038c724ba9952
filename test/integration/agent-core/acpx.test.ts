import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  AGENT_CORE,
  answering,
  eventually,
  hostStatus,
  startDoor,
  stopHost,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';
import { isThere } from '../../support/host-process/host-process.ts';

type Run = { readonly code: number | null; readonly stdout: string };

/** acpx: a client that we did not write. Its state lives in a home folder of the test's. */
function acpx(folder: string, home: string) {
  const manifest = createRequire(import.meta.url).resolve('acpx/package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    bin: Record<string, string> | string;
  };
  const script = join(dirname(manifest), typeof bin === 'string' ? bin : (bin['acpx'] ?? ''));
  const env = {
    ...process.env,
    HOME: home,
    PILOTHOUSE_HOME: join(home, 'data'),
    PILOTHOUSE_SANDBOX: 'off',
  };
  const start = (...args: string[]) => {
    const child = spawn(
      process.execPath,
      [script, '--cwd', folder, '--agent', `${process.execPath} ${AGENT_CORE}`, ...args],
      { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
    );
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    const done = new Promise<Run>((resolve) =>
      child.on('close', (code) => resolve({ code, stdout })),
    );
    return { child, done };
  };
  onTestFinished(() => stopHost(env.PILOTHOUSE_HOME));
  return { start, run: (...args: string[]) => start(...args).done };
}

describe('acpx as the client', () => {
  it('prompts, gets its permission request answered, and sees the file', async () => {
    const folder = tempFolder('work');
    const client = acpx(folder, tempFolder('home'));
    const allowed = await client.run(
      '--approve-all',
      '--format',
      'quiet',
      'exec',
      'write a.txt: from acpx\nfinish with written',
    );
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('written') });
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('from acpx');
    const denied = await client.run(
      '--deny-all',
      '--format',
      'quiet',
      'exec',
      'write b.txt: no\nfinish with tried',
    );
    expect(denied.code).toBe(5);
    expect(existsSync(join(folder, 'b.txt'))).toBe(false);
  });

  it('cancels a running prompt, and what it did is listed as a session', async () => {
    const folder = tempFolder('work');
    const home = tempFolder('home');
    const client = acpx(folder, home);
    const started = client.start(
      '--approve-all',
      '--format',
      'json',
      'exec',
      'run echo begun > begun.txt; sleep 60; echo late > late.txt',
    );
    onTestFinished(() => {
      started.child.kill('SIGKILL');
    });
    await eventually(() => existsSync(join(folder, 'begun.txt')), 'the start of the command');
    started.child.kill('SIGINT');
    const { stdout } = await started.done;
    expect(stdout).toContain('session/cancel');
    expect(existsSync(join(folder, 'late.txt'))).toBe(false);

    const own = startDoor(join(home, 'data'));
    await own.initialize();
    const { sessions } = await own.call('session/list', { cwd: folder });
    expect(sessions).toMatchObject([{ cwd: folder, activePrompt: false }]);
  });

  it('shares its session with a second client, which follows, steers and sees the end', async () => {
    const folder = tempFolder('work');
    const home = tempFolder('home');
    const data = join(home, 'data');
    const client = acpx(folder, home);
    const started = client.start(
      '--approve-all',
      '--format',
      'quiet',
      'exec',
      'run touch begun; while [ ! -e go ]; do sleep 0.02; done\nfinish with the old end',
    );
    onTestFinished(() => {
      started.child.kill('SIGKILL');
    });
    await isThere(join(folder, 'begun'));
    expect(hostStatus(data)).toMatchObject({ sessions: 1, clients: 1 });

    const own = answering(startDoor(data), 'allow_once');
    await own.initialize(KNOWS_CONTROL);
    const { sessions } = await own.call('session/list', { cwd: folder });
    expect(sessions).toMatchObject([{ cwd: folder, activePrompt: true }]);
    const [{ sessionId }] = sessions as [{ sessionId: string }];
    await own.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(hostStatus(data)).toMatchObject({ sessions: 1, clients: 2 });
    await own.call('session/inject', {
      sessionId,
      mode: 'steer',
      content: [{ type: 'text', text: 'finish with the new end' }],
    });
    writeFileSync(join(folder, 'go'), '');
    expect(await started.done).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the new end'),
    });
    await eventually(() => own.textOf(sessionId).includes('the new end'), 'the same end');
    // Its client has gone, the session has not.
    expect(await own.prompt(sessionId, 'finish with still here')).toMatchObject({
      stopReason: 'end_turn',
    });
  });

  it('keeps a named session over several commands and lists it', async () => {
    const folder = tempFolder('work');
    const client = acpx(folder, tempFolder('home'));
    onTestFinished(async () => {
      await client.run('sessions', 'close');
    });
    expect((await client.run('--ttl', '5', 'sessions', 'new')).code).toBe(0);
    expect(
      await client.run('--ttl', '5', '--format', 'quiet', 'prompt', 'finish with first'),
    ).toMatchObject({ code: 0, stdout: expect.stringContaining('first') });
    expect(
      await client.run('--ttl', '5', '--format', 'quiet', 'prompt', 'finish with second'),
    ).toMatchObject({ code: 0, stdout: expect.stringContaining('second') });
    expect((await client.run('sessions', 'list')).stdout).toContain(folder);
  });
});
