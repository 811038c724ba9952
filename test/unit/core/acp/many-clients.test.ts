import { afterEach, describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { isObject } from '../../../../src/base/json.ts';
import type { ToolCallId } from '../../../../src/core/session/words.ts';
import type { AcpTestClient } from '../../../support/acp-client/client.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';
import { FakeHost } from '../../../support/fake-host/fake-host.ts';

const open: FakeConnection[] = [];
afterEach(async () => {
  for (const { server } of open) server.close();
  await Promise.all(open.splice(0).map(({ server }) => server.done));
});

const KEYS = { owner: 'owner-key', observer: 'observer-key' };
const PERMISSION = {
  kind: 'permission',
  toolCallId: 'call' as ToolCallId,
  tool: 'run',
  title: 'Run it',
  toolKind: 'execute',
  input: {},
  locations: [],
  content: [],
  options: [{ optionId: 'allow_once', name: 'Allow', kind: 'allow_once' }],
  reason: 'asked',
  details: [],
} as const;

const QUESTION = {
  kind: 'ask',
  toolCallId: 'call' as ToolCallId,
  message: 'Which?',
  schema: { type: 'object', properties: {} },
} as const;

type Options = {
  keep?: boolean;
  key?: string;
  onDetach?: string;
  plain?: boolean;
  forms?: boolean;
};

async function join(host: FakeHost, name: string, options: Options = {}): Promise<FakeConnection> {
  const connection = connectFake({
    host,
    name,
    ...(options.keep === false ? {} : { onDetach: 'keep' as const }),
    ...(options.key === undefined ? {} : { keys: KEYS }),
  });
  open.push(connection);
  const { onDetach, key, plain, forms } = options;
  const pilothouse = { version: 1, ...(onDetach === undefined ? {} : { onDetach }) };
  const meta = plain === true ? {} : { _meta: { pilothouse } };
  const clientInfo = { name, title: `Window ${name}`, version: '1' };
  const elicitation = forms === true ? { elicitation: { form: {} } } : {};
  await connection.client.initialize({ ...meta, ...elicitation }, { clientInfo });
  if (key !== undefined) {
    const shown = { methodId: 'apiKey', _meta: { harn: { apiKey: key } } };
    await connection.client.call('authenticate', shown);
  }
  return connection;
}

function resume({ client }: FakeConnection, sessionId: string): Promise<unknown> {
  return client.call('session/resume', { sessionId, cwd: '/tmp', mcpServers: [] });
}

function news(client: AcpTestClient, method: string): readonly unknown[] {
  return client.calls(`_pilothouse/${method}`).map(({ params }) => params);
}

/** Everything that was sent has arrived when a later answer has. */
async function settled(...connections: readonly FakeConnection[]): Promise<void> {
  for (const { client } of connections) await client.call('session/list');
}

function shown(clients: unknown): readonly string[] {
  return (Array.isArray(clients) ? clients : []).map((client: unknown) => {
    if (!isObject(client)) return String(client);
    const { clientId, role, acting, you } = client;
    return `${String(clientId)} ${String(role)}${acting ? ' acting' : ''}${you ? ' you' : ''}`;
  });
}

async function listed({ client }: FakeConnection, sessionId: string): Promise<readonly string[]> {
  return shown((await client.call('_pilothouse/clients/list', { sessionId }))['clients']);
}

/** Two owners of one session. */
async function two(options: Options = {}) {
  const host = new FakeHost();
  const [a, b] = [await join(host, 'a', options), await join(host, 'b', options)];
  const sessionId = await a.client.newSession('/tmp');
  await resume(b, sessionId);
  const session = host.sessions.get(sessionId);
  if (session === undefined) throw new TypeError('The session is there');
  return { host, a, b, sessionId, session };
}

describe('the clients of a session', () => {
  it('are listed with their roles, the acting one, and which is the reader', async () => {
    const { a, b, sessionId } = await two();
    expect(await listed(a, sessionId)).toEqual(['a host_owner acting you', 'b host_owner']);
    expect(await listed(b, sessionId)).toEqual(['a host_owner acting', 'b host_owner you']);
    const { clients } = await b.client.call('_pilothouse/attach', { sessionId, role: 'observer' });
    expect(shown(clients)).toEqual(['a host_owner acting', 'b observer you']);
    await expect(
      a.client.call('_pilothouse/clients/list', { sessionId: 'none' }),
    ).rejects.toMatchObject({ code: -32002 });
  });

  it('are told of who comes, goes and acts, each with the whole list and not of itself', async () => {
    const { a, b, sessionId } = await two();
    await settled(a, b);
    const lists = ({ client }: FakeConnection): readonly unknown[] =>
      news(client, 'clients_changed').map((params) => isObject(params) && shown(params['clients']));
    expect(lists(a)).toEqual([['a host_owner acting you', 'b host_owner']]);
    expect(lists(b)).toEqual([]);
    await b.client.prompt(sessionId, 'hello');
    await settled(a, b);
    expect(lists(a).at(-1)).toEqual(['a host_owner you', 'b host_owner acting']);
    expect(lists(b)).toEqual([['a host_owner', 'b host_owner acting you']]);
    await b.client.call('_pilothouse/detach', { sessionId });
    await settled(a, b);
    expect(lists(a).at(-1)).toEqual(['a host_owner acting you']);
    expect(lists(a)).toHaveLength(3);
    expect(lists(b)).toHaveLength(1);
  });

  it('are told nothing of it in a dialect that they do not know', async () => {
    const { a, b, sessionId } = await two({ plain: true });
    await b.client.call('_pilothouse/claim', { sessionId, exclusive: true });
    await settled(a, b);
    const methods = [...a.client.frames, ...b.client.frames].map(
      ({ message }) => message?.['method'],
    );
    expect(methods.filter((method) => String(method).startsWith('_pilothouse/'))).toEqual([]);
    await expect(a.client.prompt(sessionId, 'x')).rejects.toMatchObject({ code: -32600 });
  });
});

describe('control of a session', () => {
  it('is claimed alone: the others observe, are told by whom, lose their questions and may not control', async () => {
    const { a, b, sessionId, session } = await two();
    for (const { client } of [a, b])
      client.onRequest('session/request_permission', () => undefined);
    session.openGate('gate', PERMISSION);
    await settled(a, b);
    const asked = ({ client }: FakeConnection): number =>
      client.calls('session/request_permission').length;
    expect([asked(a), asked(b)]).toEqual([1, 1]);

    expect(await b.client.call('_pilothouse/claim', { sessionId, exclusive: true })).toEqual({
      role: 'host_owner',
    });
    await settled(a, b);
    expect(news(a.client, 'role_changed')).toEqual([
      {
        sessionId,
        role: 'observer',
        by: { key: 'b-0', clientId: 'b', title: 'Window b' },
      },
    ]);
    expect(news(b.client, 'role_changed')).toEqual([]);
    const [withdrawn] = a.client.calls('$/cancel_request');
    const [question] = a.client.calls('session/request_permission');
    expect(withdrawn?.['params']).toEqual({ requestId: question?.['id'] });
    expect(b.client.calls('$/cancel_request')).toEqual([]);

    // An answer that was on its way counts for nothing.
    a.client.send({
      jsonrpc: '2.0',
      id: question?.['id'],
      result: { outcome: { outcome: 'selected', optionId: 'allow_once' } },
    });
    await settled(a);
    expect(session.answers).toEqual([]);
    for (const [method, params] of [
      ['session/prompt', { sessionId, prompt: [{ type: 'text', text: 'x' }] }],
      ['session/cancel', { sessionId }],
      ['session/inject', { sessionId, mode: 'steer', content: 'x' }],
      ['_pilothouse/gates/respond', { sessionId, gateId: 'gate', optionId: 'allow_once' }],
      ['_pilothouse/hand_over', { sessionId, to: 'b-0' }],
    ] as const)
      await expect(a.client.call(method, params), method).rejects.toMatchObject({
        code: -32600,
        data: { reason: 'observer_may_not_control' },
      });
    expect(session.prompts).toEqual([]);

    // One that owns again is asked what is open.
    await a.client.call('_pilothouse/claim', { sessionId });
    await settled(a, b);
    expect([asked(a), asked(b)]).toEqual([2, 1]);
    expect(await listed(a, sessionId)).toEqual(['a host_owner acting you', 'b host_owner']);
  });

  it('is handed over to another client by its key', async () => {
    const { a, b, sessionId } = await two();
    expect(await a.client.call('_pilothouse/hand_over', { sessionId, to: 'b-0' })).toEqual({
      role: 'observer',
    });
    expect(await listed(a, sessionId)).toEqual(['a observer you', 'b host_owner acting']);
    await settled(a, b);
    const by = { key: 'a-0', clientId: 'a', title: 'Window a' };
    expect(news(a.client, 'role_changed')).toEqual([{ sessionId, role: 'observer', by }]);
    // It was an owner already.
    expect(news(b.client, 'role_changed')).toEqual([]);
    await expect(
      b.client.call('_pilothouse/hand_over', { sessionId, to: 'nobody' }),
    ).rejects.toMatchObject({ code: -32602, data: { path: '/to', reason: 'unknown_client' } });
    expect(await b.client.call('_pilothouse/hand_over', { sessionId, to: 'b-0' })).toEqual({
      role: 'host_owner',
    });
  });

  it('is neither claimed by nor handed to a client whose key lets it observe only', async () => {
    const host = new FakeHost();
    const owner = await join(host, 'owner', { key: 'owner-key' });
    const reader = await join(host, 'reader', { key: 'observer-key' });
    const sessionId = await owner.client.newSession('/tmp');
    await resume(reader, sessionId);
    await expect(reader.client.call('_pilothouse/claim', { sessionId })).rejects.toMatchObject({
      code: -32600,
    });
    await expect(
      owner.client.call('_pilothouse/hand_over', { sessionId, to: 'reader-0' }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'may_only_observe' } });
    expect(await listed(owner, sessionId)).toEqual([
      'owner host_owner acting you',
      'reader observer',
    ]);
  });

  it('makes no receipt: it changes who may control, not the session', async () => {
    const { host, a, b, sessionId } = await two();
    await b.client.call('_pilothouse/claim', { sessionId, exclusive: true });
    await b.client.call('_pilothouse/hand_over', { sessionId, to: 'a-0' });
    await settled(a, b);
    expect(host.receipts).toEqual([]);
  });
});

describe('the questions of a session with several owners', () => {
  it('are asked of all, answered by the first, and taken back from the others', async () => {
    const { a, b, session } = await two();
    const held = new Deferred<object>();
    a.client.onRequest('session/request_permission', () => held.promise);
    b.client.onRequest('session/request_permission', () => ({
      outcome: { outcome: 'selected', optionId: 'allow_once' },
    }));
    session.openGate('gate', PERMISSION);
    await a.client.waitFor(({ message }) => message?.['method'] === '$/cancel_request');
    held.resolve({ outcome: { outcome: 'cancelled' } });
    await settled(a, b);
    expect(session.answers.map(({ actor }) => actor.clientId)).toEqual(['b']);
    expect(b.client.calls('$/cancel_request')).toEqual([]);
  });

  it('stay open when a client that was asked vanishes, and are asked of whoever comes', async () => {
    const { host, a, b, sessionId, session } = await two();
    for (const { client } of [a, b])
      client.onRequest('session/request_permission', () => undefined);
    session.openGate('gate', PERMISSION);
    await settled(a, b);
    a.client.kill();
    b.client.kill();
    await Promise.all([a.server.done, b.server.done]);
    expect([session.answers, session.openGates().length]).toEqual([[], 1]);
    const c = await join(host, 'c');
    c.client.onRequest('session/request_permission', () => ({
      outcome: { outcome: 'selected', optionId: 'allow_once' },
    }));
    await resume(c, sessionId);
    await c.client.waitFor(({ message }) => message?.['method'] === 'session/request_permission');
    await settled(c, c);
    expect(session.answers.map(({ actor }) => actor.clientId)).toEqual(['c']);
  });

  it('are not declined for want of a way to ask them while another owner has one', async () => {
    const { host, a, sessionId, session } = await two();
    const able = await join(host, 'able', { forms: true });
    able.client.onRequest('elicitation/create', () => undefined);
    await resume(able, sessionId);
    session.openGate('question', QUESTION);
    await able.client.waitFor(({ message }) => message?.['method'] === 'elicitation/create');
    // Longer than the two others take to pass.
    for (let turn = 0; turn < 5; turn += 1) await settled(a);
    expect([session.answers, session.openGates().length]).toEqual([[], 1]);
    await able.client.call('_pilothouse/hand_over', { sessionId, to: 'a-0' });
    expect(session.answers.map(({ answer }) => answer)).toEqual([
      { kind: 'declined', reason: expect.stringContaining('cannot show questions') },
    ]);
  });

  it('are declined where no owner has a way to ask them', async () => {
    const { session } = await two();
    const declined = new Promise<void>((resolve) =>
      session.subscribe((signal) => {
        if (signal.stream === 'history' && signal.record.event.type === 'gate_resolved') resolve();
      }),
    );
    session.openGate('question', QUESTION);
    await declined;
    expect(session.answers).toMatchObject([{ answer: { kind: 'declined' } }]);
  });
});

describe('what becomes of the work of a client that goes', () => {
  async function running(options: Options, attach: object = {}) {
    const host = new FakeHost();
    const connection = await join(host, 'a', options);
    const sessionId = await connection.client.newSession('/tmp');
    const { onDetach } = await connection.client.call('_pilothouse/attach', {
      sessionId,
      ...attach,
    });
    const ended = new Deferred<boolean>();
    const session = host.sessions.get(sessionId);
    const go = new Deferred<void>();
    host.script = async ({ signal, say }) => {
      say('begun');
      const stopped = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      await Promise.race([stopped, go.promise]);
      ended.resolve(signal.aborted);
      return signal.aborted ? 'cancelled' : 'end_turn';
    };
    void connection.client.prompt(sessionId, 'work').catch(() => undefined);
    await connection.client.waitForUpdate(
      ({ update }) => update.sessionUpdate === 'agent_message_chunk',
    );
    return { connection, onDetach, ended, go, session };
  }

  it.each([
    ['goes on where the host outlives it', {}, {}, 'keep'],
    ['stops where the client says so for its connection', { onDetach: 'stop' }, {}, 'stop'],
    ['stops where it says so for the session', {}, { onDetach: 'stop' }, 'stop'],
    [
      'goes on where it says so for the session',
      { onDetach: 'stop' },
      { onDetach: 'keep' },
      'keep',
    ],
    ['stops where the host ends with it', { keep: false }, {}, 'stop'],
    [
      'stops where the host ends with it, whatever it says',
      { keep: false, onDetach: 'keep' },
      { onDetach: 'keep' },
      'stop',
    ],
    ['is not decided by a word that nobody knows', { onDetach: 'perhaps' }, {}, 'keep'],
  ] as const)('%s', async (_what, options, attach, expected) => {
    const { connection, onDetach, ended, go } = await running(options, attach);
    expect(onDetach).toBe(expected);
    connection.client.endInput();
    await connection.server.done;
    go.resolve();
    expect(await ended.promise).toBe(expected === 'stop');
  });

  it('goes on with the prompts that wait behind the turn', async () => {
    const { connection, ended, go, session } = await running({});
    const sessionId = session?.sessionId ?? '';
    void connection.client.prompt(sessionId, 'more').catch(() => undefined);
    connection.client.endInput();
    await connection.server.done;
    expect(session?.prompts.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'work' }],
      [{ type: 'text', text: 'more' }],
    ]);
    go.resolve();
    await ended.promise;
    expect(session?.isActive).toBe(true);
  });

  it('is refused in an attach that names neither', async () => {
    const host = new FakeHost();
    const { client } = await join(host, 'a');
    const sessionId = await client.newSession('/tmp');
    await expect(
      client.call('_pilothouse/attach', { sessionId, onDetach: 'perhaps' }),
    ).rejects.toMatchObject({ code: -32602 });
  });
});
