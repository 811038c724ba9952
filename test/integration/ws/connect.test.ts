import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { connectAcpClient } from '../../support/acp-client/connect.ts';
import {
  AGENT_CORE,
  eventually,
  hostStatus,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { startCuttingProxy } from '../../support/ws/cutting-proxy.ts';
import { startServe } from '../../support/ws/serve.ts';

const CERT = fileURLToPath(new URL('../../fixtures/ws/cert.pem', import.meta.url));
const KEY = fileURLToPath(new URL('../../fixtures/ws/key.pem', import.meta.url));

/** Starts `agent-core connect`; it is killed after the test if it still runs. */
function startConnect(
  url: string,
  token: string | null,
  args: readonly string[] = [],
): AcpTestClient {
  const client = connectAcpClient({
    spawn: {
      command: process.execPath,
      args: [AGENT_CORE, 'connect', url, ...args],
      env: {
        ...process.env,
        PILOTHOUSE_HOME: tempFolder('ws-unused'),
        ...(token === null ? {} : { PILOTHOUSE_CONNECT_TOKEN: token }),
      },
    },
  });
  onTestFinished(() => client.kill());
  return client;
}

describe('agent-core connect', () => {
  it('is the agent on the other side, as if it were this one', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startServe(home);
    const client = startConnect(door.url.replace('/acp', ''), door.token);
    const { _meta: meta } = await client.initialize();
    expect(meta ?? {}).toBeDefined();
    const sessionId = await client.newSession(cwd);
    expect(await client.prompt(sessionId, 'say over there')).toMatchObject({
      stopReason: 'end_turn',
    });
    expect(client.textOf(sessionId)).toContain('over there');
    client.sendRaw('no json\n');
    await client.waitFor(({ message }) =>
      JSON.stringify(message?.['error'] ?? '').includes('-32700'),
    );
    expect(await client.close()).toEqual({ code: 0, signal: null });
    await eventually(() => hostStatus(home).clients === 0, 'the end of the client at the host');
  });

  it('says that its token is refused, to its client and by its exit code', async () => {
    const door = await startServe(tempFolder('ws'));
    for (const token of ['wrong', null]) {
      const client = startConnect(door.url, token);
      await expect(client.initialize()).rejects.toMatchObject({
        data: { code: 'connect.unauthorized' },
      });
      expect(await client.exited).toEqual({ code: 3, signal: null });
      expect(client.stderr).toContain('Token refused');
    }
  });

  it('says that nobody is there, that somebody else is, and that an address is none', async () => {
    const other = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      other.close();
    });
    const { port } = other.address() as AddressInfo;
    const cases = [
      ['ws://127.0.0.1:1/acp', 'connect.unreachable'],
      [`ws://127.0.0.1:${port}/acp`, 'connect.refused'],
      [`wss://127.0.0.1:${port}/acp`, 'connect.tls'],
      ['http://127.0.0.1/acp', 'connect.bad_url'],
    ] as const;
    for (const [url, code] of cases) {
      const client = startConnect(url, 't');
      await expect(client.initialize()).rejects.toMatchObject({ data: { code } });
      expect(await client.exited).toEqual({ code: 1, signal: null });
    }
  });

  it('trusts a certificate of its own only where it is named', async () => {
    const door = await startServe(tempFolder('ws'), {
      args: ['--tls-cert', CERT, '--tls-key', KEY],
    });
    const strict = startConnect(door.url, door.token);
    await expect(strict.initialize()).rejects.toMatchObject({ data: { code: 'connect.tls' } });
    const trusting = startConnect(door.url, door.token, ['--ca', CERT]);
    expect(await trusting.initialize()).toMatchObject({ protocolVersion: 1 });
  });

  it('ends when its connection is cut, and a new one goes on with the turn that went on', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startServe(home);
    const proxy = await startCuttingProxy(Number(new URL(door.url).port));
    const url = `ws://127.0.0.1:${proxy.port}/acp`;
    const first = startConnect(url, door.token);
    await first.initialize();
    const sessionId = await first.newSession(cwd);
    const prompted = first.prompt(sessionId, 'count slowly from 1 to 12\nfinish with the end');
    const rejected = expect(prompted).rejects.toThrow();
    await first.waitFor(({ text }) => text.includes('agent_message_chunk'));
    proxy.cutAll('drop');
    await rejected;
    expect(await first.exited).toEqual({ code: 1, signal: null });
    expect(first.stderr).toContain('connect.closed');
    const second = startConnect(url, door.token);
    await second.initialize();
    await second.call('session/load', { sessionId, cwd, mcpServers: [] });
    await second.waitFor(({ text }) => text.includes('the end'));
  });

  it('tells its client that the other side closed before it said anything', async () => {
    const door = await startServe(tempFolder('ws'));
    const proxy = await startCuttingProxy(Number(new URL(door.url).port));
    // The answer to the upgrade passes, nothing behind it.
    proxy.plan(() => ({ bytes: 200, cut: 'drop' }));
    const client = startConnect(`ws://127.0.0.1:${proxy.port}/acp`, door.token);
    await expect(client.initialize()).rejects.toMatchObject({ data: { code: 'connect.closed' } });
    expect(await client.exited).toEqual({ code: 1, signal: null });
    // The host that is being started for these is there before the test ends it.
    await startConnect(door.url, door.token).initialize();
  });
});
