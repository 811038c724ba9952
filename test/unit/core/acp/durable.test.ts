import { afterEach, describe, expect, test } from 'vitest';
import type { GateRequest } from '../../../../src/core/session/gate-words.ts';
import type {
  CommandId,
  LoopId,
  MessageId,
  ToolCallId,
  TurnId,
} from '../../../../src/core/session/words.ts';
import type { AcpTestClient } from '../../../support/acp-client/client.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';
import type { FakeSession } from '../../../support/fake-host/fake-session.ts';

const open: FakeConnection[] = [];
const OURS = { _meta: { pilothouse: { version: 1 } }, elicitation: { form: {} } };

async function following(
  capabilities: object = OURS,
): Promise<FakeConnection & { session: FakeSession; sessionId: string }> {
  const connection = connectFake({
    extensions: { handlers: { '_pilothouse/sessions/export': async () => ({ bytes: 1 }) } },
  });
  open.push(connection);
  await connection.client.initialize(capabilities);
  const sessionId = await connection.client.newSession('/tmp');
  const session = connection.host.sessions.get(sessionId);
  if (!session) throw new TypeError('no session');
  // A client that thinks about what it is asked.
  for (const method of ['session/request_permission', 'elicitation/create', '_pilothouse/auth'])
    connection.client.onRequest(method, () => undefined);
  return { ...connection, session, sessionId };
}

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

const permission: GateRequest = {
  kind: 'permission',
  toolCallId: 'call-1' as ToolCallId,
  tool: 'run',
  title: 'Run npm test',
  toolKind: 'execute',
  input: {},
  locations: [],
  content: [],
  reason: 'Asked',
  details: [],
  options: [{ optionId: 'yes', name: 'Allow once', kind: 'allow_once' }],
};
const ask: GateRequest = {
  kind: 'ask',
  toolCallId: 'call-2' as ToolCallId,
  message: 'Which one?',
  schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
};
const auth: GateRequest = {
  kind: 'auth',
  target: 'openai',
  targetKind: 'model',
  message: 'Sign in',
};

const CHILD = 'child' as LoopId;
const ORIGIN = {
  rootId: 'root',
  parentId: 'root',
  requestId: 'r',
  name: 'helper',
  depth: 1,
} as unknown as Parameters<FakeSession['tellLoop']>[1];

/** Waits for frames until it holds. */
async function until(client: AcpTestClient, holds: () => boolean, what: string): Promise<void> {
  await client.waitFor(holds, what);
}

function outcomes({ host }: FakeConnection): string[] {
  return host.receipts.map(({ method, outcome, status }) => `${method} ${outcome} ${status}`);
}

describe('an answer to a gate by its method', () => {
  test('has to be one that the gate takes, and says which it takes', async () => {
    const connection = await following();
    const { client, session, sessionId } = connection;
    session.openGate('p', permission);
    session.openGate('q', ask);
    session.openGate('a', auth);
    const respond = (params: object): Promise<unknown> =>
      client.request('_pilothouse/gates/respond', { sessionId, ...params });
    for (const params of [
      { gateId: 'p' },
      { gateId: 'p', optionId: 'maybe' },
      { gateId: 'p', content: {} },
      { gateId: 'q', optionId: 'yes' },
      { gateId: 'q', content: {} },
      { gateId: 'q', content: { answer: 1 } },
      { gateId: 'a', optionId: 'yes' },
    ])
      await expect(respond(params), JSON.stringify(params)).rejects.toMatchObject({
        code: -32602,
        data: { reason: 'invalid_answer' },
      });
    expect(session.answers).toEqual([]);
    expect(await respond({ gateId: 'p', optionId: 'yes', note: 'go' })).toEqual({
      status: 'answered',
    });
    await respond({ gateId: 'q', content: { answer: 'left' } });
    await respond({ gateId: 'a' });
    expect(session.answers.map(({ answer }) => answer)).toEqual([
      { kind: 'selected', optionId: 'yes', note: 'go' },
      { kind: 'accepted', content: { answer: 'left' } },
      { kind: 'accepted', content: {} },
    ]);
    await expect(respond({ gateId: 'p', optionId: 'yes' })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'unknown_gate' },
    });
    expect(outcomes(connection)).toEqual([
      ...Array(7).fill('_pilothouse/gates/respond invalid_answer rejected'),
      ...Array(3).fill('_pilothouse/gates/respond answered accepted'),
      '_pilothouse/gates/respond unknown_gate rejected',
    ]);
  });

  test('declines with a note', async () => {
    const { client, session, sessionId } = await following();
    session.openGate('p', permission);
    await client.call('_pilothouse/gates/respond', {
      sessionId,
      gateId: 'p',
      decline: true,
      note: 'not now',
    });
    expect(session.answers.map(({ answer }) => answer)).toEqual([
      { kind: 'declined', reason: 'not now' },
    ]);
  });

  test('again under its command id is answered as before though the gate is closed', async () => {
    const connection = await following();
    const { client, session, sessionId } = connection;
    const asked: unknown[] = [];
    session.durable.scripted.respondToGate = async (gateId, answer, { commandId }) => {
      asked.push([gateId, answer, commandId]);
      return true;
    };
    const params = {
      sessionId,
      gateId: 'gone',
      optionId: 'yes',
      _meta: { pilothouse: { commandId: 'c1' } },
    };
    expect(await client.call('_pilothouse/gates/respond', params)).toEqual({ status: 'answered' });
    expect(asked).toEqual([['gone', { kind: 'selected', optionId: 'yes' }, 'c1']]);
    expect(outcomes(connection)).toEqual(['_pilothouse/gates/respond answered idempotent']);
  });
});

describe('the methods of durable commands', () => {
  test('hand on what is asked, with the client’s own id, and say what came of it', async () => {
    const connection = await following();
    const { client, session, sessionId } = connection;
    const { scripted, delegates } = session.durable;
    const origins: unknown[] = [];
    scripted.compact = async (origin) => {
      origins.push(origin);
      return { kind: 'compacted', beforeMessageCount: 9, afterMessageCount: 3 };
    };
    scripted.withdraw = async (commandId) => (commandId === 'held' ? 'withdrawn' : 'no_op');
    delegates.set(CHILD, {
      loopId: CHILD,
      parentLoopId: sessionId,
      name: 'helper',
      state: 'running',
      depth: 1,
      openGates: 0,
      prompt: 'Look',
      toolCallId: 'call-1',
      lastEventId: 3,
    });
    const call = (method: string, params: object = {}): Promise<unknown> =>
      client.request(`_pilothouse/${method}`, { sessionId, ...params });
    expect(await call('compact', { _meta: { pilothouse: { commandId: 'mine' } } })).toEqual({
      beforeMessageCount: 9,
      afterMessageCount: 3,
    });
    expect(origins).toMatchObject([
      { agency: 'user', commandId: 'mine', actor: { role: 'host_owner' } },
    ]);
    expect(await call('commands/withdraw', { commandId: 'held' })).toEqual({ status: 'withdrawn' });
    expect(await call('commands/withdraw', { commandId: 'gone' })).toEqual({ status: 'no_op' });
    expect(await call('commands/get', { commandId: 'gone' })).toEqual({
      commandId: 'gone',
      state: 'unknown',
    });
    expect(await call('loops/list')).toMatchObject({
      activeLoopId: sessionId,
      loops: [{ loopId: sessionId }, { loopId: CHILD, name: 'helper' }],
    });
    expect(await call('loops/activate', { loopId: CHILD })).toEqual({ activeLoopId: CHILD });
    expect(await call('loops/activate', { loopId: CHILD })).toEqual({ activeLoopId: CHILD });
    expect(await call('delegates/message', { loopId: CHILD, text: 'Faster' })).toEqual({
      requestId: 'request-1',
      delivery: 'steered',
    });
    expect(await call('delegates/stop', { loopId: CHILD })).toEqual({ status: 'stopped' });
    expect(await call('checkpoints/create')).toEqual({
      checkpointId: 'turn_kept',
      coverage: 'full',
    });
    expect(outcomes(connection)).toEqual([
      '_pilothouse/compact compacted accepted',
      '_pilothouse/commands/withdraw withdrawn accepted',
      '_pilothouse/commands/withdraw no_op idempotent',
      '_pilothouse/loops/activate activated accepted',
      '_pilothouse/loops/activate unchanged idempotent',
      '_pilothouse/delegates/message steered accepted',
      '_pilothouse/delegates/stop stopped accepted',
      '_pilothouse/checkpoints/create kept accepted',
    ]);
  });

  test('name a loop that there is, and for a delegate not the root loop', async () => {
    const { client, sessionId } = await following();
    for (const [method, params] of [
      ['compact', { loopId: 'ghost' }],
      ['loops/activate', { loopId: 'ghost' }],
      ['delegates/message', { loopId: 'ghost', text: 'x' }],
      ['delegates/stop', { loopId: sessionId }],
    ] as const)
      await expect(
        client.request(`_pilothouse/${method}`, { sessionId, ...params }),
        method,
      ).rejects.toMatchObject({ code: -32602, data: { reason: 'unknown_loop' } });
  });

  test('a compaction that came to nothing says why, each with its own word', async () => {
    const connection = await following();
    const { client, session, sessionId } = connection;
    const words = {
      nothing_to_gain: 'nothing_to_gain',
      cancelled: 'cancelled',
      summary_failed: 'failed',
      shutting_down: 'session_closed',
      restart: 'cancelled',
    } as const;
    for (const [reason, word] of Object.entries(words)) {
      session.durable.scripted.compact = async () => ({
        kind: 'rejected',
        reason: reason as keyof typeof words,
        message: 'What to do',
      });
      await expect(
        client.request('_pilothouse/compact', { sessionId }),
        reason,
      ).rejects.toMatchObject({ message: 'What to do', data: { reason: word } });
    }
  });

  test('files of the host are for owners only, by absolute paths', async () => {
    const { client, sessionId } = await following();
    const params = { sessionId, format: 'json' };
    await expect(
      client.request('_pilothouse/sessions/export', { ...params, path: 'here.json' }),
    ).rejects.toMatchObject({ code: -32602, data: { path: '/path' } });
    expect(
      await client.call('_pilothouse/sessions/export', { ...params, path: '/tmp/x.json' }),
    ).toEqual({ bytes: 1 });
  });

  test('a prompt says its loop, and its result its command', async () => {
    const { client, session, sessionId } = await following();
    const prompt = [{ type: 'text', text: 'hello' }];
    const meta = { pilothouse: { loopId: CHILD, commandId: 'mine' } };
    const result = await client.call('session/prompt', { sessionId, prompt, _meta: meta });
    expect(result).toMatchObject({ _meta: { pilothouse: { commandId: 'mine' } } });
    expect(session.prompts).toMatchObject([{ loopId: CHILD, commandId: 'mine' }]);
    const own = await client.prompt(sessionId, 'again');
    expect(own).toMatchObject({ _meta: { pilothouse: { commandId: expect.any(String) } } });
    expect(session.prompts[1]).not.toHaveProperty('loopId');
  });
});

describe('what happens in a delegate', () => {
  const turn = { turnId: 't' as TurnId };
  const chunk = {
    type: 'message_chunk',
    ...turn,
    messageId: 'm' as MessageId,
    kind: 'text',
    offset: 0,
    text: 'from the child',
    afterEventId: 1,
  } as const;

  test('goes to our clients as the updates it would be, inside a mark, and to nobody as the session’s own', async () => {
    for (const capabilities of [OURS, {}]) {
      const { client, session, sessionId } = await following(capabilities);
      session.tellLoop(CHILD, ORIGIN, { stream: 'ephemeral', event: chunk });
      const delta = { ...chunk, type: 'message_delta', text: 'from the child!' } as const;
      session.tellLoop(CHILD, ORIGIN, session.loopRecord(CHILD, 7, delta));
      session.append({ type: 'title_changed', title: 'over' });
      await until(
        client,
        () => client.updates.some(({ update }) => 'title' in update && update.title === 'over'),
        'the title',
      );
      expect(client.textOf(sessionId)).toBe('');
      const marks = client.updates.flatMap(({ update, mark }) => {
        const { pilothouse } = (update._meta ?? {}) as { pilothouse?: { loop?: object } };
        return pilothouse?.loop === undefined ? [] : [{ loop: pilothouse.loop, mark }];
      });
      if (capabilities !== OURS) {
        expect(marks).toEqual([]);
        continue;
      }
      const loop = { loopId: CHILD, parentLoopId: 'root', name: 'helper', depth: 1 };
      const said = (text: string): object => ({
        sessionUpdate: 'agent_message_chunk',
        messageId: 'm',
        content: { type: 'text', text },
      });
      expect(marks.map((entry) => entry.loop)).toEqual([
        { ...loop, offset: 0, update: said('from the child') },
        { ...loop, eventId: 7, offset: 14, update: said('!') },
      ]);
      for (const { mark } of marks) expect(mark).not.toHaveProperty('eventId');
    }
  });

  test('its questions are asked in the session’s name and say who asks', async () => {
    const { client, session, sessionId } = await following();
    const asked: unknown[] = [];
    client.onRequest('session/request_permission', (params) => {
      asked.push(params);
      return undefined;
    });
    client.onRequest('elicitation/create', (params) => {
      asked.push(params);
      return undefined;
    });
    for (const [seq, request] of [permission, ask].entries())
      session.tellLoop(
        CHILD,
        ORIGIN,
        session.loopRecord(CHILD, seq + 1, {
          type: 'gate_opened',
          ...turn,
          gateId: `g${seq}` as never,
          request,
        }),
      );
    await until(client, () => asked.length === 2, 'both questions');
    expect(asked).toMatchObject([
      {
        sessionId,
        toolCall: { title: 'helper: Run npm test' },
        _meta: { pilothouse: { gateId: 'g0', loopId: CHILD } },
      },
      {
        sessionId,
        message: 'helper: Which one?',
        _meta: { pilothouse: { gateId: 'g1', loopId: CHILD } },
      },
    ]);
  });
});

describe('the commands behind an event', () => {
  test('stand in the mark of each of its updates and in pages; nothing where nobody commanded it', async () => {
    const { client, session, sessionId } = await following();
    session.append({ type: 'title_changed', title: 'caused' }, ['c1' as CommandId]);
    session.append({ type: 'title_changed', title: 'free' });
    await until(client, () => client.updates.length >= 2, 'both titles');
    const cause = { command_ids: ['c1'] };
    expect(client.updates.map(({ mark }) => mark?.cause)).toEqual([cause, undefined]);
    const { entries } = await client.call('_pilothouse/history/page', { sessionId, after: 1 });
    expect(entries).toMatchObject([
      { cause, updates: [{ _meta: { harn: { eventId: 2, cause } } }] },
      { updates: [{ _meta: { harn: { eventId: 3 } } }] },
    ]);
    expect((entries as object[])[1]).not.toHaveProperty('cause');
  });
});
