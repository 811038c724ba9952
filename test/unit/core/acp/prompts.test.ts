import { afterEach, describe, expect, test } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';

const open: FakeConnection[] = [];

async function connected(): Promise<FakeConnection & { sessionId: string }> {
  const connection = connectFake();
  open.push(connection);
  await connection.client.initialize();
  return { ...connection, sessionId: await connection.client.newSession('/tmp') };
}

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const prompt = (id: number, sessionId: string, text: string): string =>
  line({ id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text }] } });
const cancel = (sessionId: string): string =>
  line({ method: 'session/cancel', params: { sessionId } });

async function stopReason(connection: FakeConnection, id: number): Promise<unknown> {
  const { message } = await connection.client.waitFor((frame) => frame.message?.['id'] === id);
  return (message?.['result'] as Record<string, unknown> | undefined)?.['stopReason'] ?? message;
}

describe('prompts and cancels', () => {
  test('a prompt answers with its typed terminal after all its updates', async () => {
    const { client, sessionId } = await connected();
    const result = await client.prompt(sessionId, 'hi');
    expect(result).toMatchObject({
      stopReason: 'end_turn',
      _meta: { harn: { terminal: { kind: 'natural', owner: 'agent' }, turnId: 'turn-1' } },
    });
    const answer = client.frames.findIndex(
      ({ message }) =>
        message?.['result'] !== undefined && 'stopReason' in (message['result'] as object),
    );
    await client.request('session/list');
    expect(client.updates.every(({ index }) => index < answer)).toBe(true);
    expect(client.updates.map(({ update }) => update.sessionUpdate)).toEqual([
      'agent_message_chunk',
      'agent_message_chunk',
      'session_info_update',
    ]);
  });

  test('a cancel in the same bytes as its prompt cancels it, and the prompt after it runs', async () => {
    const connection = await connected();
    const { client, sessionId, host } = connection;
    client.sendRaw(
      prompt(10, sessionId, 'count slowly') +
        prompt(11, sessionId, 'hi') +
        cancel(sessionId) +
        prompt(12, sessionId, 'hi'),
    );
    expect([
      await stopReason(connection, 10),
      await stopReason(connection, 11),
      await stopReason(connection, 12),
    ]).toEqual(['cancelled', 'cancelled', 'end_turn']);
    const [first, second, third] =
      host.sessions.get(sessionId)?.prompts.map(({ admission }) => admission.order) ?? [];
    expect(first).toBeLessThan(second ?? 0);
    expect(second).toBeLessThan(third ?? 0);
  });

  test('without the cancel the same bytes run all three to their ends', async () => {
    const connection = await connected();
    const { client, sessionId } = connection;
    client.sendRaw(
      prompt(10, sessionId, 'one') + prompt(11, sessionId, 'two') + prompt(12, sessionId, 'three'),
    );
    expect([
      await stopReason(connection, 10),
      await stopReason(connection, 11),
      await stopReason(connection, 12),
    ]).toEqual(['end_turn', 'end_turn', 'end_turn']);
  });

  test('a cancel before the prompt leaves it alone', async () => {
    const connection = await connected();
    connection.client.sendRaw(
      cancel(connection.sessionId) + prompt(10, connection.sessionId, 'hi'),
    );
    expect(await stopReason(connection, 10)).toBe('end_turn');
  });

  test('a cancel takes effect when it is read, although other requests wait in front of it', async () => {
    const connection = await connected();
    const { client, sessionId, host } = connection;
    const listed = new Deferred<void>();
    host.list = async () => {
      await listed.promise;
      return { sessions: [] };
    };
    const running = client.prompt(sessionId, 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    client.sendRaw(
      line({ id: 20, method: 'session/list', params: {} }).repeat(50) + cancel(sessionId),
    );
    expect(await running).toMatchObject({
      stopReason: 'cancelled',
      _meta: { harn: { terminal: { kind: 'user_cancelled', owner: 'user' } } },
    });
    listed.resolve();
  });

  test('the request form answers cancelled, then already_cancelled', async () => {
    const { client, sessionId } = await connected();
    const running = client.prompt(sessionId, 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    const actor = { clientId: 'test-client', role: 'host_owner', source: 'acp' };
    expect(await client.request('session/cancel', { sessionId })).toEqual({
      sessionId,
      status: 'cancelled',
      _meta: { harn: { actor } },
    });
    expect(await running).toMatchObject({ stopReason: 'cancelled' });
    expect(await client.request('session/cancel', { sessionId })).toMatchObject({
      status: 'already_cancelled',
    });
  });

  test('a cancel of an unknown session touches no other', async () => {
    const connection = await connected();
    const { client, sessionId, logged } = connection;
    const running = client.prompt(sessionId, 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    client.notify('session/cancel', { sessionId: 'ghost' });
    await expect(client.request('session/cancel', { sessionId: 'ghost' })).rejects.toMatchObject({
      code: -32004,
    });
    expect(
      logged.some(({ message }) => message === 'A cancel named a session that is not there'),
    ).toBe(true);
    client.notify('session/cancel', { sessionId });
    expect(await running).toMatchObject({ stopReason: 'cancelled' });
  });

  test('$/cancel_request of a prompt cancels it and no later one', async () => {
    const connection = await connected();
    const { client, sessionId } = connection;
    client.sendRaw(prompt(30, sessionId, 'count slowly'));
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    client.sendRaw(
      prompt(31, sessionId, 'hi') + line({ method: '$/cancel_request', params: { requestId: 30 } }),
    );
    expect(await stopReason(connection, 30)).toBe('cancelled');
    expect(await stopReason(connection, 31)).toBe('end_turn');
  });

  test('$/cancel_request tells the ids "40" and 40 apart', async () => {
    const connection = await connected();
    const { client, sessionId } = connection;
    const other = await client.newSession('/tmp');
    const long = (id: unknown, session: string): string =>
      line({
        id,
        method: 'session/prompt',
        params: { sessionId: session, prompt: [{ type: 'text', text: 'count slowly' }] },
      });
    client.sendRaw(long(40, sessionId) + long('40', other));
    await client.waitForUpdate(
      (entry) => entry.sessionId === other && entry.update.sessionUpdate === 'agent_message_chunk',
    );
    client.notify('$/cancel_request', { requestId: '40' });
    await client.waitFor(({ message }) => message?.['id'] === '40');
    expect(client.frames.some(({ message }) => message?.['id'] === 40)).toBe(false);
    client.notify('session/cancel', { sessionId });
    await client.waitFor(({ message }) => message?.['id'] === 40);
  });

  test('a load that is taken back answers with request cancelled and leaves no follower', async () => {
    const connection = await connected();
    const { client, host } = connection;
    const session = host.add('/work');
    for (let index = 0; index < 1000; index += 1)
      session.append({ type: 'title_changed', title: 't' });
    const history = host.history.bind(host);
    const reading = new Deferred<void>();
    const go = new Deferred<void>();
    host.history = async (...args) => {
      reading.resolve();
      await go.promise;
      return await history(...args);
    };
    const load = expect(
      client.request(
        'session/load',
        { sessionId: session.sessionId, cwd: '/work', mcpServers: [] },
        50,
      ),
    ).rejects.toMatchObject({ code: -32800 });
    await reading.promise;
    client.notify('$/cancel_request', { requestId: 50 });
    await client.request('initialize', { protocolVersion: 1 });
    go.resolve();
    await load;
  });

  test('a prompt right behind a load waits for it', async () => {
    const connection = await connected();
    const { client, host } = connection;
    const session = host.add('/work');
    client.sendRaw(
      line({
        id: 60,
        method: 'session/load',
        params: { sessionId: session.sessionId, cwd: '/work', mcpServers: [] },
      }) + prompt(61, session.sessionId, 'hi'),
    );
    expect(await stopReason(connection, 61)).toBe('end_turn');
  });

  test('a prompt carries its command id, and its sender is not told of it again', async () => {
    const { client, sessionId, host } = await connected();
    const prompts = host.sessions.get(sessionId)?.prompts;
    await client.call('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text: 'hi' }],
      _meta: { pilothouse: { commandId: 'mine' }, harn: { actor: { clientId: 'phone' } } },
    });
    expect(prompts?.[0]).toMatchObject({
      commandId: 'mine',
      actor: { clientId: 'phone', role: 'host_owner', source: 'acp' },
    });
    await client.prompt(sessionId, 'again');
    expect(prompts?.[1]?.commandId).toBe('minted-1');
    expect(client.textOf(sessionId, 'user_message_chunk')).toBe('');
  });

  test('another client that follows the session is told of the prompt', async () => {
    const first = await connected();
    const second = connectFake({ host: first.host });
    open.push(second);
    await second.client.initialize();
    await second.client.request('session/resume', { sessionId: first.sessionId, cwd: '/tmp' });
    await first.client.prompt(first.sessionId, 'from the first');
    await second.client.waitForUpdate(
      ({ update }) => update.sessionUpdate === 'session_info_update',
    );
    expect(second.client.textOf(first.sessionId, 'user_message_chunk')).toBe('from the first');
    expect(second.client.textOf(first.sessionId)).toBe('hello there');
  });

  test('an observer may not control, in either form', async () => {
    const connection = await connected();
    const { client, sessionId, host } = connection;
    const _meta = { harn: { actor: { role: 'observer' } } };
    const params = { sessionId, _meta };
    await expect(
      client.request('session/prompt', { ...params, prompt: [{ type: 'text', text: 'x' }] }),
    ).rejects.toMatchObject({ code: -32600 });
    await expect(client.request('session/cancel', params)).rejects.toMatchObject({ code: -32600 });
    await expect(client.request('session/close', params)).rejects.toMatchObject({ code: -32600 });
    client.notify('session/cancel', params);
    await client.request('session/list');
    expect(host.calls).toEqual([]);
  });

  test('when input ends, a running turn stops, is answered, and the host is told once', async () => {
    const connection = await connected();
    const { client, sessionId, host, server } = connection;
    const running = client.prompt(sessionId, 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    client.endInput();
    expect(await running).toMatchObject({ stopReason: 'cancelled' });
    await server.done;
    await connection.doorClosed;
    expect(host.gone).toHaveLength(1);
  });

  test('what was asked just before input ended is answered, and a prompt among it never begins', async () => {
    const connection = await connected();
    const { client, sessionId, host } = connection;
    client.sendRaw(
      line({ id: 80, method: 'session/list', params: {} }) + prompt(81, sessionId, 'hi'),
    );
    client.endInput();
    await client.waitFor(({ message }) => message?.['id'] === 80);
    expect(await stopReason(connection, 81)).toBe('cancelled');
    expect(host.sessions.get(sessionId)?.prompts).toHaveLength(0);
  });

  test('nothing but initialize is answered before initialize', async () => {
    const connection = connectFake();
    open.push(connection);
    await expect(
      connection.client.request('session/new', { cwd: '/tmp', mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32600 });
    await expect(connection.client.request('_pilothouse/models/list')).rejects.toMatchObject({
      code: -32601,
    });
    expect(connection.host.sessions.size).toBe(0);
  });
});
