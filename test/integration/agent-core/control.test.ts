import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, tempFolder } from '../../support/agent-core/agent-core.ts';
import { type ControlClient, controlClient } from '../../support/agent-core/control-client.ts';

const SLOW = 'run echo ran > one.txt && sleep 0.6\nwrite two.txt: second\nfinish with original';

function lastMessage({ client, sessionId }: ControlClient): string {
  const chunks = client.updates.filter(
    ({ update, sessionId: id }) =>
      id === sessionId && update.sessionUpdate === 'agent_message_chunk',
  );
  const last = chunks.at(-1)?.update as { messageId?: string } | undefined;
  return chunks
    .map(({ update }) => update as { messageId?: string; content: { text?: string } })
    .filter(({ messageId }) => messageId === last?.messageId)
    .map(({ content }) => content.text ?? '')
    .join('');
}

function running(one: ControlClient, name = 'one.txt'): Promise<void> {
  return eventually(() => existsSync(join(one.folder, name)), `the tool that makes ${name}`);
}

describe('messages for a running turn', () => {
  it('of an idle session are refused before the mode is looked at, each with a receipt', async () => {
    const one = await controlClient();
    const before = one.receipts().length;
    for (const [mode, reasons] of [
      ['queue', ['no_active_prompt']],
      ['steer', ['no_active_prompt']],
      ['interrupt_immediate', ['no_active_prompt']],
      ['stear', ['no_active_prompt', 'invalid_mode']],
    ] as const)
      await expect(one.inject(mode, 'x')).rejects.toMatchObject({
        code: -32004,
        message: expect.stringContaining('Session has no active prompt'),
        data: { reason: 'no_active_prompt', reasons },
      });
    expect(one.outcomes().slice(before)).toEqual(
      Array(4).fill('session/inject no_active_prompt rejected'),
    );
    expect(
      one
        .receipts()
        .slice(before)
        .map(({ metadata }) => metadata['mode']),
    ).toEqual(['queue', 'steer', 'interrupt_immediate', 'stear']);
    await expect(
      one.client.call('session/inject', { sessionId: 'ghost', mode: 'steer', content: 'x' }),
    ).rejects.toMatchObject({ code: -32004, data: { reason: 'unknown_session' } });
    expect(one.outcomes().at(-1)).toBe('session/inject unknown_session rejected');
    expect((await one.client.prompt(one.sessionId, 'finish with fine'))['stopReason']).toBe(
      'end_turn',
    );
  });

  it('with a bad mode or nothing in them are refused while it runs, and change nothing', async () => {
    const one = await controlClient();
    const turn = one.client.prompt(one.sessionId, SLOW);
    await running(one);
    await expect(one.inject('stear', 'finish with changed')).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'invalid_mode' },
    });
    for (const content of [[], '', [{ type: 'nonsense' }], 5])
      await expect(
        one.client.call('session/inject', { sessionId: one.sessionId, mode: 'steer', content }),
      ).rejects.toMatchObject({ code: -32602, data: { reason: 'invalid_content' } });
    await expect(
      one.client.call('session/inject', { mode: 'steer', content: 'x' }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'invalid_params' } });
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(lastMessage(one)).toBe('original');
    expect(one.outcomes().filter((line) => line.startsWith('session/inject'))).toEqual([
      'session/inject invalid_mode rejected',
      ...Array(4).fill('session/inject invalid_content rejected'),
      'session/inject invalid_params rejected',
    ]);
    expect(one.seams()).toEqual([]);
  });

  it('steer behind the running tool, and the final answer follows; the untouched twin keeps its own', async () => {
    const twin = await controlClient();
    await twin.client.prompt(twin.sessionId, SLOW);
    expect(lastMessage(twin)).toBe('original');
    expect(twin.seams()).toEqual([]);

    const one = await controlClient();
    const turn = one.client.prompt(one.sessionId, SLOW);
    await running(one);
    const { messageId, status } = await one.inject('steer', 'finish with steered');
    expect(status).toBe('accepted');
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(lastMessage(one)).toBe('steered');
    expect(one.seams()).toEqual(['post_tool_dispatch 1 false']);
    const kinds = one.client.updates.map(({ update }) => update);
    const delivered = kinds.findIndex(
      (update) => (update as { sessionUpdate: string }).sessionUpdate === 'user_message',
    );
    const ended = kinds.findIndex(
      (update) => update.sessionUpdate === 'tool_call_update' && update.status === 'completed',
    );
    expect(delivered).toBeGreaterThan(ended);
    expect(kinds[delivered]).toMatchObject({
      messageId,
      content: [{ type: 'text', text: 'finish with steered' }],
      _meta: { pilothouse: { inject: { messageId, mode: 'steer', seam: 'post_tool_dispatch' } } },
    });
    expect(existsSync(join(one.folder, 'two.txt'))).toBe(true);
    expect(one.receipts().at(-1)).toMatchObject({
      method: 'session/inject',
      outcome: 'accepted',
      status: 'accepted',
      target: { messageId, sessionId: one.sessionId },
    });
  });

  it('reach a plain client as ordinary chunks and nothing else that ACP does not know', async () => {
    const one = await controlClient({ capabilities: {} });
    const turn = one.client.prompt(one.sessionId, SLOW);
    await running(one);
    await one.inject('steer', 'finish with steered');
    await turn;
    expect(one.client.textOf(one.sessionId, 'user_message_chunk')).toBe('finish with steered');
    expect(one.seams()).toEqual([]);
    expect(one.client.calls('_pilothouse/pending_changed')).toEqual([]);
  });

  it('interrupt the batch behind an open question: nothing of it runs and every call is marked', async () => {
    const one = await controlClient({ mode: 'ask' });
    let withdrawn = 0;
    one.client.onRequest('session/request_permission', (_params, { signal }) => {
      signal.addEventListener('abort', () => {
        withdrawn += 1;
      });
      return undefined;
    });
    const turn = one.client.prompt(
      one.sessionId,
      'together: write a.txt: x ; write b.txt: y\nfinish with original',
    );
    await one.client.waitFor(({ message }) => message?.['method'] === 'session/request_permission');
    await one.inject('interrupt', 'finish with interrupted');
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(lastMessage(one)).toBe('interrupted');
    expect(['a.txt', 'b.txt'].map((name) => existsSync(join(one.folder, name)))).toEqual([
      false,
      false,
    ]);
    expect(withdrawn).toBeGreaterThan(0);
    const marks = one.client.updates
      .map(({ update }) => update)
      .filter((update) => update.sessionUpdate === 'tool_call_update' && update.status === 'failed')
      .map((update) => update._meta?.['pilothouse']);
    expect(marks).toEqual([{ status: 'interrupted' }, { status: 'interrupted' }]);
    expect(one.seams()).toEqual(['pre_tool_dispatch 1 true']);
  });

  it('interrupt while a tool runs without breaking it off: the message lands behind the batch', async () => {
    const one = await controlClient();
    const turn = one.client.prompt(one.sessionId, SLOW);
    await running(one);
    await one.inject('interrupt_immediate', 'finish with interrupted');
    await turn;
    expect(readFileSync(join(one.folder, 'one.txt'), 'utf8')).toBe('ran\n');
    expect(existsSync(join(one.folder, 'two.txt'))).toBe(false);
    expect(lastMessage(one)).toBe('interrupted');
    expect(one.seams()).toEqual(['post_tool_dispatch 1 false']);
  });

  it('steer behind an open question: it waits there, the batch runs once allowed, and the steer lands after it', async () => {
    const one = await controlClient({ mode: 'ask' });
    let allow: ((answer: object) => void) | undefined;
    one.client.onRequest(
      'session/request_permission',
      () =>
        new Promise((resolve) => {
          allow = resolve;
        }),
    );
    const turn = one.client.prompt(one.sessionId, 'write a.txt: x\nfinish with original');
    await eventually(() => allow !== undefined, 'the question');
    await one.inject('steer', 'finish with steered');
    expect(
      await one.client.call('session/pending_injections', { sessionId: one.sessionId }),
    ).toMatchObject({ pendingCount: 1, injections: [{ mode: 'steer', behindGate: true }] });
    allow?.({ outcome: { outcome: 'selected', optionId: 'allow_once' } });
    await turn;
    expect(existsSync(join(one.folder, 'a.txt'))).toBe(true);
    expect(lastMessage(one)).toBe('steered');
    expect(one.seams()).toEqual(['post_tool_dispatch 1 false']);
  });

  it('as a note are in the transcript and change nothing', async () => {
    const one = await controlClient();
    const turn = one.client.prompt(one.sessionId, SLOW);
    await running(one);
    await one.inject('queue', 'finish with noted');
    await turn;
    expect(lastMessage(one)).toBe('original');
    expect(one.seams()).toEqual(['loop_exit 1 false']);
    await one.client.prompt(one.sessionId, 'finish with next');
    expect(lastMessage(one)).toBe('next');
  });

  it('can be listed, replaced and revoked until they are delivered, and only what was delivered is ever shown', async () => {
    const home = tempFolder('home');
    const one = await controlClient({ home });
    const { client, sessionId } = one;
    const turn = client.prompt(sessionId, SLOW);
    await running(one);
    const first = await one.inject('steer', 'finish with never seen');
    const second = await one.inject('queue', 'draft text');
    const { reminderId } = await client.call('session/remind', {
      sessionId,
      body: 'mind the style',
      mode: 'finish_step',
    });
    expect(
      await client.call('session/pending_injections', { session_id: sessionId }),
    ).toMatchObject({
      pendingCount: 3,
      injections: [
        { kind: 'user', messageId: first['messageId'], mode: 'steer' },
        { kind: 'user', messageId: second['messageId'], mode: 'queue' },
        { kind: 'reminder', reminderId, mode: 'steer' },
      ],
    });
    const named = { sessionId, messageId: second['messageId'] };
    expect(
      await client.call('session/replace_inject', { ...named, content: 'final text' }),
    ).toEqual({ messageId: second['messageId'], status: 'replaced' });
    await expect(
      client.call('session/replace_inject', { ...named, content: [] }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'invalid_content' } });
    const gone = { sessionId, messageId: first['messageId'] };
    expect(await client.call('session/revoke_inject', gone)).toMatchObject({ status: 'revoked' });
    expect(await client.call('session/revoke_inject', gone)).toMatchObject({
      status: 'already_revoked',
    });
    await expect(
      client.call('session/replace_inject', { ...gone, content: 'x' }),
    ).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'already_revoked', ...{ messageId: first['messageId'] } },
    });
    await expect(
      client.call('session/revoke_inject', { sessionId, messageId: 'nope' }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'unknown_message_id' } });
    await turn;
    await expect(client.call('session/revoke_inject', named)).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'already_delivered' },
    });
    await expect(
      client.call('session/revoke_reminder', { sessionId, reminderId }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'already_delivered', reminderId } });
    await expect(
      client.call('session/revoke_reminder', { sessionId, reminderId: 'nope' }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: 'unknown_reminder_id' } });
    expect(one.outcomes().filter((line) => !line.startsWith('session/set_mode'))).toEqual([
      'session/inject accepted accepted',
      'session/inject accepted accepted',
      'session/remind accepted accepted',
      'session/replace_inject replaced accepted',
      'session/replace_inject invalid_content rejected',
      'session/revoke_inject revoked accepted',
      'session/revoke_inject already_revoked idempotent',
      'session/replace_inject already_revoked rejected',
      'session/revoke_inject unknown_message_id rejected',
      'session/revoke_inject already_delivered rejected',
      'session/revoke_reminder already_delivered rejected',
      'session/revoke_reminder unknown_reminder_id rejected',
    ]);
    await client.close();

    const later = await controlClient({ home });
    await later.client.call('session/load', { sessionId, cwd: one.folder, mcpServers: [] });
    const replayed = later.client.frames
      .filter(({ message }) => message?.['method'] === 'session/update')
      .map(({ text }) => text)
      .join('\n');
    expect(replayed).toContain('final text');
    expect(replayed).not.toContain('never seen');
    expect(replayed).not.toContain('draft text');
  });

  it('sent again with the same command id are the same message, and each call has its receipt', async () => {
    const one = await controlClient();
    const turn = one.client.prompt(one.sessionId, SLOW);
    await running(one);
    const call = {
      sessionId: one.sessionId,
      mode: 'steer',
      content: [{ type: 'text', text: 'finish with once' }],
      _meta: { pilothouse: { commandId: 'same' } },
    };
    const first = await one.client.call('session/inject', call);
    expect(await one.client.call('session/inject', call)).toMatchObject({
      messageId: first['messageId'],
    });
    await expect(
      one.client.call('session/inject', { ...call, mode: 'queue' }),
    ).rejects.toMatchObject({ code: -32600, data: { reason: 'command_collision' } });
    await turn;
    expect(await one.client.call('session/inject', call)).toMatchObject({
      messageId: first['messageId'],
    });
    expect(one.seams()).toEqual(['post_tool_dispatch 1 false']);
    expect(one.outcomes().filter((line) => line.startsWith('session/inject'))).toEqual([
      'session/inject accepted accepted',
      'session/inject accepted idempotent',
      'session/inject command_collision rejected',
      'session/inject accepted idempotent',
    ]);
  });

  it('written right behind their prompt find it running, and a cancel right behind them wins', async () => {
    const one = await controlClient();
    const { client, sessionId, folder } = one;
    const line = (id: string, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { sessionId, ...params } })}\n`;
    const prompt = (id: string, text: string): string =>
      line(id, 'session/prompt', { prompt: [{ type: 'text', text }] });
    const steer = (id: string): string =>
      line(id, 'session/inject', { mode: 'steer', content: 'finish with steered' });
    const answer = async (id: string): Promise<unknown> =>
      (await client.waitFor(({ message }) => message?.['id'] === id)).message;

    client.sendRaw(prompt('p1', 'write a.txt: x\nfinish with original') + steer('i1'));
    expect(await answer('i1')).toMatchObject({ result: { status: 'accepted' } });
    expect(await answer('p1')).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(lastMessage(one)).toBe('steered');

    client.sendRaw(
      prompt('p2', 'write b.txt: x\nfinish with original') +
        steer('i2') +
        line('c2', 'session/cancel', {}),
    );
    expect(await answer('p2')).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(await answer('c2')).toMatchObject({ result: { status: 'cancelled' } });
    await answer('i2');
    expect(existsSync(join(folder, 'b.txt'))).toBe(false);
    await client.prompt(sessionId, 'finish with later');
    expect(lastMessage(one)).toBe('later');
  });
});
