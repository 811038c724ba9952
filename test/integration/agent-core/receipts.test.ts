import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ControlOutcome } from '../../../src/protocol/controls.ts';
import {
  answering,
  eventually,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import {
  controlClient,
  controlsOf,
  KNOWS_CONTROL,
} from '../../support/agent-core/control-client.ts';

type Listed = { seq: number; receipt: ControlOutcome };

describe('receipts', () => {
  it('of a stop that names a session that is not there reach the caller, and what runs goes on', async () => {
    const one = await controlClient();
    const { client, sessionId, folder } = one;
    const turn = client.prompt(sessionId, 'run echo a > a.txt; sleep 0.3\nrun echo b > b.txt');
    await eventually(() => existsSync(join(folder, 'a.txt')), 'the first tool');
    client.notify('session/cancel', { sessionId: 'ghost' });
    await expect(client.request('session/cancel', { sessionId: 'ghost' })).rejects.toMatchObject({
      code: -32004,
      data: { reason: 'unknown_session' },
    });
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(existsSync(join(folder, 'b.txt'))).toBe(true);
    expect(one.outcomes().filter((line) => line.startsWith('session/cancel'))).toEqual([
      'session/cancel unknown_session rejected',
      'session/cancel unknown_session rejected',
    ]);
    const kept = (await client.call('_pilothouse/receipts/list'))['receipts'] as Listed[];
    expect(kept.map(({ receipt }) => [receipt.method, receipt.target, receipt.reason])).toEqual(
      Array(2).fill(['session/cancel', { sessionId: 'ghost' }, 'unknown_session']),
    );
  });

  it('of two stops say which one ended the turn; one admitted in between is ended by the second', async () => {
    const { client, sessionId, outcomes } = await controlClient();
    const turn = client.prompt(sessionId, 'wait 30');
    await client.waitFor(({ text }) => text.includes('"state":"started"'));
    expect(await client.call('session/cancel', { sessionId })).toMatchObject({
      status: 'cancelled',
      _meta: { harn: { actor: { clientId: 'test-client', role: 'host_owner', source: 'acp' } } },
    });
    expect(await client.call('session/cancel', { session_id: sessionId })).toMatchObject({
      status: 'already_cancelled',
    });
    expect((await turn)['stopReason']).toBe('cancelled');
    const waiting = [client.prompt(sessionId, 'wait 30'), client.prompt(sessionId, 'wait 31')];
    expect(await client.call('session/cancel', { sessionId })).toMatchObject({
      status: 'cancelled',
    });
    expect((await Promise.all(waiting)).map((outcome) => outcome['stopReason'])).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect((await client.prompt(sessionId, 'finish with later'))['stopReason']).toBe('end_turn');
    expect(outcomes().filter((line) => line.startsWith('session/cancel'))).toEqual([
      'session/cancel cancelled accepted',
      'session/cancel already_cancelled accepted',
      'session/cancel cancelled accepted',
    ]);
  });

  it('of a stopped tool call say what it came to, and the turn goes on', async () => {
    const { client, sessionId, outcomes } = await controlClient();
    const turn = client.prompt(sessionId, 'run sleep 30\nfinish with done');
    const frame = await client.waitFor(({ text }) => text.includes('"status":"in_progress"'));
    const toolCallId = /"toolCallId":"([^"]+)"/.exec(frame.text)?.[1];
    const call = { sessionId, tool_call_id: toolCallId, injectReminder: false };
    expect(await client.call('session/cancel_tool_call', call)).toEqual({
      status: 'cancelled',
      callId: toolCallId,
      tool: 'run',
    });
    expect(await client.call('session/cancel_tool_call', call)).toMatchObject({
      status: 'already_cancelled',
      tool: 'run',
    });
    expect(
      await client.call('session/cancel_tool_call', { sessionId, toolCallId: 'nope' }),
    ).toMatchObject({ status: 'not_found', tool: null });
    await expect(
      client.call('session/cancel_tool_call', { sessionId: 'ghost', toolCallId: 'x' }),
    ).rejects.toMatchObject({ code: -32004 });
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(
      client.updates
        .map(({ update }) => update)
        .filter((update) => update.sessionUpdate === 'tool_call_update')
        .map((update) => update._meta?.['harn']),
    ).toContainEqual({ errorCategory: 'cancelled', status: 'cancelled' });
    expect(outcomes().filter((line) => line.startsWith('session/cancel_tool'))).toEqual([
      'session/cancel_tool_call cancelled accepted',
      'session/cancel_tool_call already_cancelled accepted',
      'session/cancel_tool_call not_found rejected',
      'session/cancel_tool_call unknown_session rejected',
    ]);
  });

  it('there is exactly one of every control, accepted or not, and a load replays them all', async () => {
    const home = tempFolder('home');
    const one = await controlClient({ home });
    const { client, sessionId, folder } = one;
    await client.prompt(sessionId, 'write a.txt: x\nfinish with done');
    const calls: [string, object, string][] = [
      ['session/rollback', { sessionId }, 'rolled_back accepted'],
      ['session/rollback', { sessionId }, 'no_checkpoint rejected'],
      ['harn.session_redo', { sessionId }, 'redone accepted'],
      ['session/redo', { sessionId }, 'no_redo rejected'],
      ['session/rollback', { sessionId, overwrite: 5 }, 'invalid_params rejected'],
      ['session/truncate', { sessionId }, 'invalid_params rejected'],
      ['session/fork', { sessionId, keep_first: -1 }, 'invalid_params rejected'],
      ['session/fs_mode', { sessionId, mode: 'sideways' }, 'invalid_mode rejected'],
      ['session/restore_tool_call', { sessionId, toolCallId: 'x' }, 'unknown_tool_call rejected'],
      ['session/set_mode', { sessionId, modeId: 'code' }, 'unchanged idempotent'],
      ['session/set_mode', { sessionId, modeId: 'nope' }, 'failed rejected'],
      ['session/set_mode', { sessionId }, 'invalid_params rejected'],
      ['session/cancel', { sessionId }, 'already_cancelled accepted'],
      ['_pilothouse/queue/pause', { sessionId }, 'paused accepted'],
      ['_pilothouse/queue/add', { sessionId, content: 'finish with x' }, 'added accepted'],
      ['_pilothouse/queue/remove', { sessionId, itemId: 'nope' }, 'unknown_item rejected'],
      [
        '_pilothouse/checkpoints/restore',
        { sessionId, checkpointId: 'x' },
        'unknown_checkpoint rejected',
      ],
      ['_pilothouse/staged/edit', { sessionId, path: '/x', staged: null }, 'not_staged rejected'],
    ];
    const before = one.outcomes().length;
    for (const [method, params] of calls)
      await client.request(method, params).catch(() => undefined);
    const expected = calls.map(
      ([method, , outcome]) => `${method.replace('harn.session_', 'session/')} ${outcome}`,
    );
    expect(one.outcomes().slice(before)).toEqual(expected);
    const all = one.receipts().map(({ control_id }) => control_id);
    expect(new Set(all).size).toBe(all.length);
    const { receipts } = await client.call('_pilothouse/receipts/list', { sessionId });
    expect((receipts as Listed[]).map(({ receipt }) => receipt.control_id)).toEqual(all);
    const page = await client.call('_pilothouse/receipts/list', {
      sessionId,
      status: 'rejected',
      limit: 2,
    });
    expect(page).toMatchObject({ hasBefore: true, hasAfter: false });
    expect(page['receipts']).toHaveLength(2);
    await client.close();

    const later = startAgentCore(home);
    await later.initialize(KNOWS_CONTROL);
    await later.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    const replayed = controlsOf(later, sessionId);
    expect(replayed.receipts().map(({ control_id }) => control_id)).toEqual(all);
    expect(
      later
        .calls('_harn/agentEvent')
        .every(({ _harn }) => (_harn as { replayed: boolean }).replayed),
    ).toBe(true);
    const plain = startAgentCore(tempFolder('home'));
    await plain.initialize();
    const fresh = await plain.newSession(folder);
    await plain.call('session/cancel', { sessionId: fresh });
    expect(plain.calls('_harn/agentEvent')).toEqual([]);
  });
});

describe('going back', () => {
  it('moves files and transcript together, forward again, and refuses what it can not do with typed words', async () => {
    const one = await controlClient();
    const { client, sessionId, folder } = one;
    const file = join(folder, 'a.txt');
    writeFileSync(file, 'before\r\n');
    await client.prompt(
      sessionId,
      'replace before with after in a.txt\nwrite new.txt: n\nfinish with done',
    );
    const { session: tip } = await client.call('session/resume', { sessionId, cwd: folder });
    const undone = await client.call('session/rollback', { sessionId });
    expect(undone).toMatchObject({
      status: 'rolled_back',
      beforeMessageCount: expect.any(Number),
      fsRestores: [{ restoredPaths: expect.arrayContaining([file]) }],
    });
    expect(readFileSync(file, 'utf8')).toBe('before\r\n');
    expect(existsSync(join(folder, 'new.txt'))).toBe(false);
    expect(client.updates.map(({ update }) => update)).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'session_rollback', status: 'rolled_back' }),
    );
    const redone = await client.call('session/redo', { sessionId });
    expect(redone).toMatchObject({ status: 'redone', checkpointId: undone['checkpointId'] });
    expect(readFileSync(file, 'utf8')).toBe('after\r\n');
    expect(Number(redone['lastEventId'])).toBeGreaterThan(
      Number((tip as { lastEventId: number }).lastEventId),
    );
    await client.call('session/rollback', { sessionId });
    await client.prompt(sessionId, 'finish with new turn');
    await expect(client.call('session/redo', { sessionId })).rejects.toMatchObject({
      code: -32000,
      data: { status: 'no_redo' },
    });
    const turn = client.prompt(sessionId, 'wait 30');
    await expect(client.call('session/rollback', { sessionId })).rejects.toMatchObject({
      code: -32000,
      data: { status: 'prompt_active' },
    });
    client.notify('session/cancel', { sessionId });
    await turn;
    await expect(client.call('session/rollback', { sessionId: 'ghost' })).rejects.toMatchObject({
      code: -32602,
      data: { status: 'unknown_session' },
    });
  });

  it('keeps no place to go back to of a turn that was stopped, and cuts a conversation where it is told to', async () => {
    const one = await controlClient();
    const { client, sessionId } = one;
    const list = async (): Promise<string[]> => {
      const { checkpoints } = await client.call('_pilothouse/checkpoints/list', { sessionId });
      return (checkpoints as { state: string; prompt: string }[]).map(
        ({ state, prompt }) => `${state} ${prompt}`,
      );
    };
    const stopped = client.prompt(sessionId, 'wait 30');
    await client.waitFor(({ text }) => text.includes('"state":"started"'));
    client.notify('session/cancel', { sessionId });
    await stopped;
    await expect(client.call('session/rollback', { sessionId })).rejects.toMatchObject({
      code: -32000,
      data: { status: 'no_checkpoint' },
    });
    await client.prompt(sessionId, 'finish with first');
    await client.prompt(sessionId, 'finish with second');
    expect((await list()).slice(-2)).toEqual([
      'stack finish with first',
      'stack finish with second',
    ]);
    const chunk = client.updates.findLast(
      ({ update }) =>
        update.sessionUpdate === 'session_info_update' &&
        JSON.stringify(update).includes('"state":"started"'),
    );
    const messageId = /"messageId":"([^"]+)"/.exec(JSON.stringify(chunk))?.[1];
    const cut = await client.call('session/truncate', {
      sessionId,
      beforeMessageId: messageId,
    });
    expect(cut).toMatchObject({ sessionId, keptTurnCount: 2, removedTurnCount: 1 });
    expect(client.updates.at(-1)?.update).toMatchObject({
      sessionUpdate: 'session_truncated',
      keptTurnCount: 2,
      removedTurnCount: 1,
      newTipTurnId: cut['newTipTurnId'],
    });
    const page = await client.call('_pilothouse/history/page', { sessionId });
    expect(JSON.stringify(page['entries'])).not.toContain('finish with second');
    const whole = await client.call('_pilothouse/history/page', { sessionId, all: true });
    expect(JSON.stringify(whole['entries'])).toContain('finish with second');
    await expect(
      client.call('session/truncate', { sessionId, keepFirst: 99 }),
    ).rejects.toMatchObject({ code: -32602, data: { status: 'out_of_range' } });
  });

  it('copies a conversation whose branches then do not touch each other', async () => {
    const { client, sessionId } = await controlClient();
    await client.prompt(sessionId, 'finish with shared');
    const fork = await client.call('session/fork', { sessionId, branch_name: 'other' });
    const child = String(fork['sessionId']);
    expect(fork).toMatchObject({ state: 'forked', parent_id: sessionId, branch_name: 'other' });
    const frames = client.frames.map(({ message }) => message);
    const news = frames.findIndex(
      (message) =>
        JSON.stringify(message).includes('"parent_id"') && message?.['method'] === 'session/update',
    );
    const answer = frames.findIndex(
      (message) => (message?.['result'] as { state?: string } | undefined)?.state === 'forked',
    );
    expect(news).toBeGreaterThanOrEqual(0);
    expect(news).toBeLessThan(answer);
    await client.prompt(child, 'finish with child only');
    await client.prompt(sessionId, 'finish with parent only');
    expect(client.textOf(child)).toContain('child only');
    expect(client.textOf(child)).not.toContain('parent only');
    expect(client.textOf(sessionId)).not.toContain('child only');
    await expect(client.call('session/fork', { sessionId, id: child })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'session_exists' },
    });
  });
});

describe('the status of a session', () => {
  it('is told by its item and its view, live and stored, with hashes that pin what they claim', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const client = answering(startAgentCore(home), 'allow_once');
    await client.initialize(KNOWS_CONTROL);
    const sessionId = await client.newSession(folder);
    type View = {
      session: { status: string; last_event_id: number | null };
      run: { status: string };
      projection: { projection_hash: string; prefix_hash: string | null };
      pending: { approvals: object[] };
    };
    const item = async (from = client): Promise<Record<string, unknown>> =>
      ((await from.call('session/list'))['sessions'] as Record<string, unknown>[])[0] ?? {};
    const view = async (from = client): Promise<View> =>
      (await from.call('harn.session_view.query', { session_id: sessionId })) as unknown as View;
    expect(await item()).toMatchObject({
      liveState: 'live',
      activePrompt: false,
      attachableRoles: ['host_owner', 'observer'],
    });
    expect(Object.keys(await item())).not.toContain('lastEventId');
    expect(Object.keys(await item())).not.toContain('title');
    expect(await view()).toMatchObject({
      session: { status: 'unknown', last_event_id: null },
      run: { status: 'unknown' },
      projection: { prefix_hash: null },
    });

    let answer: ((value: object) => void) | undefined;
    client.onRequest(
      'session/request_permission',
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const turn = client.prompt(sessionId, 'write a.txt: sk-abcdefghijklmnop1234\nfinish with done');
    await eventually(() => answer !== undefined, 'the question');
    expect(await item()).toMatchObject({ activePrompt: true });
    const waiting = await view();
    expect(waiting).toMatchObject({
      session: { status: 'active' },
      run: { status: 'active' },
      pending: { approvals: [{ agent: 'pilothouse' }], auth: [] },
    });
    answer?.({ outcome: { outcome: 'selected', optionId: 'allow_once' } });
    await turn;
    const done = await view();
    expect(done).toMatchObject({ session: { status: 'completed' }, pending: { approvals: [] } });
    expect(await view()).toEqual(done);
    expect(done.projection.projection_hash).not.toBe(waiting.projection.projection_hash);
    expect(JSON.stringify(done)).not.toContain('sk-abcdefghijklmnop1234');
    expect(await item()).toMatchObject({
      activePrompt: false,
      lastEventId: done.session.last_event_id,
    });
    await client.close();

    const later = startAgentCore(home);
    await later.initialize(KNOWS_CONTROL);
    expect(await item(later)).toMatchObject({ liveState: 'persisted', activePrompt: false });
    expect(await view(later)).toEqual(done);
    const updates = later.updates.length;
    const resumed = await later.call('session/resume', { sessionId, cwd: folder });
    expect(resumed).toMatchObject({ prefix_hash: done.projection.prefix_hash });
    expect(Object.keys(resumed)).not.toContain('replayed');
    expect(later.updates.slice(updates).filter(({ mark }) => mark?.eventId !== undefined)).toEqual(
      [],
    );
    const loaded = await later.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(loaded).toMatchObject({ prefix_hash: done.projection.prefix_hash });
    expect((loaded['replayed'] as object[]).length).toBeGreaterThan(0);
    expect(await view(later)).toEqual(done);
    await later.prompt(sessionId, 'finish with more');
    expect((await view(later)).projection.prefix_hash).not.toBe(done.projection.prefix_hash);
    expect(await later.call('harn.session_view.query', { sessionId: 'ghost' })).toMatchObject({
      session: { status: 'unknown' },
      projection: { prefix_hash: null },
      metadata: { has_event_log: false },
    });
    await expect(
      later.call('session/load', { sessionId: 'ghost', cwd: folder, mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32602 });
  });

  it('does not tell a mode that is set to what it is', async () => {
    const { client, sessionId } = await controlClient();
    const count = client.updates.length;
    await client.call('session/set_mode', { sessionId, modeId: 'code' });
    await client.call('session/list');
    expect(client.updates).toHaveLength(count);
    await client.call('session/set_mode', { sessionId, modeId: 'ask' });
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'current_mode_update');
    expect(client.updates.length).toBeGreaterThan(count);
  });
});
