import { afterEach, describe, expect, test } from 'vitest';
import { ControlRefused, REFUSALS } from '../../../../src/core/session/control/refusal.ts';
import { CONTROLS } from '../../../../src/protocol/controls.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';

const open: FakeConnection[] = [];

afterEach(() => {
  for (const { server } of open.splice(0)) server.close();
});

const KNOWS = { _meta: { harn: {}, pilothouse: { version: 1 } } };

async function connected(capabilities: object = KNOWS): Promise<FakeConnection & { id: string }> {
  const connection = connectFake();
  open.push(connection);
  await connection.client.initialize(capabilities);
  return { ...connection, id: await connection.client.newSession('/tmp') };
}

function told({ client }: FakeConnection): string[] {
  return client.calls('_harn/agentEvent').map(({ params }) => {
    const { method, outcome } = params as { method: string; outcome: string };
    return `${method} ${outcome}`;
  });
}

/** What every control takes that may succeed. */
const PARAMS: { readonly [name: string]: object } = {
  'session/set_mode': { modeId: 'code' },
  'session/set_config_option': { configId: 'mode', value: 'code' },
  'session/inject': { mode: 'steer', content: 'x' },
  'session/revoke_inject': { messageId: 'x' },
  'session/replace_inject': { messageId: 'x', content: 'y' },
  'session/remind': { body: 'x', mode: 'finish_step' },
  'session/revoke_reminder': { reminderId: 'x' },
  'session/cancel_tool_call': { toolCallId: 'x' },
  'session/truncate': { keepFirst: 1 },
  'session/restore_tool_call': { toolCallId: 'x' },
  'session/fs_mode': { mode: 'staged' },
  '_pilothouse/gates/respond': { gateId: 'x' },
  '_pilothouse/commands/withdraw': { commandId: 'x' },
  '_pilothouse/loops/activate': { loopId: 'x' },
  '_pilothouse/delegates/message': { loopId: 'x', text: 'y' },
  '_pilothouse/delegates/stop': { loopId: 'x' },
  '_pilothouse/staged/edit': { path: '/a', staged: null },
  '_pilothouse/checkpoints/restore': { checkpointId: 'x' },
  '_pilothouse/queue/add': { content: 'x' },
  '_pilothouse/queue/edit': { itemId: 'x', content: 'y' },
  '_pilothouse/queue/move': { itemId: 'x' },
  '_pilothouse/queue/remove': { itemId: 'x' },
  '_pilothouse/queue/send_now': { itemId: 'x' },
};

/** The codes that Harn gives a session that is not there. */
const BY_SHAPE = [
  'session/rollback',
  'session/redo',
  'session/fork',
  'session/truncate',
  'session/fs_mode',
  'session/fs_commit_staged',
  'session/fs_discard_staged',
  'session/restore_tool_call',
  '_pilothouse/staged/edit',
  '_pilothouse/checkpoints/create',
  '_pilothouse/checkpoints/restore',
];

describe('controls over ACP', () => {
  test('every one has exactly one receipt for an unknown session, for malformed params and from an observer', async () => {
    const connection = await connected();
    const { client, host } = connection;
    for (const name of ['rollback', 'redo', 'truncate', 'fork', 'restoreToolCall', 'restoreFiles'])
      Object.assign(host.historyControls, {
        [name]: async (target: { sessionId: string; actor: never }) => {
          await host.controls.refuse(CONTROL_OF[name] ?? 'session/redo', target, 'unknown_session');
          throw new ControlRefused('unknown_session', 'not here');
        },
      });
    for (const name of ['setFsMode', 'commitStaged', 'discardStaged', 'editStaged'])
      Object.assign(host.fileControls, {
        [name]: async (target: { sessionId: string; actor: never }) => {
          await host.controls.refuse(CONTROL_OF[name] ?? 'session/redo', target, 'unknown_session');
          throw new ControlRefused('unknown_session', 'not here');
        },
      });
    const observer = { _meta: { harn: { actor: { role: 'observer' } } } };
    for (const control of CONTROLS) {
      const params = { sessionId: 'ghost', ...PARAMS[control] };
      const from = host.receipts.length;
      const before = told(connection).length;
      await client.request(control, params).catch(() => undefined);
      await client.request(control, { ...params, sessionId: 5 }).catch(() => undefined);
      await client.request(control, { ...params, ...observer }).catch(() => undefined);
      const outcomes = host.receipts.slice(from).map(({ method, outcome }) => [method, outcome]);
      expect(outcomes, control).toEqual([
        [control, control === 'session/delete' ? 'deleted' : 'unknown_session'],
        [control, 'invalid_params'],
        [control, 'observer_may_not_control'],
      ]);
      expect(told(connection).slice(before), control).toHaveLength(3);
    }
  });

  test('a session that is not there has the code that Harn gives it in that method', async () => {
    const { client, host } = await connected();
    const nowhere = async (): Promise<never> => {
      throw new ControlRefused('unknown_session', 'not here');
    };
    for (const name of Object.keys(CONTROL_OF)) {
      Object.assign(host.historyControls, { [name]: nowhere });
      Object.assign(host.fileControls, { [name]: nowhere });
    }
    for (const control of CONTROLS) {
      if (control === 'session/delete' || control.startsWith('session/set_')) continue;
      await expect(
        client.request(control, { sessionId: 'ghost', ...PARAMS[control] }),
        control,
      ).rejects.toMatchObject({ code: BY_SHAPE.includes(control) ? -32602 : -32004 });
    }
  });

  test('every refusal has one code and says its word', async () => {
    const { client, host, id } = await connected();
    const runtime = [
      'prompt_active',
      'no_checkpoint',
      'no_redo',
      'fs_snapshot_error',
      'fs_restore_error',
      'failed',
      'nothing_to_gain',
      'cancelled',
    ];
    const codes: { readonly [word: string]: number } = {
      no_active_prompt: -32004,
      session_closed: -32004,
      command_collision: -32600,
      observer_may_not_control: -32600,
    };
    for (const refusal of REFUSALS) {
      host.historyControls.rollback = async () => {
        throw new ControlRefused(refusal, 'What to do', { more: 1 });
      };
      await expect(
        client.request('session/rollback', { sessionId: id }),
        refusal,
      ).rejects.toMatchObject({
        code: codes[refusal] ?? (runtime.includes(refusal) ? -32000 : -32602),
        message: 'What to do',
        data: { reason: refusal, status: refusal },
      });
    }
  });

  test('aliases of names and methods are taken, also as Harn writes them', async () => {
    const { client, host, id } = await connected();
    const seen: unknown[] = [];
    host.historyControls.fork = async (target, request) => {
      seen.push([target.sessionId, request]);
      const session = host.add();
      return { session, parentId: id, branchedAt: 2, at: 0 };
    };
    host.historyControls.redo = async () => ({
      status: 'redone',
      checkpointId: 'turn_1',
      beforeMessageCount: 1,
      afterMessageCount: 2,
      files: { undo: 'u', restored: ['/a'], skipped: [{ path: '/b', reason: 'changed' }] },
      lastEventId: 9,
      prefixHash: 'h',
    });
    const forked = await client.call('session/fork', {
      session_id: id,
      keep_first: 2,
      branch_name: 'b',
      profile: { kind: 'isolated' },
    });
    expect(seen).toEqual([
      [id, { at: { keepFirst: 2 }, branchName: 'b', environmentPolicy: { kind: 'isolated' } }],
    ]);
    expect(forked).toMatchObject({ state: 'forked', parent_id: id, branched_at: 2 });
    expect((await client.prompt(String(forked['sessionId']), 'hi'))['stopReason']).toBe('end_turn');
    expect(await client.call('harn.session_redo', { session_id: id })).toEqual({
      status: 'redone',
      checkpointId: 'turn_1',
      beforeMessageCount: 1,
      afterMessageCount: 2,
      fsSnapshotIds: ['turn_1'],
      redoFsSnapshotIds: ['u'],
      fsRestores: [
        {
          snapshotId: 'turn_1',
          restoredPaths: ['/a'],
          skippedPathsWithReasons: [{ path: '/b', reason: 'changed' }],
        },
      ],
      lastEventId: 9,
      prefix_hash: 'h',
    });
    const turn = client.prompt(id, 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    await client.call('session/inject', { session_id: id, mode: 'interrupt', content: 'x' });
    client.notify('session/remind', { body: 'mind it', mode: 'audit_only', dedupe_key: 'k' });
    const listed = await client.call('session/pending_injections', { session_id: id });
    expect(listed).toMatchObject({
      pendingCount: 2,
      injections: [
        { kind: 'user', mode: 'interrupt_immediate' },
        { kind: 'reminder', mode: 'queue', reminderId: expect.any(String) },
      ],
    });
    expect(host.sessions.get(id)?.inbox.injected[1]?.reminder).toEqual({
      dedupeKey: 'k',
      authority: 'advisory',
      tags: [],
    });
    expect(await client.call('session/stop', { session_id: id })).toEqual({});
    await turn;
  });

  test('a message behind a change of mode and a prompt waits for both, a lone one does not wait', async () => {
    const { client, host, id } = await connected();
    const frame = (requestId: string, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id: requestId, method, params: { sessionId: id, ...params } })}\n`;
    client.sendRaw(
      frame('m', 'session/set_mode', { modeId: 'code' }) +
        frame('p', 'session/prompt', { prompt: [{ type: 'text', text: 'count slowly' }] }) +
        frame('i', 'session/inject', { mode: 'steer', content: 'x' }),
    );
    const answer = await client.waitFor(({ message }) => message?.['id'] === 'i');
    expect(answer.message).toMatchObject({ result: { status: 'accepted' } });
    const started = host.sessions
      .get(id)
      ?.records.find(({ event }) => event.type === 'turn_started');
    expect(started?.event).toMatchObject({ config: { mode: 'code' } });
    client.sendRaw(
      frame('c', 'session/cancel', {}) +
        frame('j', 'session/inject', { mode: 'steer', content: 'y' }),
    );
    expect((await client.waitFor(({ message }) => message?.['id'] === 'p')).message).toMatchObject({
      result: { stopReason: 'cancelled' },
    });
  });

  test('what waits is told to clients of ours only, and staged files to those that know them', async () => {
    for (const [capabilities, own, harn] of [
      [KNOWS, 1, 1],
      [{ _meta: { harn: {} } }, 0, 1],
      [{}, 0, 0],
    ] as const) {
      const { client, host, id } = await connected(capabilities);
      const session = host.sessions.get(id);
      session?.emit({
        type: 'pending_changed',
        pending: [],
        nextTurns: { paused: 'asked', items: [] },
      });
      session?.emit({ type: 'staged_changed', mode: 'staged', paths: ['/a'] });
      await client.call('session/list');
      expect(client.calls('_pilothouse/pending_changed').map(({ params }) => params)).toEqual(
        Array(own).fill({ sessionId: id, pending: [], queue: { paused: 'asked', items: [] } }),
      );
      expect(client.calls('_pilothouse/staged_changed')).toHaveLength(own);
      const progress = client.updates.filter(
        ({ update }) => (update as { sessionUpdate: string }).sessionUpdate === 'progress',
      );
      expect(progress).toHaveLength(harn);
    }
  });

  test('the next-turn queue is changed and shown; the same command id is the same item', async () => {
    const { client, id, host } = await connected();
    const add = { sessionId: id, content: 'first', _meta: { pilothouse: { commandId: 'k' } } };
    expect(await client.call('_pilothouse/queue/add', add)).toMatchObject({
      itemId: 'k',
      queue: { paused: null, items: [{ itemId: 'k', owner: { clientId: 'test-client' } }] },
    });
    await client.call('_pilothouse/queue/add', add);
    await client.call('_pilothouse/queue/add', { sessionId: id, content: 'second', before: 'k' });
    const listed = await client.call('_pilothouse/queue/list', { sessionId: id });
    expect((listed['items'] as object[]).length).toBe(2);
    expect(host.receipts.map(({ outcome, status }) => `${outcome} ${status}`)).toEqual([
      'added accepted',
      'added idempotent',
      'added accepted',
    ]);
    await expect(
      client.call('_pilothouse/queue/add', { sessionId: id, content: [] }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'invalid_content' } });
  });

  test('what is advertised is what is answered', async () => {
    const connection = connectFake();
    open.push(connection);
    const { agentCapabilities } = await connection.client.initialize();
    const { session, sessionCapabilities, _meta } = agentCapabilities as {
      session: unknown;
      sessionCapabilities: object;
      _meta: { harn: { extensionMethods: object }; pilothouse: { methods: string[] } };
    };
    expect(session).toMatchObject({
      inject: { modes: ['queue', 'steer', 'interrupt_immediate'] },
      remind: { modes: ['interrupt_immediate', 'finish_step', 'audit_only'] },
    });
    expect(Object.keys(sessionCapabilities)).toEqual(
      expect.arrayContaining(['fork', 'rollback', 'redo', 'close', 'resume']),
    );
    const methods = [...Object.keys(_meta.harn.extensionMethods), ..._meta.pilothouse.methods];
    for (const method of methods.filter((name) => name !== '_harn/agentEvent')) {
      const failure = await connection.client.request(method, {}).then(
        () => null,
        (error: { code: number }) => error.code,
      );
      expect(failure, method).not.toBe(-32601);
    }
    await expect(connection.client.request('session/undo', {})).rejects.toMatchObject({
      code: -32601,
    });
  });
});

const CONTROL_OF: { readonly [name: string]: (typeof CONTROLS)[number] } = {
  rollback: 'session/rollback',
  redo: 'session/redo',
  truncate: 'session/truncate',
  fork: 'session/fork',
  restoreToolCall: 'session/restore_tool_call',
  restoreFiles: '_pilothouse/checkpoints/restore',
  setFsMode: 'session/fs_mode',
  commitStaged: 'session/fs_commit_staged',
  discardStaged: 'session/fs_discard_staged',
  editStaged: '_pilothouse/staged/edit',
};
