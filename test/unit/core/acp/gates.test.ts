import { afterEach, describe, expect, test } from 'vitest';
import { UNKNOWN_CLIENT } from '../../../../src/core/acp/client-facts.ts';
import { gateCall } from '../../../../src/core/acp/gates/gate-requests.ts';
import type { GateRequest } from '../../../../src/core/session/gate-words.ts';
import type { GateId, LoopId, SessionId, ToolCallId } from '../../../../src/core/session/words.ts';
import { RpcFailure } from '../../../support/acp-client/client.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';
import type { FakeSession } from '../../../support/fake-host/fake-session.ts';

const open: FakeConnection[] = [];

async function following(
  capabilities: object = {},
): Promise<FakeConnection & { session: FakeSession }> {
  const connection = connectFake();
  open.push(connection);
  await connection.client.initialize(capabilities);
  const id = await connection.client.newSession('/tmp');
  const session = connection.host.sessions.get(id);
  if (!session) throw new TypeError('no session');
  return { ...connection, session };
}

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

const permission = (toolCallId = 'call-1'): GateRequest => ({
  kind: 'permission',
  toolCallId: toolCallId as ToolCallId,
  tool: 'run',
  title: 'Run npm test',
  toolKind: 'execute',
  input: { command: 'npm test' },
  locations: [],
  content: [],
  reason: 'Commands are asked for in this mode',
  details: ['npm test'],
  options: [
    { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ],
});
const ask: GateRequest = {
  kind: 'ask',
  toolCallId: 'call-2' as ToolCallId,
  message: 'Which one?',
  schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
};
const auth = (url?: string): GateRequest => ({
  kind: 'auth',
  target: 'openai',
  targetKind: 'model',
  message: 'Sign in',
  ...(url ? { url } : {}),
});

async function answered(session: FakeSession, count = 1): Promise<unknown> {
  while (session.answers.length < count) await new Promise((resolve) => setImmediate(resolve));
  return session.answers[count - 1]?.answer;
}

describe('gates over ACP', () => {
  test('a permission is asked with the call, its reason and exactly its options', async () => {
    const { client, session } = await following();
    client.onRequest('session/request_permission', () => ({
      outcome: { outcome: 'selected', optionId: 'yes' },
      _meta: { pilothouse: { note: 'ok' } },
    }));
    session.openGate('g1', permission());
    expect(await answered(session)).toEqual({ kind: 'selected', optionId: 'yes', note: 'ok' });
    expect(session.answers[0]?.actor.clientId).toBe('test-client');
    expect(client.calls('session/request_permission')[0]?.['params']).toMatchObject({
      sessionId: session.sessionId,
      toolCall: {
        toolCallId: 'call-1',
        name: 'run',
        title: 'Run npm test',
        kind: 'execute',
        status: 'pending',
        rawInput: { command: 'npm test' },
      },
      options: [{ optionId: 'yes' }, { optionId: 'no' }],
      _meta: {
        pilothouse: {
          gateId: 'g1',
          reason: 'Commands are asked for in this mode',
          details: ['npm test'],
        },
      },
    });
  });

  test('several gates are asked at once and answered in any order', async () => {
    const { client, session } = await following();
    const answers = new Map<string, (value: unknown) => void>();
    client.onRequest(
      'session/request_permission',
      (params) =>
        new Promise((resolve) =>
          answers.set(
            String((params['toolCall'] as Record<string, unknown>)['toolCallId']),
            resolve,
          ),
        ),
    );
    for (const name of ['a', 'b', 'c']) session.openGate(name, permission(name));
    await client.waitFor(() => answers.size === 3);
    for (const name of ['c', 'a', 'b'])
      answers.get(name)?.({ outcome: { outcome: 'selected', optionId: 'yes' } });
    await answered(session, 3);
    expect(session.answers.map(({ gateId }) => gateId)).toEqual(['c', 'a', 'b']);
  });

  test('anything but a chosen option that was offered is a no', async () => {
    const { client, session } = await following();
    const bad: (() => unknown)[] = [
      () => ({ outcome: { outcome: 'selected', optionId: 'allow_everything' } }),
      () => ({ outcome: { outcome: 'selected' } }),
      () => ({ outcome: { outcome: 'cancelled' } }),
      () => ({ outcome: 'selected', optionId: 'yes' }),
      () => ({}),
      () => 'yes',
      () => null,
      () => {
        throw new RpcFailure({ code: -32603, message: 'broken' });
      },
    ];
    for (const [index, handler] of bad.entries()) {
      client.onRequest('session/request_permission', handler);
      session.openGate(`g${index}`, permission());
      expect(await answered(session, index + 1), String(handler)).toEqual({ kind: 'declined' });
    }
  });

  test('a client that does not know the method declines by that', async () => {
    const { session } = await following();
    session.openGate('g', permission());
    expect(await answered(session)).toEqual({ kind: 'declined' });
  });

  test('a gate answered elsewhere is taken back, and a late answer changes nothing', async () => {
    const { client, session } = await following();
    let late: ((value: unknown) => void) | undefined;
    let wasTakenBack = false;
    client.onRequest('session/request_permission', (_params, { signal }) => {
      signal.addEventListener('abort', () => {
        wasTakenBack = true;
      });
      return new Promise((resolve) => {
        late = resolve;
      });
    });
    session.openGate('g', permission());
    await client.waitFor(() => late !== undefined);
    const actor = { clientId: 'phone', role: 'host_owner', source: 'uhp' } as const;
    await session.answerGate('g' as GateId, { kind: 'declined' }, actor);
    await client.waitFor(({ message }) => message?.['method'] === '$/cancel_request');
    expect(wasTakenBack).toBe(true);
    late?.({ outcome: { outcome: 'selected', optionId: 'yes' } });
    await client.request('session/list');
    expect(session.answers.map(({ answer }) => answer)).toEqual([{ kind: 'declined' }]);
  });

  test('open gates are asked after the answer of load and of resume', async () => {
    const { client, host } = await following();
    const session = host.add('/work');
    session.openGate('g', permission());
    client.onRequest('session/request_permission', () => undefined);
    for (const [id, method] of [
      [70, 'session/load'],
      [71, 'session/resume'],
    ] as const) {
      await client.request(
        method,
        { sessionId: session.sessionId, cwd: '/work', mcpServers: [] },
        id,
      );
      await client.waitFor(({ message }) => message?.['method'] === 'session/request_permission');
    }
    await client.request('session/list');
    const asked = client.frames.flatMap(({ message }, index) =>
      message?.['method'] === 'session/request_permission' ? [index] : [],
    );
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBeGreaterThan(
      client.frames.findIndex(({ message }) => message?.['id'] === 70),
    );
  });

  test('a question goes out as a form and its answer comes back', async () => {
    const { client, session } = await following({ elicitation: { form: {} } });
    client.onRequest('elicitation/create', () => ({
      action: 'accept',
      content: { answer: 'the left one' },
    }));
    session.openGate('g', ask);
    expect(await answered(session)).toEqual({
      kind: 'accepted',
      content: { answer: 'the left one' },
    });
    expect(client.calls('elicitation/create')[0]?.['params']).toMatchObject({
      mode: 'form',
      message: 'Which one?',
      toolCallId: 'call-2',
      sessionId: session.sessionId,
      requestedSchema: { required: ['answer'] },
    });
  });

  test('a form without what it must hold, declined or cancelled, is a no', async () => {
    const { client, session } = await following({ elicitation: { form: {} } });
    const bad = [
      { action: 'accept' },
      { action: 'accept', content: { answer: 5 } },
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'something_new' },
      {},
    ];
    for (const [index, answer] of bad.entries()) {
      client.onRequest('elicitation/create', () => answer);
      session.openGate(`g${index}`, ask);
      expect(await answered(session, index + 1), JSON.stringify(answer)).toEqual({
        kind: 'declined',
      });
    }
  });

  test('without forms a question is declined with a reason, and nothing is sent', async () => {
    for (const capabilities of [{}, { elicitation: {} }, { elicitation: { url: {} } }]) {
      const { client, session } = await following(capabilities);
      session.openGate('g', ask);
      expect(await answered(session)).toEqual({
        kind: 'declined',
        reason: expect.stringContaining('cannot show questions'),
      });
      expect(
        client.frames.filter(({ message }) => message?.['method'] !== undefined && 'id' in message),
      ).toEqual([]);
    }
  });

  test('a sign-in goes to the extension, which says when it is done', async () => {
    const { client, session } = await following({ _meta: { pilothouse: { version: 1 } } });
    client.onRequest('_pilothouse/auth', () => ({ outcome: 'done' }));
    session.openGate('g', auth());
    expect(await answered(session)).toEqual({ kind: 'accepted', content: {} });
    client.onRequest('_pilothouse/auth', () => ({ outcome: 'cancelled' }));
    session.openGate('h', auth());
    expect(await answered(session, 2)).toEqual({ kind: 'declined' });
  });

  test('a sign-in of a delegate names its loop, and one of the session none', () => {
    const facts = { ...UNKNOWN_CLIENT, pilothouse: true };
    const own = { gateId: 'g' as GateId, request: auth() };
    const session = 's' as SessionId;
    const delegates = { ...own, loopId: 'child' as LoopId, loopName: 'scout' };
    expect(gateCall(session, delegates, facts)).toMatchObject({
      method: '_pilothouse/auth',
      params: { gateId: 'g', loopId: 'child', message: expect.stringMatching(/^scout: /) },
    });
    expect(gateCall(session, own, facts)).not.toHaveProperty('params.loopId');
  });

  test('a sign-in by link stays open until it arrives, and is then completed', async () => {
    const { client, session } = await following({ elicitation: { url: {} } });
    client.onRequest('elicitation/create', () => ({ action: 'accept' }));
    session.openGate('g', auth('https://example.test/login'));
    await client.waitFor(({ message }) => message?.['method'] === 'elicitation/create');
    expect(client.calls('elicitation/create')[0]?.['params']).toMatchObject({
      mode: 'url',
      url: 'https://example.test/login',
      elicitationId: 'g',
    });
    await client.request('session/list');
    expect(session.answers).toEqual([]);
    await session.answerGate(
      'g' as GateId,
      { kind: 'accepted', content: {} },
      { clientId: 'host', role: 'host_owner', source: 'host' },
    );
    await client.waitFor(({ message }) => message?.['method'] === 'elicitation/complete');
  });

  test('a client that can neither sign in nor open links declines', async () => {
    const { session } = await following();
    session.openGate('g', auth('https://example.test/login'));
    expect(await answered(session)).toMatchObject({ kind: 'declined' });
  });

  test('what waits for an editor is told to the extension, and declined by nobody who can not do anything', async () => {
    const waits = { ...auth(), target: 'vscode-lm', waitsFor: 'editor' } as const;
    const ours = await following({ _meta: { pilothouse: { version: 1 } } });
    ours.client.onRequest('_pilothouse/auth', () => undefined);
    ours.session.openGate('g', waits);
    await ours.client.waitFor(({ message }) => message?.['method'] === '_pilothouse/auth');
    expect(ours.client.calls('_pilothouse/auth')[0]?.['params']).toMatchObject({
      target: 'vscode-lm',
      waitsFor: 'editor',
    });
    const plain = await following();
    plain.session.openGate('g', waits);
    // The next question is declined, so the one before it was looked at.
    plain.session.openGate('h', ask);
    await answered(plain.session);
    expect(plain.session.answers.map(({ gateId }) => gateId)).toEqual(['h']);
    expect(plain.session.openGates()).toHaveLength(1);
  });

  test('a client that goes does not answer its gates', async () => {
    const { client, session, server } = await following();
    client.onRequest('session/request_permission', () => undefined);
    session.openGate('g', permission());
    await client.waitFor(({ message }) => message?.['method'] === 'session/request_permission');
    client.endInput();
    await server.done;
    expect(session.answers).toEqual([]);
    expect(session.openGates()).toHaveLength(1);
  });
});
