import { afterEach, describe, expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { isObject } from '../../../../src/base/json.ts';
import type { EphemeralEvent } from '../../../../src/core/session/ephemeral-events.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import type { MessageId, ToolCallId, TurnId } from '../../../../src/core/session/words.ts';
import type { AcpTestClient } from '../../../support/acp-client/client.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';
import type { FakeSession } from '../../../support/fake-host/fake-session.ts';

const open: FakeConnection[] = [];
const connect = (...args: Parameters<typeof connectFake>): FakeConnection => {
  const connection = connectFake(...args);
  open.push(connection);
  return connection;
};

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

const turnId = 'turn-1' as TurnId;
const messageId = 'reply' as MessageId;
const delta = (offset: number, text: string): HistoryEvent => ({
  type: 'message_delta',
  turnId,
  messageId,
  kind: 'text',
  offset,
  text,
});
const chunk = (offset: number, text: string, afterEventId = 0): EphemeralEvent => ({
  type: 'message_chunk',
  turnId,
  messageId,
  kind: 'text',
  offset,
  text,
  afterEventId,
});
const title = (text: string): HistoryEvent => ({ type: 'title_changed', title: text });

async function withHistory(): Promise<FakeConnection & { session: FakeSession }> {
  const connection = connect();
  const session = connection.host.add('/work');
  session.append(title('First'));
  session.append(delta(0, 'abc'));
  session.append(delta(3, 'def'));
  await connection.client.initialize();
  return { ...connection, session };
}

function indexOfAnswer(client: AcpTestClient, id: number): number {
  return client.frames.findIndex(({ message }) => message?.['id'] === id);
}

describe('sessions over ACP', () => {
  test('a new session answers with its state, twice where Harn has it', async () => {
    const { client, host } = connect();
    await client.initialize();
    const result = await client.call('session/new', {
      cwd: '/work',
      mcpServers: [{ name: 'm', command: 'c', args: [], env: [] }],
    });
    expect(result).toMatchObject({
      sessionId: 'session-1',
      session: {
        sessionId: 'session-1',
        cwd: '/work',
        liveState: 'live',
        activePrompt: false,
        currentModeId: 'ask',
        attachableRoles: ['host_owner', 'observer'],
      },
      modes: { currentModeId: 'ask' },
      configOptions: [{ id: 'mode', currentValue: 'ask' }],
      _meta: { harn: { session: { sessionId: 'session-1' } } },
    });
    expect(host.lastNew?.mcpServers).toHaveLength(1);
    expect(host.client?.actor).toEqual({
      clientId: 'test-client',
      role: 'host_owner',
      source: 'acp',
    });
  });

  test('load replays everything before its answer, marked, and nothing after', async () => {
    const { client, session } = await withHistory();
    const result = await client.request(
      'session/load',
      { sessionId: session.sessionId, cwd: '/work', mcpServers: [] },
      70,
    );
    expect(result).toMatchObject({
      sessionId: session.sessionId,
      lastEventId: 4,
      prefix_hash: 'hash-4',
      replayed_count: 3,
      replayed: [
        { eventId: 2, type: 'session_info_update' },
        { eventId: 3, type: 'agent_message_chunk' },
        { eventId: 4, type: 'agent_message_chunk' },
      ],
      _meta: { harn: { lastEventId: 4, prefix_hash: 'hash-4' } },
    });
    expect(client.updates.map(({ mark }) => mark)).toEqual([
      { eventId: 2, replayed: true, sessionId: session.sessionId },
      { eventId: 3, replayed: true, offset: 0, sessionId: session.sessionId },
      { eventId: 4, replayed: true, offset: 3, sessionId: session.sessionId },
    ]);
    expect(client.textOf(session.sessionId)).toBe('abcdef');
    await client.request('session/list');
    expect(client.updates.every(({ index }) => index < indexOfAnswer(client, 70))).toBe(true);
    const params = client.calls('session/update')[0]?.['params'];
    expect(isObject(params) && params['_meta']).toEqual({
      harn: { eventId: 2, replayed: true, sessionId: session.sessionId },
    });
  });

  test('a replay longer than a page has every event once and in order', async () => {
    const { client, session } = await withHistory();
    for (let index = 0; index < 1203; index += 1) session.append(title(`t${index}`));
    const result = await client.call('session/load', {
      sessionId: session.sessionId,
      cwd: '/work',
      mcpServers: [],
    });
    expect(client.updates.map(({ mark }) => mark?.eventId)).toEqual(
      Array.from({ length: 1206 }, (_, index) => index + 2),
    );
    expect(result['replayed_count']).toBe(1206);
  });

  test('resume sends nothing before its answer, then the text that is being streamed, then what follows', async () => {
    const { client, session } = await withHistory();
    session.partial = [{ messageId, kind: 'text', offset: 6, text: 'gh' }];
    session.commands = [{ name: 'help', description: 'Helps' }];
    const result = await client.request(
      'session/resume',
      { sessionId: session.sessionId, cwd: '/work' },
      71,
    );
    expect(result).toMatchObject({ lastEventId: 4, prefix_hash: 'hash-4' });
    expect(result).not.toHaveProperty('replayed');
    session.emit(chunk(8, 'ij'));
    await client.request('session/list');
    expect(client.updates.map(({ update }) => update.sessionUpdate)).toEqual([
      'available_commands_update',
      'agent_message_chunk',
      'agent_message_chunk',
    ]);
    expect(client.updates.every(({ index }) => index > indexOfAnswer(client, 71))).toBe(true);
    expect(client.textOf(session.sessionId)).toBe('ghij');
  });

  test('attach tells in its answer what is being said, and after it only what follows, live or stored', async () => {
    const { client, session } = await withHistory();
    session.partial = [{ messageId, kind: 'text', offset: 6, text: 'gh' }];
    const { sessionId } = session;
    const seen = async (then: () => void): Promise<string> => {
      const before = client.textOf(sessionId).length;
      const answer = await client.call('_pilothouse/attach', { sessionId });
      then();
      await client.call('_pilothouse/detach', { sessionId });
      const partial = answer['partial'] as typeof session.partial;
      return partial[0]?.text + client.textOf(sessionId).slice(before);
    };
    expect(await seen(() => session.append(delta(6, 'gh')))).toBe('gh');
    expect(await seen(() => session.emit(chunk(8, 'ij')))).toBe('ghij');
    const both = (): void => {
      session.emit(chunk(8, 'ij'));
      session.append(delta(6, 'ghijkl'));
    };
    expect(await seen(both)).toBe('ghijkl');
  });

  test('resume tells what running calls have said, once, to ours as a piece and to others as the content', async () => {
    const content = [{ type: 'content', content: { type: 'text', text: 'first' } }] as const;
    const call = { turnId, toolCallId: 'c' as ToolCallId };
    const seenBy = async (capabilities: object): Promise<unknown[]> => {
      const { client, host } = connect();
      const session = host.add('/work');
      session.append(title('First'));
      session.outputs = [
        { toolCallId: call.toolCallId, content, text: 'early' },
        { toolCallId: 'silent' as ToolCallId, content, text: '' },
      ];
      await client.initialize(capabilities);
      await client.call('session/resume', { sessionId: session.sessionId, cwd: '/work' });
      session.emit({ type: 'tool_output', ...call, text: ' late' });
      session.emit({
        type: 'tool_output',
        ...call,
        toolCallId: 'silent' as ToolCallId,
        text: 'so',
      });
      await client.waitForUpdate(({ update }) => JSON.stringify(update).includes('"so"'));
      await client.request('session/list');
      return client.updates.map(({ update }) => update._meta ?? update);
    };
    const output = (text: string): object => ({ pilothouse: { output: text } });
    const ours = { _meta: { pilothouse: { version: 1 } } };
    expect(await seenBy(ours)).toEqual([output('early'), output(' late'), output('so')]);
    const said = (toolCallId: string, text: string): object => ({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      content: [...content, { type: 'content', content: { type: 'text', text } }],
    });
    expect((await seenBy({})).slice(0, 2)).toEqual([said('c', 'early'), said('silent', 'so')]);
  });

  test('what happens during a load follows its answer without a gap or a repeat', async () => {
    const { client, session, host } = await withHistory();
    session.partial = [{ messageId, kind: 'text', offset: 6, text: 'gh' }];
    const history = host.history.bind(host);
    host.history = async (...args) => {
      // Meanwhile the stream goes on: live text, and the durable piece that holds it and the partial text.
      session.emit(chunk(8, 'ij'));
      session.append(delta(6, 'ghij'));
      session.append(title('Later'));
      return await history(...args);
    };
    await client.request(
      'session/load',
      { sessionId: session.sessionId, cwd: '/work', mcpServers: [] },
      72,
    );
    session.emit(chunk(10, 'kl'));
    await client.request('session/list');
    expect(client.textOf(session.sessionId)).toBe('abcdefghijkl');
    const answer = indexOfAnswer(client, 72);
    const titles = client.updates.filter(
      ({ update }) => update.sessionUpdate === 'session_info_update',
    );
    expect(
      titles.map(({ mark, index }) => [mark?.eventId, mark?.replayed, index > answer]),
    ).toEqual([
      [2, true, false],
      [6, false, true],
    ]);
  });

  test('two loads of one session at once each replay it and leave one follower', async () => {
    const { client, session } = await withHistory();
    const params = { sessionId: session.sessionId, cwd: '/work', mcpServers: [] };
    await Promise.all([
      client.request('session/load', params),
      client.request('session/load', params),
    ]);
    expect(client.textOf(session.sessionId)).toBe('abcdefabcdef');
    session.append(title('Once'));
    await client.request('session/list');
    const once = client.updates.filter(
      ({ update }) => update.sessionUpdate === 'session_info_update' && update.title === 'Once',
    );
    expect(once).toHaveLength(1);
  });

  test('text streamed live is not sent again when it becomes durable', async () => {
    const { client, session } = await withHistory();
    await client.request('session/resume', { sessionId: session.sessionId, cwd: '/work' });
    const other = { ...chunk(0, 'think'), kind: 'thought' } as EphemeralEvent;
    session.emit(chunk(0, 'one '));
    session.emit(other);
    session.emit(chunk(4, 'two '));
    session.append({ ...delta(0, 'think'), kind: 'thought' } as HistoryEvent);
    session.append(delta(0, 'one two three'));
    session.emit(chunk(8, 'three'));
    session.emit(chunk(13, '!'));
    await client.request('session/list');
    expect(client.textOf(session.sessionId)).toBe('one two three!');
    expect(client.textOf(session.sessionId, 'agent_thought_chunk')).toBe('think');
  });

  test('an unknown session is named in the error of every method that needs one', async () => {
    const { client } = connect();
    await client.initialize();
    const base = { sessionId: 'ghost', cwd: '/tmp', mcpServers: [] };
    const rows: [string, object, number][] = [
      ['session/load', base, -32602],
      ['session/resume', base, -32602],
      ['session/prompt', { sessionId: 'ghost', prompt: [{ type: 'text', text: 'x' }] }, -32002],
      ['session/set_mode', { sessionId: 'ghost', modeId: 'ask' }, -32002],
      ['session/set_config_option', { sessionId: 'ghost', configId: 'mode', value: 'ask' }, -32002],
      ['session/cancel', { sessionId: 'ghost' }, -32004],
      ['session/close', { sessionId: 'ghost' }, -32004],
    ];
    for (const [method, params, code] of rows)
      await expect(client.request(method, params), method).rejects.toMatchObject({
        code,
        data: { sessionId: 'ghost' },
      });
    expect(await client.request('session/delete', { sessionId: 'ghost' })).toEqual({});
  });

  test("list has Harn's fields and goes through the pages", async () => {
    const { client, host } = connect();
    await client.initialize();
    for (const cwd of ['/a', '/b', '/a']) host.add(cwd).append(title('T'));
    const first = await client.call('session/list', {});
    expect(first).toMatchObject({
      sessions: [
        {
          sessionId: 'session-1',
          title: 'T',
          lastEventId: 2,
          updatedAt: '1970-01-01T00:00:02.000Z',
        },
        {},
      ],
      nextCursor: '2',
    });
    const second = await client.call('session/list', { cursor: first['nextCursor'] });
    expect(second['sessions']).toHaveLength(1);
    expect(second).not.toHaveProperty('nextCursor');
    expect(await client.call('session/list', { cwd: '/nowhere' })).toEqual({ sessions: [] });
    expect(
      await client.call('session/list', { _meta: { pilothouse: { limit: 50 } } }),
    ).toHaveProperty('sessions.length', 3);
  });

  test('models that change while the options are being told are told too', async () => {
    const changed = new Emitter<void>();
    const { client, host } = connect({
      extensions: { handlers: {}, onModelsChanged: changed.event },
    });
    await client.initialize();
    const session = host.sessions.get(await client.newSession('/tmp'));
    if (!session) throw new TypeError('no session');
    await client.request('session/list');
    const now = await session.configOptions();
    const names: string[] = ['one', 'two'];
    session.configOptions = async () => {
      const name = names.shift() ?? 'none';
      await new Promise((resolve) => setImmediate(resolve));
      return now.map((option) => ({ ...option, name }));
    };
    changed.fire();
    changed.fire();
    await client.waitForUpdate(
      ({ update }) =>
        update.sessionUpdate === 'config_option_update' && update.configOptions[0]?.name === 'two',
    );
  });

  test('set_mode and set_config_option answer completely and tell everyone in one order', async () => {
    const { client, host } = connect();
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    expect(await client.request('session/set_mode', { sessionId, modeId: 'code' })).toEqual({});
    const answer = await client.call('session/set_config_option', {
      sessionId,
      configId: 'mode',
      value: 'architect',
    });
    expect(answer).toMatchObject({ configOptions: [{ id: 'mode', currentValue: 'architect' }] });
    host.sessions.get(sessionId)?.append(title('After'));
    await client.request('session/list');
    expect(
      client.updates.map(({ update }) => [
        update.sessionUpdate,
        'currentModeId' in update ? update.currentModeId : '',
      ]),
    ).toEqual([
      ['current_mode_update', 'code'],
      ['config_option_update', ''],
      ['current_mode_update', 'architect'],
      ['config_option_update', ''],
      ['session_info_update', ''],
    ]);
    await expect(
      client.request('session/set_mode', { sessionId, modeId: 'nope' }),
    ).rejects.toMatchObject({ code: -32602 });
    await expect(
      client.request('session/set_config_option', {
        sessionId,
        configId: 'mode',
        type: 'boolean',
        value: true,
      }),
    ).rejects.toMatchObject({ code: -32602, data: { path: '/value' } });
  });

  test('close ends what runs, then the session is followed no more', async () => {
    const { client, host } = connect();
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    const prompt = client.prompt(sessionId, 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    expect(await client.request('session/close', { sessionId })).toEqual({});
    expect(await prompt).toMatchObject({ stopReason: 'cancelled' });
    const before = client.updates.length;
    host.sessions.get(sessionId)?.append(title('Unseen'));
    await expect(client.prompt(sessionId, 'x')).rejects.toMatchObject({ code: -32002 });
    expect(client.updates).toHaveLength(before);
  });
});
