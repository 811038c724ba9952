import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  answering,
  eventually,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { controlsOf, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

const KEYS = { PILOTHOUSE_API_KEY: 'owner-key-1234', PILOTHOUSE_OBSERVER_KEY: 'observer-key-5678' };

function withKeys(home = tempFolder('home')) {
  return answering(startAgentCore(home, { env: KEYS }), 'allow_once');
}

function show(key: string): object {
  return { methodId: 'apiKey', _meta: { harn: { apiKey: key } } };
}

describe('a connection that asks for a key', () => {
  it('answers nothing and changes nothing before it was shown, in either form; then it works', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const first = withKeys(home);
    await first.initialize(KNOWS_CONTROL);
    await first.call('authenticate', show('owner-key-1234'));
    const sessionId = await first.newSession(folder);
    await first.prompt(sessionId, 'finish with kept');
    const hash = async (client: typeof first): Promise<unknown> =>
      (await client.call('harn.session_view.query', { sessionId }))['session'];
    const before = await hash(first);
    await first.close();

    const client = withKeys(home);
    expect(await client.initialize(KNOWS_CONTROL)).toMatchObject({
      authMethods: [{ id: 'apiKey' }],
    });
    const calls: [string, object][] = [
      ['session/load', { sessionId, cwd: folder, mcpServers: [] }],
      ['session/prompt', { sessionId, prompt: [{ type: 'text', text: 'finish with forged' }] }],
      ['session/cancel', { sessionId }],
      ['session/inject', { sessionId, mode: 'steer', content: 'x' }],
      ['session/remind', { sessionId, body: 'x', mode: 'finish_step' }],
      ['session/truncate', { sessionId, keepFirst: 0 }],
      ['session/rollback', { sessionId }],
      ['session/close', { sessionId }],
      ['session/stop', { sessionId }],
      ['session/delete', { sessionId }],
      ['session/new', { cwd: folder, mcpServers: [] }],
      ['session/list', {}],
      ['_pilothouse/receipts/list', {}],
      ['no/such/method', {}],
    ];
    for (const [method, params] of calls) client.notify(method, params);
    for (const [method, params] of calls)
      await expect(client.request(method, params), method).rejects.toMatchObject({
        code: -32000,
        message: expect.stringContaining('Authentication required'),
      });
    for (const key of ['', 'wrong', 'owner-key-123', 'owner-key-12345'])
      await expect(client.request('authenticate', show(key))).rejects.toMatchObject({
        code: -32000,
      });
    await expect(client.request('session/list', {})).rejects.toMatchObject({ code: -32000 });
    await client.call('authenticate', show('owner-key-1234'));
    expect((await client.call('session/list'))['sessions']).toHaveLength(1);
    expect(await hash(client)).toEqual(before);
    expect((await client.call('_pilothouse/receipts/list'))['receipts']).toEqual([]);
    await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect((await client.prompt(sessionId, 'finish with mine'))['stopReason']).toBe('end_turn');
    expect(client.stderr).not.toContain('key-1234');
  });

  it('keeps its keys from what the agent runs', async () => {
    const client = withKeys();
    await client.initialize();
    await client.call('authenticate', show('owner-key-1234'));
    const folder = tempFolder('work');
    const sessionId = await client.newSession(folder);
    await client.call('session/set_mode', { sessionId, modeId: 'code' });
    await client.prompt(sessionId, 'run env > env.txt; echo done\nread env.txt');
    expect(existsSync(join(folder, 'env.txt'))).toBe(true);
    expect(client.frames.map(({ text }) => text).join('\n')).not.toMatch(/key-1234|key-5678/);
  });

  it('lets an observer read and follow, and refuses its controls, each with a receipt', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const owner = withKeys(home);
    await owner.initialize(KNOWS_CONTROL);
    await owner.call('authenticate', show('owner-key-1234'));
    const sessionId = await owner.newSession(folder);
    await owner.prompt(sessionId, 'finish with seen');
    await owner.close();

    const client = withKeys(home);
    await client.initialize(KNOWS_CONTROL);
    await client.call('authenticate', show('observer-key-5678'));
    await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(client.textOf(sessionId)).toContain('seen');
    const { outcomes } = controlsOf(client, sessionId);
    const before = outcomes().length;
    const controls: [string, object][] = [
      ['session/inject', { sessionId, mode: 'steer', content: 'x' }],
      ['session/cancel', { sessionId }],
      ['session/set_mode', { sessionId, modeId: 'code' }],
      ['session/rollback', { sessionId }],
      ['session/close', { sessionId }],
      ['session/delete', { sessionId }],
      ['_pilothouse/queue/add', { sessionId, content: 'x' }],
      ['_pilothouse/compact', { sessionId }],
      ['_pilothouse/gates/respond', { sessionId, gateId: 'x', decline: true }],
      ['_pilothouse/commands/withdraw', { sessionId, commandId: 'x' }],
      ['_pilothouse/loops/activate', { sessionId, loopId: 'x' }],
      ['_pilothouse/delegates/message', { sessionId, loopId: 'x', text: 'x' }],
      ['_pilothouse/delegates/stop', { sessionId, loopId: 'x' }],
      ['_pilothouse/checkpoints/create', { sessionId }],
    ];
    for (const [method, params] of controls)
      await expect(client.request(method, params), method).rejects.toMatchObject({
        code: -32600,
        data: { reason: 'observer_may_not_control' },
      });
    expect(outcomes().slice(before)).toEqual(
      controls.map(([method]) => `${method} observer_may_not_control rejected`),
    );
    await expect(client.prompt(sessionId, 'write x.txt: x')).rejects.toMatchObject({
      code: -32600,
    });
    await expect(client.newSession(folder)).rejects.toMatchObject({ code: -32600 });
    // Files of the host are written, and sessions made, by owners alone; what an observer may read it may read here.
    for (const [method, params] of [
      ['_pilothouse/sessions/export', { sessionId, format: 'json', path: join(folder, 'x.json') }],
      ['_pilothouse/sessions/import', { path: join(folder, 'x.json') }],
    ] as const)
      await expect(client.request(method, params), method).rejects.toMatchObject({
        code: -32600,
        data: { reason: 'observer_may_not_control' },
      });
    expect(existsSync(join(folder, 'x.json'))).toBe(false);
    expect(await client.call('_pilothouse/events/subscribe', { sessionId, from: 0 })).toMatchObject(
      {
        lastEventId: 0,
      },
    );
    await expect(client.call('_pilothouse/claim', { sessionId })).rejects.toMatchObject({
      code: -32600,
    });
    expect(
      await client.call('_pilothouse/attach', { sessionId, role: 'host_owner' }),
    ).toMatchObject({ role: 'observer' });
  });
});

describe('roles without a key', () => {
  it('may be narrowed and claimed back; an observer is not asked open questions', async () => {
    const client = startAgentCore(tempFolder('home'));
    await client.initialize(KNOWS_CONTROL);
    const folder = tempFolder('work');
    const sessionId = await client.newSession(folder);
    const { outcomes } = controlsOf(client, sessionId);
    await expect(
      client.request('session/inject', {
        sessionId,
        mode: 'steer',
        content: 'x',
        _meta: { harn: { actor: { role: 'observer' } } },
      }),
    ).rejects.toMatchObject({ code: -32600 });
    expect(outcomes().at(-1)).toBe('session/inject observer_may_not_control rejected');

    const asked = (): number => client.calls('session/request_permission').length;
    client.onRequest('session/request_permission', () => undefined);
    const turn = client.prompt(sessionId, 'write a.txt: x\nfinish with done');
    await eventually(() => asked() === 1, 'the question');
    const snapshot = await client.call('_pilothouse/attach', { sessionId, role: 'observer' });
    expect(snapshot).toMatchObject({
      role: 'observer',
      onDetach: 'stop',
      session: { sessionId, activePrompt: true },
      gates: [{ request: { kind: 'permission' } }],
      pending: [],
      queue: { paused: null, items: [] },
    });
    await expect(client.request('session/cancel', { sessionId })).rejects.toMatchObject({
      code: -32600,
    });
    answering(client, 'allow_once');
    expect(await client.call('_pilothouse/claim', { sessionId })).toEqual({ role: 'host_owner' });
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(asked()).toBe(2);
    expect(existsSync(join(folder, 'a.txt'))).toBe(true);
    expect(await client.call('_pilothouse/detach', { sessionId })).toEqual({});
    await expect(client.prompt(sessionId, 'x')).rejects.toMatchObject({ code: -32002 });
  });
});

describe('the environment of a session', () => {
  it('is what its policy lets through; a rejected policy creates no session, and a copy may not widen it', async () => {
    const client = startAgentCore(tempFolder('home'), {
      env: { SEEN: 'seen-1', HIDDEN: 'hidden-1' },
    });
    answering(client, 'allow_once');
    await client.initialize(KNOWS_CONTROL);
    const folder = tempFolder('work');
    const policy = {
      kind: 'granted',
      grants: [{ name: 'seen', source: { env: { var: 'SEEN' } }, expose_as_env: 'SEEN' }],
    };
    for (const environmentPolicy of [
      { kind: 'sideways' },
      'isolated',
      { kind: 'granted', grants: [{ name: 'x' }] },
      { kind: 'granted', grants: [{ ...policy.grants[0], expose_as_env: 'not a name' }] },
    ])
      await expect(
        client.request('session/new', { cwd: folder, mcpServers: [], environmentPolicy }),
        JSON.stringify(environmentPolicy),
      ).rejects.toMatchObject({ code: -32602 });
    expect((await client.call('session/list'))['sessions']).toEqual([]);

    const see = async (params: object): Promise<string> => {
      const { sessionId } = await client.call('session/new', {
        cwd: folder,
        mcpServers: [],
        ...params,
      });
      await client.call('session/set_mode', { sessionId, modeId: 'code' });
      await client.prompt(String(sessionId), 'run env');
      return JSON.stringify(client.updates.filter((entry) => entry.sessionId === sessionId));
    };
    const inherited = await see({});
    expect([inherited.includes('seen-1'), inherited.includes('hidden-1')]).toEqual([true, true]);
    const granted = await see({ environmentPolicy: policy });
    expect([granted.includes('seen-1'), granted.includes('hidden-1')]).toEqual([true, false]);
    const { sessionId } = await client.call('session/new', {
      cwd: folder,
      mcpServers: [],
      profile: { kind: 'isolated' },
    });
    await client.prompt(String(sessionId), 'finish with x');
    await expect(
      client.request('session/fork', { sessionId, environmentPolicy: { kind: 'inherited' } }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'environment_widened' } });
  });
});
