import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findHost } from '../../../src/core/door/find-host.ts';
import { systemClock } from '../../../src/core/host/node-ports.ts';
import {
  endpointFile,
  type KnownEndpoint,
  readEndpoint,
  writeEndpoint,
} from '../../../src/core/link/endpoint-file.ts';
import { ownMark } from '../../../src/core/link/process-facts.ts';
import { AcpTestClient } from '../../support/acp-client/client.ts';
import { spawnLink } from '../../support/acp-client/link.ts';
import {
  AGENT_CORE,
  eventually,
  hostStatus,
  isAlive,
  startAgentCore,
  startDoor,
  stopHost,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import {
  endpointOf,
  gone,
  hostsOf,
  processesOf,
  reachedBy,
  Stranger,
} from '../../support/host-process/host-process.ts';
import { recordingLog } from '../../support/journal/open.ts';

const leftOver = (changes: Partial<KnownEndpoint> = {}): KnownEndpoint => ({
  ...ownMark(),
  link: 1,
  version: '0.0.1',
  endpoint: '/nowhere/at-all.sock',
  token: 'left over',
  isClosing: false,
  ...changes,
});

/** What a door is told where there is no host for it, and that it ends. */
async function refusal(client: AcpTestClient): Promise<{ code: unknown; message: string }> {
  const failure = await client.initialize().then(
    () => Promise.reject(new Error('There was a host')),
    (error: Error & { data: { code?: unknown } }) => error,
  );
  expect(await client.exited).toEqual({ code: 1, signal: null });
  return { code: failure.data.code, message: failure.message };
}

describe('a host that runs', () => {
  it('is found again whatever becomes of its word and its socket', async () => {
    const home = tempFolder('home');
    const first = startDoor(home);
    const pid = await reachedBy(first);
    const whole = endpointOf(home);
    const damages: Readonly<Record<string, () => void>> = {
      'the word is gone': () => rmSync(endpointFile(home)),
      'the word is torn, the socket gone': () => {
        writeFileSync(endpointFile(home), '{"link":1,"pi');
        rmSync(whole.endpoint);
      },
      'the word has another token': () => writeEndpoint(home, { ...whole, token: 'another' }),
    };
    for (const [damage, damaged] of Object.entries(damages)) {
      damaged();
      const client = startDoor(home);
      expect(await reachedBy(client), damage).toBe(pid);
      await client.close();
    }
    expect(endpointOf(home)).toMatchObject({ pid, token: whole.token });
    expect(hostsOf(home)).toEqual([pid]);
    // Who was there all the time did not notice.
    await first.call('session/list');
  });

  it('ends when it is told to, although nobody finds its socket', async () => {
    const home = tempFolder('home');
    const client = startDoor(home);
    const pid = await reachedBy(client);
    rmSync(endpointOf(home).endpoint);
    stopHost(home);
    expect(isAlive(pid)).toBe(false);
    expect(await client.exited).toEqual({ code: 1, signal: null });
  });

  it('ends when its data folder is removed, and leaves the next one of that name alone', async () => {
    const home = tempFolder('home');
    const first = startDoor(home);
    const firstPid = await reachedBy(first);
    rmSync(home, { recursive: true });
    const second = startDoor(home);
    const secondPid = await reachedBy(second);
    expect(secondPid).not.toBe(firstPid);
    const { token } = endpointOf(home);
    await gone(firstPid);
    expect(await first.exited).toEqual({ code: 1, signal: null });
    expect(endpointOf(home)).toMatchObject({ pid: secondPid, token, isClosing: false });
    await second.call('session/list');

    rmSync(home, { recursive: true });
    await gone(secondPid);
    // Its log may have had something to say yet.
    expect(existsSync(home) ? readdirSync(home) : ['log']).toEqual(['log']);
  });

  it('and does not answer is told about in time, and reached once it goes on', async () => {
    const home = tempFolder('home');
    const pid = await reachedBy(startDoor(home));
    const search = {
      dataFolder: home,
      version: '0.0.1',
      client: { model: null, keys: { owner: null, observer: null }, environment: {} },
      start: () => Promise.reject(new Error('Nothing was to be started')),
      answerMs: 200,
      clock: systemClock,
      log: recordingLog(),
      signal: new AbortController().signal,
    };
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGCONT');
    });
    await expect(findHost(search)).rejects.toMatchObject({
      code: 'host.silent',
      message: expect.stringContaining(`process ${pid}`),
    });
    process.kill(pid, 'SIGCONT');
    const { socket, welcome } = await findHost({ ...search, answerMs: 10_000 });
    expect(welcome.pid).toBe(pid);
    socket.destroy();
  });
});

describe('what a host that died left behind', () => {
  it.each<[string, (home: string) => void]>([
    [
      'the word of a process that is gone, and a file where sockets belong',
      (home) => {
        writeEndpoint(home, leftOver({ pid: 4_194_303, startTicks: null }));
        writeFileSync(join(home, 'run'), '');
      },
    ],
    [
      'the word of a process whose id another one has now, and a link where sockets belong',
      (home) => {
        writeEndpoint(home, leftOver({ startTicks: '1' }));
        symlinkSync(tempFolder('elsewhere'), join(home, 'run'));
      },
    ],
    [
      'a word that can not be told from that of a process that lives, and somebody at its socket',
      (home) => {
        const endpoint = join(tempFolder('socket'), 'it.sock');
        const server = createServer((socket) => socket.destroy()).listen(endpoint);
        onTestFinished(() => {
          server.close();
        });
        writeEndpoint(home, leftOver({ endpoint, startTicks: null, bootId: null }));
      },
    ],
    [
      'a word of another boot, a draft of it, and the name of a holder that lives',
      (home) => {
        writeEndpoint(home, leftOver({ bootId: 'another boot' }));
        writeFileSync(`${endpointFile(home)}.new`, '{"link"');
        writeFileSync(join(home, 'host.json'), JSON.stringify({ ...ownMark(), isHost: true }));
        mkdirSync(join(home, 'run'));
        writeFileSync(join(home, 'run', 'old.sock'), '');
      },
    ],
  ])("is in nobody's way: %s", async (_, leave) => {
    const home = tempFolder('home');
    leave(home);
    const client = startDoor(home);
    const pid = await reachedBy(client);
    expect(hostsOf(home)).toEqual([pid]);
    expect(endpointOf(home)).toMatchObject({ pid });
    expect(readdirSync(home).filter((name) => name.endsWith('.new'))).toEqual([]);
    expect(hostStatus(home)).toMatchObject({ pid, clients: 1 });
  });
});

describe('a folder for sockets', () => {
  it.runIf(process.getuid?.() === 0)('of another user is not used', async () => {
    const home = tempFolder('home');
    mkdirSync(join(home, 'run'));
    chownSync(join(home, 'run'), 65_534, 65_534);
    await reachedBy(startDoor(home));
    expect(endpointOf(home).endpoint.startsWith(home)).toBe(false);
    expect(readdirSync(join(home, 'run'))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    'that another user took is nothing that a door speaks to',
    async () => {
      const home = tempFolder('home');
      const folder = tempFolder('theirs');
      const endpoint = join(folder, 'it.sock');
      let heard = '';
      const server = createServer((socket) =>
        socket.on('data', (chunk) => {
          heard += chunk.toString();
        }),
      ).listen(endpoint);
      onTestFinished(() => {
        server.close();
      });
      await eventually(() => existsSync(endpoint), 'the socket');
      chownSync(folder, 65_534, 65_534);
      chownSync(endpoint, 65_534, 65_534);
      writeEndpoint(home, leftOver({ endpoint, startTicks: null, bootId: null }));
      expect(await reachedBy(startDoor(home))).not.toBe(process.pid);
      expect(heard).toBe('');
    },
  );

  it.runIf(process.getuid?.() === 0)(
    'of a host that runs as another user is said to be so',
    async () => {
      const home = tempFolder('home');
      const first = startDoor(home);
      const pid = await reachedBy(first);
      const { endpoint } = endpointOf(home);
      chownSync(endpoint, 65_534, 65_534);
      expect(await refusal(startDoor(home))).toEqual({
        code: 'host.other_user',
        message: expect.stringContaining(`process ${pid}`),
      });
      expect(hostsOf(home)).toEqual([pid]);
      chownSync(endpoint, 0, 0);
    },
  );

  it('is another one where the data folder has a long name, in any script', async () => {
    const home = join(tempFolder('home'), 'Ordner für Sitzungen 会話'.repeat(4));
    const runtime = tempFolder('runtime');
    const env = { XDG_RUNTIME_DIR: runtime };
    const client = startDoor(home, { env });
    const pid = await reachedBy(client);
    const { endpoint } = endpointOf(home);
    expect(endpoint.startsWith(join(runtime, 'pilothouse'))).toBe(true);
    expect(await reachedBy(startDoor(home, { env: { XDG_RUNTIME_DIR: undefined } }))).toBe(pid);
    // A host that is killed leaves its socket, and the next one takes it away.
    process.kill(pid, 'SIGKILL');
    await client.exited;
    expect(existsSync(endpoint)).toBe(true);
    await reachedBy(startDoor(home, { env }));
    expect(existsSync(endpoint)).toBe(false);
    stopHost(home);
    expect(readdirSync(join(runtime, 'pilothouse'))).toEqual([]);
  });
});

describe('a client that can have no host', () => {
  it('is told who holds the data folder', async () => {
    const home = tempFolder('home');
    const holder = startAgentCore(home);
    await holder.initialize();
    expect(await refusal(startDoor(home))).toEqual({
      code: 'journal.locked',
      message: expect.stringContaining(`process ${holder.pid}`),
    });
    await holder.close();
    await reachedBy(startDoor(home));
  });

  it('is told about a folder that can not be made', async () => {
    const home = '/proc/nowhere/data';
    const { message } = await refusal(startDoor(home));
    expect(message).toContain('/proc/nowhere');
    expect(processesOf(home)).toEqual([]);
  });

  it('is told about a full disk, and gets one when there is room', async () => {
    const home = tempFolder('home');
    const env = { ...process.env, PILOTHOUSE_HOME: home };
    const full = new AcpTestClient(
      spawnLink({
        command: '/bin/sh',
        args: ['-c', 'ulimit -S -f 4; exec "$@"', 'sh', process.execPath, AGENT_CORE],
        env,
      }),
    );
    const { code } = await refusal(full);
    expect(code).toMatch(/^(journal|host)\./);
    expect(processesOf(home)).toEqual([]);
    expect(readEndpoint(home)).toBeNull();
    await reachedBy(startDoor(home));
  });

  it('that goes while one is looked for holds up nobody', async () => {
    const home = tempFolder('home');
    const holder = startAgentCore(home);
    await holder.initialize();
    const child = spawn(process.execPath, [AGENT_CORE], {
      env: { ...process.env, PILOTHOUSE_HOME: home },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    await eventually(() => hostsOf(home).length > 0, 'the try to start a host');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    // Its host did not get the folder, and ends by itself.
    await eventually(() => hostsOf(home).length === 0, 'the end of the host');
    await holder.call('session/list');
  });
});

describe('a stranger at the socket', () => {
  it('hears nothing', async () => {
    const home = tempFolder('home');
    await reachedBy(startDoor(home));
    const { endpoint, token } = endpointOf(home);
    const hello = { link: 1, token, asks: 'status', version: '1.0.0' };
    const lines = [
      JSON.stringify({ ...hello, token: 'wrong' }),
      JSON.stringify({ ...hello, token: token.slice(1) }),
      JSON.stringify({ ...hello, link: 2 }),
      JSON.stringify({ ...hello, asks: 'everything' }),
      JSON.stringify({ ...hello, asks: 'connect' }),
      'GET / HTTP/1.1\r\n\r\n',
      '\u0000\u0001',
      '',
    ].map((line) => `${line}\n`);
    for (const bytes of [...lines, Buffer.alloc(5 * 1024 * 1024, 'x')]) {
      const stranger = new Stranger(endpoint, bytes);
      await stranger.closed;
      expect(stranger.heard).toBe('');
    }
    // The same with what was asked for hears something.
    const known = new Stranger(endpoint, `${JSON.stringify(hello)}\n`);
    await known.closed;
    expect(JSON.parse(known.heard)).toMatchObject({ ok: true, clients: 1 });
  });

  it('keeps nobody out, if there are ten thousand of them', async () => {
    const home = tempFolder('home');
    const client = startDoor(home);
    const pid = await reachedBy(client);
    const { endpoint } = endpointOf(home);
    const files = (): number => readdirSync(`/proc/${pid}/fd`).length;
    const before = files();
    let left = 10_000;
    let isOver = false;
    const lane = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await new Stranger(endpoint).closed;
      }
    };
    // The last ones stand there until the host has had enough of their silence.
    const flood = Promise.all(Array.from({ length: 300 }, lane)).then(() => {
      isOver = true;
    });
    let answers = 0;
    while (left > 5_000) {
      await client.call('session/list');
      answers += 1;
    }
    expect(await reachedBy(startDoor(home))).toBe(pid);
    expect(left).toBeGreaterThan(0);
    expect(isOver).toBe(false);
    expect(answers).toBeGreaterThan(20);
    await flood;
    expect(hostsOf(home)).toEqual([pid]);
    await eventually(() => files() < before + 20, 'the end of what they held');
  });
});
