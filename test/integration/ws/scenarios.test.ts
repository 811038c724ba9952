import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deferred } from '../../../src/base/deferred.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  answering,
  eventually,
  hostStatus,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { type ServedDoor, startServe } from '../../support/ws/serve.ts';
import {
  connectSocket,
  cursorOf,
  markOf,
  type SocketClient,
} from '../../support/ws/socket-client.ts';

const OBSERVER = { _meta: { harn: { actor: { role: 'observer' } } } };

async function client(door: ServedDoor, token = door.token): Promise<SocketClient> {
  const opened = await connectSocket(door.url, token);
  await opened.acp.initialize();
  return opened;
}

function load(sessionId: string, cwd: string, more: object = {}): object {
  return { sessionId, cwd, mcpServers: [], ...more };
}

/** The agent's requests of a kind that a client has got. */
function asked(acp: AcpTestClient, method = 'session/request_permission') {
  return acp.calls(method);
}

/** Resolves with the id of the first permission request; the client does not answer it by itself. */
async function firstQuestion(acp: AcpTestClient): Promise<unknown> {
  acp.onRequest('session/request_permission', () => undefined);
  const frame = await acp.waitFor(
    ({ message }) => message?.['method'] === 'session/request_permission',
  );
  return frame.message?.['id'];
}

const ALLOW = { outcome: { outcome: 'selected', optionId: 'allow_once' } };

/** For what needs no door of its own. */
let door: ServedDoor;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'pilothouse-ws-'));
  const env = { PILOTHOUSE_WS_TOKEN: 'own', PILOTHOUSE_WS_OBSERVER_TOKEN: 'see' };
  door = await startServe(home, { env }, (end) => {
    ends.push(end, async () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  });
});

afterAll(async () => {
  for (const end of ends) await end();
});

describe('ACP over WebSocket', () => {
  it('gives two clients sessions of their own (54)', async () => {
    const cwd = tempFolder('ws-cwd');
    const [one, two] = [await client(door), await client(door)];
    const [a, b] = [await one.acp.newSession(cwd), await two.acp.newSession(cwd)];
    expect(a).not.toBe(b);
    await Promise.all([one.acp.prompt(a, 'say alpha'), two.acp.prompt(b, 'say beta')]);
    expect(one.acp.textOf(a)).toContain('alpha');
    expect(two.acp.textOf(b)).toContain('beta');
    expect(one.acp.updates.filter(({ sessionId }) => sessionId === b)).toEqual([]);
    expect(two.acp.updates.filter(({ sessionId }) => sessionId === a)).toEqual([]);
    for (const { acp } of [one, two])
      expect(acp.frames.map(({ message }) => markOf(message).eventId)).toEqual(
        acp.frames.map((_frame, at) => at + 1),
      );
  });

  it('does not give a session that a client controls to another one, but lets it watch and claim (55)', async () => {
    const cwd = tempFolder('ws-cwd');
    const [owner, other] = [await client(door), await client(door)];
    const sessionId = await owner.acp.newSession(cwd);
    await owner.acp.prompt(sessionId, 'say once');
    for (const method of ['session/load', 'session/resume', '_pilothouse/attach']) {
      const refused = other.acp.request(method, load(sessionId, cwd));
      await expect(refused).rejects.toMatchObject({
        code: -32010,
        data: { reason: 'already_attached', sessionId },
      });
    }
    await other.acp.call('session/load', load(sessionId, cwd, OBSERVER));
    expect(other.acp.textOf(sessionId)).toContain('once');
    await expect(other.acp.prompt(sessionId, 'say no')).rejects.toMatchObject({ code: -32600 });
    expect(await other.acp.call('_pilothouse/claim', { sessionId })).toEqual({
      role: 'host_owner',
    });
    await other.acp.prompt(sessionId, 'say claimed');
    await owner.acp.waitFor(({ text }) => text.includes('claimed'));
  });

  it('gives a session to another one when its client has left it (negative control of 55)', async () => {
    const cwd = tempFolder('ws-cwd');
    const [owner, other] = [await client(door), await client(door)];
    const sessionId = await owner.acp.newSession(cwd);
    await owner.acp.prompt(sessionId, 'say once');
    await owner.acp.call('_pilothouse/detach', { sessionId });
    await other.acp.call('session/load', load(sessionId, cwd));
    await other.acp.prompt(sessionId, 'say twice');
    expect(other.acp.textOf(sessionId)).toContain('twice');
  });

  it('asks again what waits for an answer when a client comes back, and its prompt completes (56)', async () => {
    const cwd = tempFolder('ws-cwd');
    const first = await client(door);
    const sessionId = await first.acp.newSession(cwd);
    first.acp.send({
      jsonrpc: '2.0',
      id: 'the-prompt',
      method: 'session/prompt',
      params: { sessionId, prompt: [{ type: 'text', text: 'write a.txt: hello\nfinish with ok' }] },
    });
    const question = await firstQuestion(first.acp);
    const cursor = cursorOf(first.acp);
    await first.drop();

    const second = await client(door);
    second.acp.onRequest('session/request_permission', () => ALLOW);
    const prompted = second.acp.waitFor(({ message }) => message?.['id'] === 'the-prompt');
    const result = await second.acp.call(
      'session/load',
      load(sessionId, cwd, { lastAckedEventId: cursor }),
    );
    expect(result).toMatchObject({ sessionId, replayed: [{ type: 'session/request_permission' }] });
    const [again] = asked(second.acp);
    expect(again?.['id']).toBe(question);
    expect(markOf(again ?? null)).toMatchObject({ replayed: true, sessionId });
    const answer = await prompted;
    expect(answer.message?.['result']).toMatchObject({ stopReason: 'end_turn' });
    expect(markOf(answer.message)).toMatchObject({ replayed: false });
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toContain('hello');
    const ids = second.acp.frames
      .slice(1)
      .filter(({ message }) => message !== again)
      .map(({ message }) => markOf(message).eventId);
    expect(ids).toEqual(ids.map((_id, at) => cursor + 1 + at));
  });

  it('asks nothing again that was answered (negative control of 56)', async () => {
    const cwd = tempFolder('ws-cwd');
    const first = await client(door);
    const sessionId = await first.acp.newSession(cwd);
    answering(first.acp, 'allow_once');
    await first.acp.prompt(sessionId, 'write a.txt: hello\nfinish with ok');
    await first.drop();
    const second = await client(door);
    await second.acp.call('session/load', load(sessionId, cwd, { lastAckedEventId: 0 }));
    expect(asked(second.acp)).toEqual([]);
    expect(second.acp.textOf(sessionId)).toContain('ok');
  });

  it('tells the stored session again when what a client had is not kept any more (57)', async () => {
    const home = tempFolder('ws');
    const cwd = tempFolder('ws-cwd');
    const own = await startServe(home, { env: { PILOTHOUSE_WS_RETAIN_SECS: '0' } });
    const first = await client(own);
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say stored words');
    const cursor = cursorOf(first.acp);
    await first.drop();
    const second = await client(own);
    const late = load(sessionId, cwd, { lastAckedEventId: cursor });
    await expect(second.acp.request('session/load', late)).rejects.toMatchObject({
      code: -32004,
      data: { reason: 'cursor_expired', sessionId },
    });
    expect(second.acp.textOf(sessionId)).toContain('stored words');
    for (const { mark } of second.acp.updates) expect(mark).toMatchObject({ replayed: true });
    // It follows the session only once it begins anew.
    await expect(second.acp.prompt(sessionId, 'say no')).rejects.toThrow();
    await second.acp.call('session/resume', load(sessionId, cwd));
    await second.acp.prompt(sessionId, 'say anew');
    expect(second.acp.textOf(sessionId)).toContain('anew');
  });

  it('goes on behind the cursor while it is kept (negative control of 57)', async () => {
    const cwd = tempFolder('ws-cwd');
    const first = await client(door);
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say stored words');
    const cursor = cursorOf(first.acp);
    await first.drop();
    const second = await client(door);
    const meta = { _meta: { harn: { lastAckedEventId: cursor } } };
    const result = await second.acp.call('session/load', load(sessionId, cwd, meta));
    expect(result).toMatchObject({ sessionId, replayed: [] });
    expect(result).toHaveProperty('modes');
    expect(second.acp.updates).toEqual([]);
    await second.acp.prompt(sessionId, 'say more');
    expect(second.acp.textOf(sessionId)).toContain('more');
  });

  it('begins anew after the door was killed: a cursor of another door is worth nothing', async () => {
    const home = tempFolder('ws');
    const cwd = tempFolder('ws-cwd');
    const own = await startServe(home, { env: { PILOTHOUSE_WS_TOKEN: 't' } });
    const first = await client(own);
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say kept');
    await own.kill();
    const again = await startServe(home, { env: { PILOTHOUSE_WS_TOKEN: 't' } });
    const second = await client(again);
    const late = load(sessionId, cwd, { lastAckedEventId: 3 });
    await expect(second.acp.request('session/load', late)).rejects.toMatchObject({ code: -32004 });
    expect(second.acp.textOf(sessionId)).toContain('kept');
    await second.acp.call('session/load', load(sessionId, cwd));
  });

  it('lets who shows the observer token read, and no more', async () => {
    const cwd = tempFolder('ws-cwd');
    const owner = await client(door);
    const sessionId = await owner.acp.newSession(cwd);
    const watcher = await client(door, 'see');
    await watcher.acp.call('session/load', load(sessionId, cwd));
    answering(owner.acp, 'allow_once');
    await owner.acp.prompt(sessionId, 'write a.txt: x\nfinish with seen');
    await watcher.acp.waitFor(({ text }) => text.includes('seen'));
    expect(asked(watcher.acp)).toEqual([]);
    for (const [method, params] of [
      ['session/prompt', { sessionId, prompt: [{ type: 'text', text: 'say no' }] }],
      ['session/new', { cwd, mcpServers: [] }],
      ['_pilothouse/claim', { sessionId }],
      ['session/cancel', { sessionId }],
    ] as const)
      await expect(watcher.acp.request(method, params)).rejects.toMatchObject({
        data: { reason: 'observer_may_not_control' },
      });
  });

  it('answers what is no message, and goes on', async () => {
    const { acp, socket } = await client(door);
    const errors = (): readonly unknown[] =>
      acp.frames.flatMap(({ message }) => {
        const { code } = (message?.['error'] ?? {}) as { code?: number };
        return code === undefined ? [] : [code];
      });
    socket.send(Buffer.from('{"jsonrpc":"2.0","id":9,"method":"session/list"}'));
    socket.send('{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}');
    socket.send('{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b"}');
    socket.send('[{"jsonrpc":"2.0","id":9,"method":"session/list"}]');
    socket.send('{"jsonrpc":"2.0",\n"id":10,\r\n"method":"session/list","params":{}}');
    const listed = await acp.waitFor(({ message }) => message?.['id'] === 10);
    expect(listed.message?.['result']).toHaveProperty('sessions');
    expect(errors()).toEqual([-32600, -32700, -32700, -32600]);
  });

  it('brings nobody back who has not shown the key of the agent, where it asks for one', async () => {
    const home = tempFolder('ws');
    const cwd = tempFolder('ws-cwd');
    const own = await startServe(home, { env: { PILOTHOUSE_API_KEY: 'the-key' } });
    const key = { methodId: 'apiKey', _meta: { harn: { apiKey: 'the-key' } } };
    const first = await client(own);
    await first.acp.call('authenticate', key);
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say secret');
    await first.drop();
    const second = await client(own);
    const back = load(sessionId, cwd, { lastAckedEventId: 0 });
    await expect(second.acp.request('session/load', back)).rejects.toMatchObject({ code: -32000 });
    expect(second.acp.updates).toEqual([]);
    await second.acp.call('authenticate', key);
    await second.acp.call('session/load', back);
    expect(second.acp.textOf(sessionId)).toContain('secret');
  });

  it('tells clients that the host is gone, and has a new one for those who come then', async () => {
    const home = tempFolder('ws');
    const cwd = tempFolder('ws-cwd');
    const own = await startServe(home);
    const first = await client(own);
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say kept');
    const { pid } = hostStatus(home);
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await first.closed).toMatchObject({ code: 1012 });
    const second = await client(own);
    await second.acp.call('session/load', load(sessionId, cwd));
    expect(second.acp.textOf(sessionId)).toContain('kept');
    expect(hostStatus(home).pid).not.toBe(pid);
  });

  it('lets the turn of a client that dropped go on', async () => {
    const home = tempFolder('ws');
    const cwd = tempFolder('ws-cwd');
    const own = await startServe(home, { env: { PILOTHOUSE_WS_RETAIN_SECS: '0' } });
    const first = await client(own);
    const sessionId = await first.acp.newSession(cwd);
    void first.acp.prompt(sessionId, 'wait 1\nsay went on').catch(() => undefined);
    const started = new Deferred<void>();
    void first.acp
      .waitFor(({ text }) => text.includes('went on'), 'text')
      .then(
        () => undefined,
        () => started.resolve(),
      );
    await eventually(() => hostStatus(home).clients === 1, 'the client at the host');
    await first.drop();
    await started.promise;
    const second = await client(own);
    await second.acp.call('session/load', load(sessionId, cwd));
    await second.acp.waitFor(({ text }) => text.includes('went on'));
  });
});
