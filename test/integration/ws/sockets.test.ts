import { describe, expect, it } from 'vitest';
import { RELAY_HEADER } from '../../../src/core/door/ws/entry/admission.ts';
import { hostStatus, tempFolder } from '../../support/agent-core/agent-core.ts';
import { startCuttingProxy } from '../../support/ws/cutting-proxy.ts';
import { connectSocket, cursorOf, markOf, openSocket } from '../../support/ws/socket-client.ts';
import { startDoorHere } from '../../support/ws/start-door.ts';

const SHORT = { beat: { pingMs: 60_000, pongMs: 300 } };

describe('a socket that gives no sign of life', () => {
  it('is closed, and one that answers stays', async () => {
    const door = await startDoorHere(tempFolder('ws'), { beat: { pingMs: 50, pongMs: 200 } });
    const silent = await openSocket(door.url, door.token, { autoPong: false });
    const lively = await openSocket(door.url, door.token);
    let pings = 0;
    const stays = new Promise<void>((resolve) => {
      lively.on('ping', () => {
        pings += 1;
        if (pings === 20) resolve();
      });
    });
    const closed = new Promise<number>((resolve) => silent.once('close', resolve));
    expect(await closed).toBe(1006);
    await stays;
    expect(lively.readyState).toBe(lively.OPEN);
    // The host that is being started for these is there before the test ends it.
    await (await connectSocket(door.url, door.token)).acp.initialize();
  });

  it('gives its place to a client that comes back with its cursor, and a live one does not', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startDoorHere(home, SHORT);
    const proxy = await startCuttingProxy(door.port);
    const first = await connectSocket(`ws://127.0.0.1:${proxy.port}/acp`, door.token);
    await first.acp.initialize();
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say one');
    const params = { sessionId, cwd, mcpServers: [], lastAckedEventId: cursorOf(first.acp) };

    const early = await connectSocket(door.url, door.token);
    await early.acp.initialize();
    await expect(early.acp.request('session/load', params)).rejects.toMatchObject({ code: -32010 });
    await first.acp.prompt(sessionId, 'say two');

    proxy.cutAll('half_open');
    const back = await connectSocket(door.url, door.token);
    await back.acp.initialize();
    expect(await back.acp.call('session/load', params)).toMatchObject({ sessionId });
    expect(back.acp.textOf(sessionId)).toMatch(/^two/);
    await back.acp.prompt(sessionId, 'say three');
    expect(back.acp.textOf(sessionId)).toContain('three');
  });
});

describe('a client that is away', () => {
  it('begins anew when more was sent than is kept', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startDoorHere(home, { buffer: { frames: 4, chars: 1_000_000 } });
    const first = await connectSocket(door.url, door.token);
    await first.acp.initialize();
    const sessionId = await first.acp.newSession(cwd);
    const cursor = cursorOf(first.acp);
    await first.acp.prompt(sessionId, 'say a\nsay b\nsay c');
    await first.drop();
    const second = await connectSocket(door.url, door.token);
    await second.acp.initialize();
    const params = { sessionId, cwd, mcpServers: [] };
    const late = second.acp.request('session/load', { ...params, lastAckedEventId: cursor });
    await expect(late).rejects.toMatchObject({ code: -32004 });
    expect(second.acp.textOf(sessionId)).toContain('c');
  });

  it('is never given what was sent to another one', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startDoorHere(home, {});
    const owner = await connectSocket(door.url, door.token);
    await owner.acp.initialize();
    const sessionId = await owner.acp.newSession(cwd);
    await owner.acp.prompt(sessionId, 'say one');
    const actor = { actor: { role: 'observer' } };
    const params = { sessionId, cwd, mcpServers: [] };
    const watchers = await Promise.all(
      [1, 2].map(async () => {
        const watcher = await connectSocket(door.url, door.token);
        await watcher.acp.initialize();
        const { worker } = markOf(watcher.acp.frames[0]?.message ?? null);
        await watcher.acp.call('session/load', { ...params, _meta: { harn: actor } });
        return { watcher, worker, cursor: cursorOf(watcher.acp) };
      }),
    );
    for (const { watcher } of watchers) await watcher.drop();
    const back = await connectSocket(door.url, door.token);
    await back.acp.initialize();
    const cursor = { lastAckedEventId: watchers[1]?.cursor };
    // Which of the two it was is not said.
    const unsaid = back.acp.request('session/load', {
      ...params,
      _meta: { harn: { ...actor, ...cursor } },
    });
    await expect(unsaid).rejects.toMatchObject({ code: -32004 });
    const said = { ...actor, ...cursor, worker: watchers[1]?.worker };
    const result = await back.acp.call('session/load', { ...params, _meta: { harn: said } });
    expect(result).toMatchObject({ sessionId, replayed: [] });
  });

  it('is not waited for where it only relays another, and controls what others control', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startDoorHere(home, {});
    const headers = { [RELAY_HEADER]: '1' };
    const first = await connectSocket(door.url, door.token, { headers });
    await first.acp.initialize();
    const sessionId = await first.acp.newSession(cwd);
    await first.acp.prompt(sessionId, 'say one');
    const second = await connectSocket(door.url, door.token, { headers });
    await second.acp.initialize();
    await second.acp.call('session/load', { sessionId, cwd, mcpServers: [] });
    for (const { message } of second.acp.frames)
      if (message?.['method'] === undefined) expect(message).not.toHaveProperty('_harn');
    await second.acp.prompt(sessionId, 'say two');
    await first.acp.waitFor(({ text }) => text.includes('two'));
    await until(() => hostStatus(home).clients === 2);
    await first.drop();
    await until(() => hostStatus(home).clients === 1);
  });
});

describe('a client that does not read', () => {
  it('holds the host back, keeps nobody else waiting, and gets everything once it reads on', async () => {
    const [home, cwd] = [tempFolder('ws'), tempFolder('ws-cwd')];
    const door = await startDoorHere(home, {});
    const slow = await connectSocket(door.url, door.token);
    await slow.acp.initialize();
    const sessionId = await slow.acp.newSession(cwd);
    slow.socket.pause();
    const other = await connectSocket(door.url, door.token);
    await other.acp.initialize();
    const actor = { _meta: { harn: { actor: { role: 'observer' } } } };
    await other.acp.call('session/load', { sessionId, cwd, mcpServers: [], ...actor });
    const text = 'x'.repeat(3_000_000);
    const script = [1, 2].map((line) => `say ${line}${text}`).join('\n');
    const prompted = slow.acp.prompt(sessionId, `${script}\nfinish with the end`);
    await until(() => other.acp.textOf(sessionId).endsWith('the end'));
    expect(slow.acp.textOf(sessionId)).toBe('');
    slow.socket.resume();
    await prompted;
    expect(slow.acp.textOf(sessionId)).toBe(other.acp.textOf(sessionId));
    expect(slow.acp.textOf(sessionId).length).toBeGreaterThan(2 * text.length);
  });
});

/** The door is in this process and needs its turns. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
