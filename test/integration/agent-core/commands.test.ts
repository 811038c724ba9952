import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ControlOutcome } from '../../../src/protocol/controls.ts';
import type { CommandState } from '../../../src/protocol/pilothouse.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { eventually, startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';
import { controlClient, INSTANT, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';
import { allReceipts } from '../../support/soak/control-run.ts';

function mine(commandId: string): object {
  return { _meta: { pilothouse: { commandId } } };
}

function text(words: string): object {
  return { prompt: [{ type: 'text', text: words }] };
}

async function state(
  client: AcpTestClient,
  sessionId: string,
  commandId: string,
): Promise<CommandState> {
  return (await client.call('_pilothouse/commands/get', {
    sessionId,
    commandId,
  })) as unknown as CommandState;
}

/** Receipts of a method, as `outcome status`. */
function of(receipts: readonly ControlOutcome[], method: string): string[] {
  return receipts
    .filter((receipt) => receipt.method === method)
    .map(({ outcome, status }) => `${outcome} ${status}`);
}

type Gate = { gateId: string; request: { kind: string; title?: string } };

async function gates(client: AcpTestClient, sessionId: string): Promise<readonly Gate[]> {
  const { gates: open } = await client.call('_pilothouse/gates/list', { sessionId });
  return open as readonly Gate[];
}

/** A client of a session that answers nothing by itself. */
async function thinking(
  home = tempFolder('home'),
): Promise<{ client: AcpTestClient; sessionId: string; folder: string }> {
  const client = startAgentCore(home, { env: INSTANT });
  await client.initialize({ ...KNOWS_CONTROL, elicitation: { form: {} } });
  for (const method of ['session/request_permission', 'elicitation/create'])
    client.onRequest(method, () => undefined);
  const folder = tempFolder('work');
  return { client, sessionId: await client.newSession(folder), folder };
}

async function openGate(client: AcpTestClient, sessionId: string): Promise<Gate> {
  let open: readonly Gate[] = [];
  for (let i = 0; open.length === 0 && i < 500; i += 1) {
    open = await gates(client, sessionId);
    if (open.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const [gate] = open;
  if (gate === undefined) throw new Error('No gate was opened');
  return gate;
}

describe('a command with an id of the client', () => {
  it('that is a prompt runs once, is answered alike, and collides with another body', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const prompt = { sessionId, ...text('run echo once >> count.txt'), ...mine('p1') };
    const [first, again] = await Promise.all([
      client.call('session/prompt', prompt),
      client.call('session/prompt', prompt),
    ]);
    const later = await client.call('session/prompt', prompt);
    expect(first).toMatchObject({ _meta: { pilothouse: { commandId: 'p1' } } });
    expect(again).toEqual(first);
    expect(later).toEqual(first);
    expect(readFileSync(join(folder, 'count.txt'), 'utf8')).toBe('once\n');
    await expect(
      client.request('session/prompt', { sessionId, ...text('say other'), ...mine('p1') }),
    ).rejects.toMatchObject({ code: -32600, data: { code: 'session.command_collision' } });
    expect(await state(client, sessionId, 'p1')).toMatchObject({
      state: 'done',
      type: 'user_input',
      resolution: 'started',
      turnId: expect.any(String),
    });
  });

  it('that is an inject is delivered once, and collides with another body', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const turn = client.prompt(
      sessionId,
      'run touch begun; while [ ! -e go ]; do sleep 0.05; done',
    );
    await eventually(() => existsSync(join(folder, 'begun')), 'the tool');
    const inject = {
      sessionId,
      mode: 'steer',
      content: 'run echo steered >> s.txt',
      ...mine('i1'),
    };
    const first = await client.call('session/inject', inject);
    expect(await client.call('session/inject', inject)).toEqual(first);
    await expect(
      client.request('session/inject', { ...inject, content: 'other' }),
    ).rejects.toMatchObject({ code: -32600, data: { reason: 'command_collision' } });
    expect(await state(client, sessionId, 'i1')).toMatchObject({
      state: 'waiting',
      type: 'inject',
    });
    await client
      .call('session/inject', {
        sessionId,
        mode: 'interrupt_immediate',
        content: 'run touch go',
      })
      .catch(() => undefined);
    await client.call('session/cancel_tool_call', { sessionId, toolCallId: callOf(client) });
    await turn;
    const receipts = await allReceipts(client, sessionId);
    expect(of(receipts, 'session/inject').slice(0, 3)).toEqual([
      'accepted accepted',
      'accepted idempotent',
      'command_collision rejected',
    ]);
    expect(await state(client, sessionId, 'i1')).toMatchObject({ state: 'done' });
  });

  it('that answers a gate answers it once, also when the gate is closed, and collides with another answer', async () => {
    const { client, sessionId, folder } = await thinking();
    const turn = client.prompt(sessionId, 'run echo allowed >> a.txt');
    const { gateId } = await openGate(client, sessionId);
    const respond = (optionId: string, commandId?: string): Promise<unknown> =>
      client.request('_pilothouse/gates/respond', {
        sessionId,
        gateId,
        optionId,
        ...(commandId === undefined ? {} : mine(commandId)),
      });
    await expect(respond('nonsense')).rejects.toMatchObject({ data: { reason: 'invalid_answer' } });
    expect(await respond('allow_once', 'g1')).toEqual({ status: 'answered' });
    expect(await respond('allow_once', 'g1')).toEqual({ status: 'answered' });
    await turn;
    expect(await respond('allow_once', 'g1')).toEqual({ status: 'answered' });
    await expect(respond('reject_once', 'g1')).rejects.toMatchObject({
      code: -32600,
      data: { reason: 'command_collision' },
    });
    await expect(respond('allow_once')).rejects.toMatchObject({ data: { reason: 'unknown_gate' } });
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('allowed\n');
    expect(await state(client, sessionId, 'g1')).toMatchObject({
      state: 'done',
      type: 'approve_tool_call',
      resolution: 'applied',
    });
    expect(of(await allReceipts(client, sessionId), '_pilothouse/gates/respond')).toEqual([
      'invalid_answer rejected',
      'answered accepted',
      'answered idempotent',
      'answered idempotent',
      'command_collision rejected',
      'unknown_gate rejected',
    ]);
  });

  it('that fills a form is matched with what it asks', async () => {
    const { client, sessionId } = await thinking();
    const turn = client.prompt(sessionId, 'ask Which colour?');
    const { gateId, request } = await openGate(client, sessionId);
    expect(request.kind).toBe('ask');
    const respond = (params: object): Promise<unknown> =>
      client.request('_pilothouse/gates/respond', { sessionId, gateId, ...params });
    await expect(respond({ content: {} })).rejects.toMatchObject({
      data: { reason: 'invalid_answer' },
    });
    await respond({ content: { answer: 'blue' } });
    await turn;
    expect(client.textOf(sessionId)).toContain('blue');
  });

  it('that cancels stops nothing more when it is sent again', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const first = client.prompt(sessionId, 'run touch begun; sleep 60');
    await eventually(() => existsSync(join(folder, 'begun')), 'the first tool');
    const cancel = { sessionId, ...mine('c1') };
    expect(await client.call('session/cancel', cancel)).toMatchObject({ status: 'cancelled' });
    expect(await first).toMatchObject({ stopReason: 'cancelled' });
    const second = client.prompt(
      sessionId,
      'run touch again; while [ ! -e go ]; do sleep 0.05; done; touch over',
    );
    await eventually(() => existsSync(join(folder, 'again')), 'the second tool');
    expect(await client.call('session/cancel', cancel)).toMatchObject({ status: 'cancelled' });
    writeFileSync(join(folder, 'go'), '');
    expect(await second).toMatchObject({ stopReason: 'end_turn' });
    expect(existsSync(join(folder, 'over'))).toBe(true);
    expect(await state(client, sessionId, 'c1')).toMatchObject({ state: 'done', type: 'cancel' });
  });

  it('that compacts condenses once', async () => {
    const { client, sessionId } = await controlClient({
      env: INSTANT,
      capabilities: { ...KNOWS_CONTROL, session: { compaction: {} } },
    });
    const compact = { sessionId, ...mine('k1') };
    await expect(client.request('_pilothouse/compact', { sessionId })).rejects.toMatchObject({
      data: { reason: 'nothing_to_gain' },
    });
    for (let i = 0; i < 12; i += 1)
      await client.prompt(sessionId, `say ${'long '.repeat(300)}${i}`);
    const done = await client.call('_pilothouse/compact', compact);
    expect(Number(done['afterMessageCount'])).toBeLessThan(Number(done['beforeMessageCount']));
    expect(await client.call('_pilothouse/compact', compact)).toEqual(done);
    const told = client.updates.flatMap(({ update }) =>
      update.sessionUpdate === 'compaction_update' ? [update] : [],
    );
    expect(told.map(({ status }) => status)).toEqual(['in_progress', 'completed']);
    expect(told[1]?.compactionId).toBe(told[0]?.compactionId);
    expect(told[1]?.summary).toMatchObject([{ type: 'text', text: expect.stringMatching(/./) }]);
    // A replay tells the end alone.
    const before = client.updates.length;
    await client.call('session/load', { sessionId, cwd: tempFolder('cwd'), mcpServers: [] });
    const replayed = client.updates
      .slice(before)
      .flatMap(({ update }) =>
        update.sessionUpdate === 'compaction_update' ? [update.status] : [],
      );
    expect(replayed).toEqual(['completed']);
  });
});

/** The newest tool call that the client was told of. */
function callOf(client: AcpTestClient): string {
  const calls = client.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'tool_call' ? [update.toolCallId] : [],
  );
  return calls.at(-1) ?? '';
}

describe('a turn that a crash left at a question', () => {
  it('is active when it is loaded or resumed, asks again, and goes on with the answer', async () => {
    for (const method of ['session/load', 'session/resume']) {
      const home = tempFolder('home');
      const one = await thinking(home);
      const { sessionId, folder } = one;
      const broken = one.client.prompt(sessionId, 'run echo once >> a.txt').catch(() => 'broken');
      const { gateId } = await openGate(one.client, sessionId);
      one.client.kill();
      await one.client.exited;
      expect(await broken).toBe('broken');
      const client = startAgentCore(home, { env: INSTANT });
      await client.initialize(KNOWS_CONTROL);
      client.onRequest('session/request_permission', () => undefined);
      const quiet = await client.newSession(folder);
      const listed = (await client.call('session/list', {})) as unknown as {
        sessions: { sessionId: string; _meta: { pilothouse: object } }[];
      };
      const shown = (id: string) => listed.sessions.find((item) => item.sessionId === id);
      // Seen before anybody opens it; its twin shows the difference.
      expect(JSON.stringify(shown(sessionId))).toMatch(/"openGates":1/);
      expect(JSON.stringify(shown(quiet))).toMatch(/"openGates":0/);
      const opened = await client.call(method, { sessionId, cwd: folder, mcpServers: [] });
      expect(opened, method).toMatchObject({
        session: { activePrompt: true },
        _meta: { harn: { session: { activePrompt: true } } },
      });
      const asked = await client.waitFor(
        ({ message }) => message?.['method'] === 'session/request_permission',
        'the question',
      );
      expect(asked.message?.['params']).toMatchObject({
        sessionId,
        _meta: { pilothouse: { gateId } },
      });
      await client.call('_pilothouse/gates/respond', { sessionId, gateId, optionId: 'allow_once' });
      await client.waitForUpdate(({ update }) => {
        const { pilothouse } = (update._meta ?? {}) as {
          pilothouse?: { turn?: { state: string } };
        };
        return pilothouse?.turn?.state === 'ended';
      }, 'the end of the turn');
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('once\n');
      expect(client.calls('session/request_permission')).toHaveLength(1);
      await client.close();
    }
  });
});

describe('an input that has not begun', () => {
  it('is taken back by its id, once; what began or never was is left as it is', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const running = client.call('session/prompt', {
      sessionId,
      ...text('run touch begun; sleep 60'),
      ...mine('running'),
    });
    await eventually(() => existsSync(join(folder, 'begun')), 'the tool');
    const waiting = client.call('session/prompt', {
      sessionId,
      ...text('say never'),
      ...mine('waiting'),
    });
    expect(await state(client, sessionId, 'waiting')).toMatchObject({ state: 'waiting' });
    const withdraw = (commandId: string): Promise<unknown> =>
      client.request('_pilothouse/commands/withdraw', { sessionId, commandId });
    expect(await withdraw('waiting')).toEqual({ status: 'withdrawn' });
    expect(await waiting).toMatchObject({ stopReason: 'cancelled' });
    for (const commandId of ['waiting', 'running', 'never-was'])
      expect(await withdraw(commandId), commandId).toEqual({ status: 'no_op' });
    expect(await state(client, sessionId, 'waiting')).toMatchObject({
      state: 'done',
      resolution: 'cancelled',
    });
    expect(await state(client, sessionId, 'running')).toMatchObject({ state: 'running' });
    await client.call('session/cancel', { sessionId });
    expect(await running).toMatchObject({ stopReason: 'cancelled' });
    expect(client.textOf(sessionId)).not.toContain('never');
  });
});

describe('loops over the wire', () => {
  it('a delegate is listed, written to, chosen for prompts, and stopped', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    await client.prompt(sessionId, 'delegate: finish with found it');
    const { loops, activeLoopId } = await client.call('_pilothouse/loops/list', { sessionId });
    expect(activeLoopId).toBe(sessionId);
    const [, child] = loops as { loopId: string; toolCallId: string }[];
    const loopId = child?.loopId ?? '';
    expect(child?.toolCallId).toBe(callOf(client));
    await client.call('_pilothouse/loops/activate', { sessionId, loopId });
    const before = client.textOf(sessionId);
    await client.prompt(sessionId, 'finish with to the chosen one');
    // What the delegate says is not the session's own text.
    expect(client.textOf(sessionId)).toBe(before);
    const page = await client.call('_pilothouse/history/page', { sessionId: loopId });
    expect(JSON.stringify(page)).toContain('to the chosen one');
    await client.call('session/prompt', {
      sessionId,
      ...text('finish with to the root'),
      _meta: { pilothouse: { loopId: sessionId } },
    });
    expect(client.textOf(sessionId)).toContain('to the root');
    await client.call('_pilothouse/loops/activate', { sessionId, loopId: sessionId });
    expect(await client.call('_pilothouse/delegates/stop', { sessionId, loopId })).toEqual({
      status: 'already_stopped',
    });
    const message = { sessionId, loopId, text: 'finish with once more' };
    expect(await client.call('_pilothouse/delegates/message', message)).toMatchObject({
      delivery: 'started',
      requestId: expect.any(String),
    });
    await expect(
      client.request('session/prompt', {
        sessionId,
        ...text('say x'),
        _meta: { pilothouse: { loopId: 'ghost' } },
      }),
    ).rejects.toMatchObject({ code: -32602, data: { code: 'control.unknown_loop' } });
  });

  it('what a delegate asks is asked in the session’s name, and answered by its method', async () => {
    const { client, sessionId, folder } = await thinking();
    const turn = client.prompt(sessionId, 'delegate: run echo child > c.txt');
    const asking = await openGate(client, sessionId);
    await eventually(() => client.calls('session/request_permission').length > 0, 'the question');
    const { loops } = await client.call('_pilothouse/loops/list', { sessionId });
    const loopId = (loops as { loopId: string; openGates: number }[]).find(
      ({ openGates, loopId: id }) => openGates > 0 && id !== sessionId,
    )?.loopId;
    expect(asking).toMatchObject({ loopId });
    expect(client.calls('session/request_permission')[0]?.['params']).toMatchObject({
      sessionId,
      _meta: { pilothouse: { gateId: asking.gateId, loopId } },
    });
    const { gateId } = asking;
    await client.call('_pilothouse/gates/respond', { sessionId, gateId, optionId: 'allow_once' });
    await turn;
    expect(readFileSync(join(folder, 'c.txt'), 'utf8')).toBe('child\n');
  });

  it('keeps the workspace as it is, by hand', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    await client.prompt(sessionId, 'write a.txt: one');
    const kept = await client.call('_pilothouse/checkpoints/create', { sessionId });
    expect(kept).toMatchObject({ checkpointId: expect.any(String), coverage: 'full' });
  });
});

describe('the commands behind an event', () => {
  it('stand in what is told live and in pages', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    await client.call('session/prompt', { sessionId, ...text('say hello'), ...mine('p1') });
    const cause = { command_ids: ['p1'] };
    const ended = client.updates.findLast(({ update }) => {
      const { pilothouse } = (update._meta ?? {}) as { pilothouse?: { turn?: { state: string } } };
      return pilothouse?.turn?.state === 'ended';
    });
    expect(ended?.mark?.cause).toEqual(cause);
    const { entries } = await client.call('_pilothouse/history/page', { sessionId });
    const causes = (entries as { cause?: object }[]).map((entry) => entry.cause);
    // What came before the prompt has causes of its own.
    const first = causes.findIndex((one) => JSON.stringify(one) === JSON.stringify(cause));
    const caused = causes.slice(first);
    expect(caused.length).toBeGreaterThan(2);
    for (const one of caused) expect(one).toEqual(cause);
  });
});
