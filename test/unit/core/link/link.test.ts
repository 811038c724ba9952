import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/base/errors.ts';
import {
  endpointFile,
  type KnownEndpoint,
  liveEndpoint,
  readEndpoint,
  removeEndpoint,
  writeEndpoint,
} from '../../../../src/core/link/endpoint-file.ts';
import { parseHello, parseWelcome, readFirstLine } from '../../../../src/core/link/handshake.ts';
import { mayBeAlive, ownMark } from '../../../../src/core/link/process-facts.ts';
import {
  isForeignSocket,
  isOwnSocket,
  removeOldSockets,
  requirePrivateFolder,
  socketNames,
} from '../../../../src/core/link/socket-place.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-link-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const known = (changes: Partial<KnownEndpoint> = {}): KnownEndpoint => ({
  ...ownMark(),
  link: 1,
  version: '1.2.3',
  endpoint: '/nowhere.sock',
  token: 'secret',
  isClosing: false,
  ...changes,
});

describe('the word of a host', () => {
  it('is read as it was written, by its owner alone', () => {
    writeEndpoint(folder, known());
    expect(liveEndpoint(folder)).toEqual(known());
    expect(statSync(endpointFile(folder)).mode & 0o777).toBe(0o600);
  });

  it('counts for nothing when its process is gone, or another has its id', () => {
    writeEndpoint(folder, known({ startTicks: '1' }));
    expect(readEndpoint(folder)).not.toBeNull();
    expect(liveEndpoint(folder)).toBeNull();
    writeEndpoint(folder, known({ bootId: 'another boot' }));
    expect(liveEndpoint(folder)).toBeNull();
  });

  it.each([
    '',
    '{',
    '[]',
    '{"pid": "1"}',
    '{"link":1,"pid":-1,"version":"","endpoint":"","token":"x"}',
  ])('that was cut off or means nothing is none: %s', (text) => {
    writeFileSync(endpointFile(folder), text);
    expect(readEndpoint(folder)).toBeNull();
  });

  it('is taken back by the host that said it, not by another', () => {
    writeEndpoint(folder, known());
    removeEndpoint(folder, 'other');
    expect(readEndpoint(folder)).not.toBeNull();
    removeEndpoint(folder, 'secret');
    expect(readEndpoint(folder)).toBeNull();
  });
});

describe('the mark of a process', () => {
  it('is that of this process while it lives', () => {
    expect(mayBeAlive(ownMark())).toBe(true);
    expect(mayBeAlive({ ...ownMark(), pid: 2 ** 22 + 1 })).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'is not that of a process that has ended and that its parent did not look after',
    async () => {
      // The shell becomes a program that never asks how its child ended.
      const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      try {
        const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
        const pid = Number(chunk.toString());
        const stat = (): string => readFileSync(`/proc/${pid}/stat`, 'utf8');
        await expect.poll(() => stat().includes(') Z ')).toBe(true);
        expect(mayBeAlive({ pid, startTicks: null, bootId: null })).toBe(false);
        expect(mayBeAlive({ pid: parent.pid ?? 0, startTicks: null, bootId: null })).toBe(true);
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );
});

describe('the place of a socket', () => {
  const facts = {
    platform: 'linux',
    runtimeFolder: '/run/user/7',
    temporaryFolder: '/tmp',
    userId: 7,
  } as const;

  it('is the data folder, and elsewhere where paths are too long for that', () => {
    const [first] = socketNames('/home/a/data', facts);
    expect(first).toMatch(/^\/home\/a\/data\/run\/[0-9a-f]{12}\.sock$/);
    const long = `/home/${'ä'.repeat(60)}`;
    expect(socketNames(long, facts).map((path) => path.split('/').slice(0, -1).join('/'))).toEqual([
      '/run/user/7/pilothouse',
      '/tmp/pilothouse-7',
    ]);
  });

  it('is a pipe of its own on Windows', () => {
    const names = socketNames('C:\\data', { ...facts, platform: 'win32' });
    expect(names).toHaveLength(1);
    expect(names[0]).toMatch(/^\\\\\.\\pipe\\pilothouse-[0-9a-f]{12}-[0-9a-f]{12}$/);
  });

  it('must be a folder of this user that nobody else may enter', () => {
    const own = process.getuid?.() ?? 0;
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    requirePrivateFolder(open, own);
    expect(statSync(open).mode & 0o777).toBe(0o700);
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(open, join(folder, 'link'));
    for (const name of ['file', 'link'])
      expect(() => requirePrivateFolder(join(folder, name), own)).toThrow(
        expect.objectContaining({ code: 'host.socket_folder' }),
      );
    expect(() => requirePrivateFolder(open, own + 1)).toThrow(/belongs to another user/);
  });

  it('is spoken to only where nobody else could have put it', async () => {
    const place = { ...facts, userId: process.getuid?.() ?? 0 };
    const endpoint = join(folder, 'it.sock');
    expect(isOwnSocket(endpoint, place)).toBe(false);
    expect(isForeignSocket(endpoint, place)).toBe(false);
    const server = createServer().listen(endpoint);
    try {
      await once(server, 'listening');
      expect(isOwnSocket(endpoint, place)).toBe(true);
      expect(isForeignSocket(endpoint, place)).toBe(false);
      const other = { ...place, userId: place.userId + 1 };
      expect(isOwnSocket(endpoint, other)).toBe(false);
      expect(isForeignSocket(endpoint, other)).toBe(true);
      chmodSync(folder, 0o777);
      expect(isOwnSocket(endpoint, place)).toBe(false);
      chmodSync(folder, 0o700);
      writeFileSync(join(folder, 'file.sock'), '');
      expect(isOwnSocket(join(folder, 'file.sock'), place)).toBe(false);
    } finally {
      server.close();
    }
  });

  it('is cleared of what killed hosts of this data folder left, and of nothing else', () => {
    const shared = { ...facts, temporaryFolder: folder, runtimeFolder: undefined };
    const long = `/home/${'a'.repeat(90)}`;
    const [own = '', old = '', theirs = ''] = [long, long, `${long}b`].flatMap((data) =>
      socketNames(data, shared),
    );
    mkdirSync(dirname(own));
    for (const path of [own, old, theirs, join(dirname(own), 'note')]) writeFileSync(path, '');
    removeOldSockets(long, own);
    expect(readdirSync(dirname(own)).sort()).toEqual(
      [basename(own), basename(theirs), 'note'].sort(),
    );
  });
});

describe('the first line of a socket', () => {
  async function pair(): Promise<{
    readonly near: Socket;
    readonly far: Socket;
    readonly close: () => void;
  }> {
    const path = join(folder, 's.sock');
    const server = createServer({ pauseOnConnect: true });
    const came = new Promise<Socket>((resolve) => server.once('connection', resolve));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const far = connect(path);
    const near = await came;
    return {
      near,
      far,
      close: () => {
        near.destroy();
        far.destroy();
        server.close();
      },
    };
  }

  it('is read alone, and what follows stays', async () => {
    const { near, far, close } = await pair();
    far.write('first li');
    far.write('ne\nsecond\nthi');
    expect(await readFirstLine(near, 1_000)).toBe('first line');
    far.end('rd\n');
    let rest = '';
    for await (const chunk of near) rest += String(chunk);
    expect(rest).toBe('second\nthird\n');
    close();
  });

  it('is told apart from an end and from silence', async () => {
    const one = await pair();
    one.far.end('no newline');
    await expect(readFirstLine(one.near, 1_000)).rejects.toMatchObject({ code: 'link.closed' });
    one.close();
    rmSync(join(folder, 's.sock'), { force: true });
    const two = await pair();
    await expect(readFirstLine(two.near, 10)).rejects.toMatchObject({ code: 'link.silent' });
    two.close();
  });

  it('fills no memory where it never ends', async () => {
    const { near, far, close } = await pair();
    const flood = Buffer.alloc(256 * 1024, 'a');
    far.on('error', () => undefined);
    for (let sent = 0; sent < 20; sent += 1) far.write(flood);
    await expect(readFirstLine(near, 5_000)).rejects.toMatchObject({
      code: 'link.not_a_handshake',
    });
    close();
  });
});

describe('a handshake', () => {
  const hello = { link: 1, token: 't', asks: 'connect', version: '1.0.0' };
  const client = { model: null, keys: { owner: null, observer: 'k' }, environment: { A: 'b' } };

  it('says what a client was started with', () => {
    expect(parseHello(JSON.stringify({ ...hello, client }))).toEqual({ ...hello, client });
  });

  it.each([
    'GET / HTTP/1.1',
    '[]',
    JSON.stringify({ ...hello, link: 2, client }),
    JSON.stringify({ ...hello, asks: 'dance' }),
    JSON.stringify(hello),
    JSON.stringify({ ...hello, client: { ...client, environment: 7 } }),
  ])('of another kind is none: %s', (line) => {
    expect(() => parseHello(line)).toThrow(
      expect.objectContaining({ code: 'link.not_a_handshake' }),
    );
  });

  it('is answered with who is there, or with a refusal', () => {
    const welcome = {
      ok: true,
      link: 1,
      pid: 1,
      version: '1',
      startedAt: 2,
      sessions: 3,
      clients: 4,
    };
    expect(parseWelcome(JSON.stringify(welcome))).toEqual(welcome);
    const no = { ok: false, code: 'host.closing', message: 'It ends.' };
    expect(parseWelcome(JSON.stringify(no))).toEqual(no);
    const caught = ((): unknown => {
      try {
        return parseWelcome('{"ok":true}');
      } catch (error) {
        return codeOf(error);
      }
    })();
    expect(caught).toBe('link.not_a_handshake');
  });
});
