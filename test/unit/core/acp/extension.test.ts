import { afterEach, describe, expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import type { ExtensionClient, Extensions } from '../../../../src/core/acp/types.ts';
import type { ListedSession } from '../../../../src/core/host/api.ts';
import type {
  MessageId,
  Seam,
  SessionId,
  ToolCallId,
  TurnId,
} from '../../../../src/core/session/words.ts';
import { RpcFailure } from '../../../support/acp-client/client.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';

const open: FakeConnection[] = [];
const OURS = { _meta: { pilothouse: { version: 1 } } };

async function connected(
  capabilities: object = OURS,
  extensions?: Extensions,
): Promise<FakeConnection> {
  const connection = connectFake(extensions ? { extensions } : {});
  open.push(connection);
  await connection.client.initialize(capabilities);
  return connection;
}

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

describe('the extension over ACP', () => {
  test('only methods that something answers are advertised and exist', async () => {
    const connection = connectFake({
      extensions: { handlers: { '_pilothouse/models/list': async () => ({ models: [] }) } },
    });
    open.push(connection);
    const result = await connection.client.initialize();
    expect(result).toMatchObject({
      agentCapabilities: {
        _meta: {
          pilothouse: {
            version: 1,
            methods: [
              '_pilothouse/history/page',
              '_pilothouse/history/hash_at',
              '_pilothouse/history/verify',
              '_pilothouse/sessions/search',
              '_pilothouse/models/list',
              '_pilothouse/gates/list',
              '_pilothouse/compact',
              '_pilothouse/gates/respond',
              '_pilothouse/commands/withdraw',
              '_pilothouse/loops/activate',
              '_pilothouse/delegates/message',
              '_pilothouse/delegates/stop',
              '_pilothouse/checkpoints/create',
              '_pilothouse/staged/edit',
              '_pilothouse/checkpoints/restore',
              '_pilothouse/queue/add',
              '_pilothouse/queue/edit',
              '_pilothouse/queue/move',
              '_pilothouse/queue/remove',
              '_pilothouse/queue/pause',
              '_pilothouse/queue/resume',
              '_pilothouse/queue/send_now',
              '_pilothouse/receipts/list',
              '_pilothouse/checkpoints/list',
              '_pilothouse/checkpoints/preview',
              '_pilothouse/checkpoints/text',
              '_pilothouse/queue/list',
              '_pilothouse/staged/list',
              '_pilothouse/staged/text',
              '_pilothouse/commands/get',
              '_pilothouse/loops/list',
              '_pilothouse/attach',
              '_pilothouse/detach',
              '_pilothouse/claim',
              '_pilothouse/hand_over',
              '_pilothouse/clients/list',
              '_pilothouse/events/subscribe',
              '_pilothouse/events/unsubscribe',
            ],
          },
        },
      },
    });
    expect(await connection.client.request('_pilothouse/models/list')).toEqual({ models: [] });
    await expect(connection.client.request('_pilothouse/policy/list')).rejects.toMatchObject({
      code: -32601,
    });
  });

  test('who may only read changes nothing of the host: no key, no model source, no remembered approval', async () => {
    const called: string[] = [];
    const note = (method: string) => async (): Promise<never> => {
      called.push(method);
      return {} as never;
    };
    const changing: Record<string, object> = {
      '_pilothouse/secrets/set': { source: 'openai', key: 'theirs' },
      '_pilothouse/models/configure': { providers: [] },
      '_pilothouse/policy/reset': { scope: 'all' },
      '_pilothouse/sessions/export': { sessionId: 's', format: 'json' },
      '_pilothouse/sessions/import': { path: '/x.json' },
    };
    const reading: Record<string, object> = {
      '_pilothouse/models/list': {},
      '_pilothouse/policy/list': {},
      '_pilothouse/store/status': {},
      '_pilothouse/changes/list': { sessionId: 's' },
      '_pilothouse/changes/text': { sessionId: 's', path: '/a', side: 'before' },
      '_pilothouse/lsp': { message: {} },
    };
    const all = { ...changing, ...reading };
    const handlers = Object.fromEntries(Object.keys(all).map((name) => [name, note(name)]));
    const seenBy = async (key: string): Promise<readonly string[]> => {
      called.length = 0;
      const keys = { owner: 'own', observer: 'watch' };
      const connection = connectFake({ keys, extensions: { handlers } });
      open.push(connection);
      const { client } = connection;
      await client.initialize(OURS);
      await client.call('authenticate', { methodId: 'apiKey', _meta: { harn: { apiKey: key } } });
      for (const [method, params] of Object.entries(all))
        await client
          .call(method, params)
          .catch((refusal: unknown) =>
            expect(refusal, method).toMatchObject({ data: { reason: 'observer_may_not_control' } }),
          );
      return [...called];
    };
    expect(await seenBy('own')).toEqual(Object.keys(all));
    expect(await seenBy('watch')).toEqual(Object.keys(reading));
  });

  test('history pages go both ways and join without a gap', async () => {
    const { client, host } = await connected();
    const session = host.add('/work');
    for (let index = 2; index <= 10; index += 1)
      session.append({ type: 'title_changed', title: `t${index}` });
    const { sessionId } = session;
    const page = async (params: object): Promise<unknown> => {
      const { entries, ...rest } = await client.call('_pilothouse/history/page', {
        sessionId,
        ...params,
      });
      return [
        (entries as { eventId: number }[]).map(({ eventId }) => eventId),
        rest['hasBefore'],
        rest['hasAfter'],
        rest['lastEventId'],
      ];
    };
    expect(await page({ limit: 3 })).toEqual([[8, 9, 10], true, false, 10]);
    expect(await page({ limit: 5, before: 8 })).toEqual([[3, 4, 5, 6, 7], true, true, 10]);
    expect(await page({ limit: 5, before: 3 })).toEqual([[1, 2], false, true, 10]);
    expect(await page({ after: 0, limit: 4 })).toEqual([[1, 2, 3, 4], false, true, 10]);
    expect(await page({ after: 8 })).toEqual([[9, 10], true, false, 10]);
    expect(await page({ after: 10 })).toEqual([[], true, false, 10]);
    const { entries } = await client.call('_pilothouse/history/page', { sessionId, limit: 1 });
    expect(entries).toEqual([
      {
        eventId: 10,
        at: '1970-01-01T00:00:10.000Z',
        updates: [
          {
            sessionUpdate: 'session_info_update',
            title: 't10',
            updatedAt: '1970-01-01T00:00:10.000Z',
            _meta: { harn: { eventId: 10 } },
          },
        ],
      },
    ]);
    await expect(
      client.request('_pilothouse/history/page', { sessionId: 'ghost' }),
    ).rejects.toMatchObject({ code: -32002 });
  });

  test('hashes, verification, search and gates come from the host', async () => {
    const { client, host } = await connected();
    const session = host.add('/work');
    const { sessionId } = session;
    session.openGate('g', { kind: 'auth', target: 'x', targetKind: 'model', message: 'Sign in' });
    expect(await client.request('_pilothouse/history/hash_at', { sessionId, eventId: 1 })).toEqual({
      eventId: 1,
      prefixHash: 'hash-1',
    });
    expect(await client.request('_pilothouse/history/verify', { sessionId })).toEqual({ ok: true });
    expect(await client.call('_pilothouse/sessions/search', { text: 'x' })).toHaveProperty(
      'sessions.0.sessionId',
      sessionId,
    );
    expect(await client.call('_pilothouse/gates/list', { sessionId })).toMatchObject({
      gates: [{ gateId: 'g', request: { kind: 'auth' } }],
    });
  });

  test('handlers get checked params and the client, and their errors keep their code', async () => {
    let seen: unknown;
    const { client } = await connected(OURS, {
      handlers: {
        '_pilothouse/secrets/set': async (params) => {
          seen = params;
          return {};
        },
        '_pilothouse/models/list': async (_params, extension) => {
          const answer = await extension.request(
            '_pilothouse/editor_models/list',
            {},
            new AbortController().signal,
          );
          return { models: (answer as { models: [] }).models };
        },
      },
    });
    expect(
      await client.request('_pilothouse/secrets/set', { source: 'openai', key: null }),
    ).toEqual({});
    expect(seen).toEqual({ source: 'openai', key: null });
    await expect(
      client.request('_pilothouse/secrets/set', { source: 'openai' }),
    ).rejects.toMatchObject({ code: -32602, data: { path: '/key' } });
    client.onRequest('_pilothouse/editor_models/list', () => ({ models: [] }));
    expect(await client.request('_pilothouse/models/list')).toEqual({ models: [] });
  });

  test('the client is handed over when it declared the extension, and taken back when it goes', async () => {
    const clients: ExtensionClient[] = [];
    const notified: unknown[] = [];
    let disposed = 0;
    const extensions: Extensions = {
      handlers: {},
      connected: (client) => {
        clients.push(client);
        client.onNotification((notification) => notified.push(notification));
        return { dispose: () => (disposed += 1) };
      },
    };
    await connected({}, extensions);
    expect(clients).toHaveLength(0);
    const { client, server } = await connected(OURS, extensions);
    await client.request('session/list');
    client.notify('_pilothouse/editor_models/part', {
      requestId: 'r',
      part: { type: 'text', text: 'x' },
    });
    client.notify('_pilothouse/editor_models/changed', {});
    client.notify('_pilothouse/unknown', {});
    await client.request('session/list');
    expect(notified).toEqual([
      {
        method: '_pilothouse/editor_models/part',
        params: { requestId: 'r', part: { type: 'text', text: 'x' } },
      },
      { method: '_pilothouse/editor_models/changed', params: {} },
    ]);
    expect(clients[0]?.gone.aborted).toBe(false);
    client.endInput();
    await server.done;
    expect([clients[0]?.gone.aborted, disposed]).toEqual([true, 1]);
  });

  test('changes of sessions are told to clients of ours, not to others', async () => {
    const changed = new Emitter<ListedSession>();
    const deleted = new Emitter<string>();
    const extensions: Extensions = {
      handlers: {},
      onSessionChanged: changed.event,
      onSessionDeleted: deleted.event,
    };
    const ours = await connected(OURS, extensions);
    const plain = await connected({}, extensions);
    await ours.client.request('session/list');
    changed.fire(ours.host.add('/work').describe());
    deleted.fire('gone');
    await ours.client.request('session/list');
    await plain.client.request('session/list');
    expect(ours.client.calls('_pilothouse/session_changed')[0]?.['params']).toMatchObject({
      session: { sessionId: 'session-1' },
    });
    expect(ours.client.calls('_pilothouse/session_deleted')[0]?.['params']).toEqual({
      sessionId: 'gone',
    });
    expect(plain.client.calls('_pilothouse/session_changed')).toEqual([]);
  });

  test('receipts and checkpoints reach those who declared an extension, and nobody else', async () => {
    for (const [capabilities, more, count] of [
      [OURS, {}, 2],
      [{ _meta: { harn: {} } }, {}, 2],
      [{}, { _meta: { harn: { v: 1 } } }, 2],
      [{}, {}, 0],
    ] as const) {
      const connection = connectFake();
      open.push(connection);
      await connection.client.initialize(capabilities, more);
      const sessionId = await connection.client.newSession('/tmp');
      const session = connection.host.sessions.get(sessionId);
      const actor = { clientId: 'x', role: 'host_owner', source: 'acp' } as const;
      session?.control({
        type: 'control_outcome',
        receipt: {
          session_id: sessionId,
          control_id: 'c',
          method: 'session/cancel',
          outcome: 'cancelled',
          status: 'accepted',
          actor,
          target: { sessionId },
          metadata: {},
        },
      });
      session?.emit({
        type: 'seam_passed',
        turnId: 't' as TurnId,
        iteration: 1,
        seam: 'iteration_start' as Seam,
        delivered: 1,
        messageIds: ['m' as MessageId],
        dispatchSkipped: true,
      });
      await connection.client.request('session/list');
      const events = connection.client.calls('_harn/agentEvent');
      expect(events).toHaveLength(count);
      if (count === 0) continue;
      expect(events[0]).toMatchObject({
        params: {
          sessionId,
          kind: 'control_outcome',
          outcome: 'cancelled',
          _meta: { harn: { sessionId, replayed: false } },
        },
        _harn: { sessionId, replayed: false },
      });
      expect(events[1]).toMatchObject({
        params: {
          kind: 'loop_checkpoint',
          seam: 'iteration_start',
          iteration: 1,
          delivered: 1,
          message_ids: ['m'],
          dispatch_skipped: true,
          skip_reason: 'interrupt_immediate',
        },
      });
    }
  });

  test('live output is appended for ours, and shown as the end of the content for others', async () => {
    const ours = await connected();
    const plain = await connected({});
    for (const { client, host } of [ours, plain]) {
      const sessionId = await client.newSession('/tmp');
      const session = host.sessions.get(sessionId);
      const call = { turnId: 't' as TurnId, toolCallId: 'c' as ToolCallId };
      session?.append({
        type: 'tool_proposed',
        ...call,
        name: 'run',
        title: 'Run',
        kind: 'execute',
        input: {},
        locations: [],
        content: [{ type: 'content', content: { type: 'text', text: 'first' } }],
      });
      for (const text of ['a', 'b']) session?.emit({ type: 'tool_output', ...call, text });
      await client.request('session/list');
    }
    expect(ours.client.updates.slice(1).map(({ update }) => update._meta)).toEqual([
      { pilothouse: { output: 'a' } },
      { pilothouse: { output: 'b' } },
    ]);
    const last = await plain.client.waitForUpdate(({ update }) =>
      JSON.stringify(update).includes('ab'),
    );
    expect(last.update).toEqual({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c',
      content: [
        { type: 'content', content: { type: 'text', text: 'first' } },
        { type: 'content', content: { type: 'text', text: 'ab' } },
      ],
    });
  });

  test('documents go through the client only if it offers that, and a refusal means: use the disk', async () => {
    const signal = new AbortController().signal;
    const none = await connected({});
    await none.client.newSession('/tmp');
    expect(await none.host.client?.readTextFile('s' as SessionId, '/a', signal)).toBeNull();
    expect(await none.host.client?.writeTextFile('s' as SessionId, '/a', 'x', signal)).toBe(false);
    expect(none.client.calls('fs/read_text_file')).toEqual([]);

    const { client, host } = await connected({ fs: { readTextFile: true, writeTextFile: true } });
    await client.newSession('/tmp');
    client.onRequest('fs/read_text_file', ({ path }) => {
      if (path === '/missing') throw new RpcFailure({ code: -32002, message: 'not found' });
      return path === '/bad' ? { content: 5 } : { content: 'text' };
    });
    client.onRequest('fs/write_text_file', () => ({}));
    expect(await host.client?.readTextFile('s' as SessionId, '/a', signal)).toBe('text');
    expect(await host.client?.readTextFile('s' as SessionId, '/missing', signal)).toBeNull();
    await expect(host.client?.readTextFile('s' as SessionId, '/bad', signal)).rejects.toMatchObject(
      { code: 'client.bad_answer' },
    );
    expect(await host.client?.writeTextFile('s' as SessionId, '/a', 'x', signal)).toBe(true);
  });

  test('a document that does not come in time, or is not wanted any more, is taken back', async () => {
    const connection = connectFake({
      clock: {
        now: () => Date.now(),
        sleep: async (ms, signal) =>
          ms === 10_000
            ? undefined
            : await new Promise((resolve, reject) => {
                const timer = setTimeout(resolve, ms);
                signal?.addEventListener('abort', () => {
                  clearTimeout(timer);
                  reject(signal.reason);
                });
              }),
      },
    });
    open.push(connection);
    const { client, host } = connection;
    await client.initialize({ fs: { readTextFile: true } });
    await client.newSession('/tmp');
    client.onRequest('fs/read_text_file', () => undefined);
    await expect(
      host.client?.readTextFile('s' as SessionId, '/a', new AbortController().signal),
    ).rejects.toMatchObject({ code: 'client.timeout' });
    await client.waitFor(({ message }) => message?.['method'] === '$/cancel_request');
    await expect(
      host.client?.readTextFile('s' as SessionId, '/a', AbortSignal.abort()),
    ).rejects.toMatchObject({ code: 'requestCancelled' });
  });
});
