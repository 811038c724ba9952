import { readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/agent-core/agent-core.ts';
import { refusedServe, startServe } from '../../support/ws/serve.ts';
import { connectSocket, openSocket } from '../../support/ws/socket-client.ts';

const CERT = fileURLToPath(new URL('../../fixtures/ws/cert.pem', import.meta.url));
const KEY = fileURLToPath(new URL('../../fixtures/ws/key.pem', import.meta.url));

/** The first line of the answer to a handshake that is written by hand. */
function statusOf(url: string, headers: readonly string[], path = '/acp'): Promise<string> {
  const { port } = new URL(url);
  const socket = connectTcp(Number(port), '127.0.0.1');
  socket.write(
    [
      `GET ${path} HTTP/1.1`,
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  return new Promise((resolve, reject) => {
    socket.once('data', (bytes) => {
      socket.destroy();
      resolve(bytes.toString('latin1').split('\r\n', 1)[0] ?? '');
    });
    socket.once('error', reject);
    socket.once('end', () => reject(new Error('No answer')));
  });
}

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket'];
const HOST = 'Host: 127.0.0.1';

describe('who gets in by WebSocket', () => {
  it('is decided before the upgrade', async () => {
    const { url, token } = await startServe(tempFolder('ws'), {
      args: ['--origin', 'https://good.example'],
    });
    const bearer = `Authorization: Bearer ${token}`;
    const ask = (headers: readonly string[], path?: string): Promise<string> =>
      statusOf(url, headers, path);
    expect(await ask([HOST, ...UPGRADE])).toBe('HTTP/1.1 401 Unauthorized');
    expect(await ask([HOST, ...UPGRADE, `${bearer}x`])).toBe('HTTP/1.1 401 Unauthorized');
    expect(await ask([HOST, ...UPGRADE, `Authorization: Basic ${token}`])).toContain('401');
    expect(await ask([HOST, ...UPGRADE, bearer, 'Origin: https://evil.example'])).toContain('403');
    expect(await ask([HOST, ...UPGRADE, bearer, 'Origin: null'])).toContain('403');
    expect(await ask(['Host: rebound.example', ...UPGRADE, bearer])).toContain('403');
    expect(await ask([HOST, ...UPGRADE, bearer], '/other')).toContain('404');
    expect(await ask([HOST, bearer])).toContain('426');
    // The twin: the same handshakes with nothing wrong.
    expect(await ask([HOST, ...UPGRADE, bearer])).toContain('101');
    expect(await ask(['Host: localhost:99', ...UPGRADE, bearer])).toContain('101');
    expect(await ask([HOST, ...UPGRADE, bearer, 'Origin: https://good.example'])).toContain('101');
    // The host that is being started for these is there before the test ends it.
    await (await connectSocket(url, token)).acp.initialize();
  });

  it('is everybody with the token that was made, which is told once', async () => {
    const door = await startServe(tempFolder('ws'));
    expect(JSON.parse(door.stdout())).toEqual({ acp_ws: door.url, token: door.token });
    expect(door.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/acp$/);
    const { acp } = await connectSocket(door.url, door.token);
    expect(await acp.initialize()).toMatchObject({ protocolVersion: 1 });
    expect(await door.stop()).toBe(0);
  });

  it('is nobody with another token where one was given', async () => {
    const door = await startServe(tempFolder('ws'), { env: { PILOTHOUSE_WS_TOKEN: 'given' } });
    expect(JSON.parse(door.stdout())).toEqual({ acp_ws: door.url });
    await expect(openSocket(door.url, 'other')).rejects.toThrow('HTTP 401');
    const { acp } = await connectSocket(door.url, 'given');
    await acp.initialize();
  });
});

describe('a door that other machines can reach', () => {
  it('is not opened without TLS and a token', async () => {
    const home = tempFolder('ws');
    const tls = ['--tls-cert', CERT, '--tls-key', KEY];
    const bare = await refusedServe(home, ['--acp-ws', '0.0.0.0:0']);
    expect(bare).toMatchObject({ code: 2, stdout: '' });
    expect(bare.stderr).toContain('needs TLS');
    const noToken = await refusedServe(home, ['--acp-ws', '0.0.0.0:0', ...tls]);
    expect(noToken).toMatchObject({ code: 2, stdout: '' });
    expect(noToken.stderr).toContain('needs a token');
    const noTls = await refusedServe(home, ['--acp-ws', '[::]:0'], { PILOTHOUSE_WS_TOKEN: 'x' });
    expect(noTls).toMatchObject({ code: 2, stdout: '' });
    expect((await refusedServe(home, ['--acp-ws', 'nonsense'])).code).toBe(2);
  });

  it('is opened with both, and speaks TLS alone', async () => {
    const home = tempFolder('ws');
    const tokenFile = join(home, 'token');
    writeFileSync(tokenFile, 'from-a-file\n', { mode: 0o600 });
    const door = await startServe(home, {
      args: [
        '--acp-ws',
        '0.0.0.0:0',
        '--tls-cert',
        CERT,
        '--tls-key',
        KEY,
        '--token-file',
        tokenFile,
      ],
    });
    expect(door.url).toMatch(/^wss:\/\/0\.0\.0\.0:\d+\/acp$/);
    const url = door.url.replace('0.0.0.0', 'localhost');
    const ca = readFileSync(CERT);
    const { acp } = await connectSocket(url, 'from-a-file', { ca });
    expect(await acp.initialize()).toMatchObject({ protocolVersion: 1 });
    await expect(openSocket(url, 'other', { ca })).rejects.toThrow('HTTP 401');
    await expect(openSocket(url, 'from-a-file')).rejects.toThrow(/self-signed/);
    await expect(openSocket(url.replace('wss', 'ws'), 'from-a-file')).rejects.toThrow();
    const old = connectTls({ port: Number(new URL(url).port), maxVersion: 'TLSv1.1', ca });
    const refused = new Promise((resolve) => old.once('error', resolve));
    expect(await refused).toBeInstanceOf(Error);
  });
});
