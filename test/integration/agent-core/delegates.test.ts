import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../src/core/session/events.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  answering,
  eventually,
  isAlive,
  pidFrom,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { controlClient, INSTANT, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';
import { openTestJournal } from '../../support/journal/open.ts';

type Loop = { loopId: string; parentLoopId: string | null; state: string; openGates: number };

async function loopsOf(client: AcpTestClient, sessionId: string): Promise<readonly Loop[]> {
  const { loops } = await client.call('_pilothouse/loops/list', { sessionId });
  return loops as readonly Loop[];
}

/** Ends of calls, as `status text`. */
function ends(client: AcpTestClient): readonly string[] {
  return client.updates.flatMap(({ update }) =>
    update.sessionUpdate === 'tool_call_update' &&
    (update.status === 'completed' || update.status === 'failed')
      ? [`${update.status} ${textOf(update.content)}`]
      : [],
  );
}

function textOf(content: unknown): string {
  const [first] = Array.isArray(content) ? content : [];
  return first?.content?.text ?? '';
}

function quoted(...lines: readonly string[]): string {
  return JSON.stringify(lines.join('\n'));
}

describe('a delegate', () => {
  it('gives its last message to the call that waited for it, also from two deep', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    const task = quoted('delegate: finish with deep', 'finish with "from the deep"');
    await client.prompt(sessionId, `delegate: ${task}`);
    expect(ends(client)).toEqual(['completed from the deep']);
    const loops = await loopsOf(client, sessionId);
    expect(loops.map(({ parentLoopId }) => parentLoopId)).toEqual([
      null,
      sessionId,
      loops[1]?.loopId,
    ]);
  });

  it('works on the files of the session, and is in no list, while its history is read and verified by its id', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    await client.prompt(sessionId, 'delegate: write a.txt: hello');
    await client.prompt(sessionId, 'read a.txt');
    expect(ends(client).at(-1)).toMatch(/hello/);
    const [, child] = await loopsOf(client, sessionId);
    const loopId = child?.loopId ?? '';
    const { sessions } = await client.call('session/list', { cwd: folder });
    expect((sessions as { sessionId: string }[]).map((each) => each.sessionId)).toEqual([
      sessionId,
    ]);
    expect(await client.call('_pilothouse/history/verify', { sessionId: loopId })).toMatchObject({
      ok: true,
    });
    const page = await client.call('_pilothouse/history/page', { sessionId: loopId });
    expect(JSON.stringify(page)).toContain('hello');
    for (const method of ['session/load', 'session/resume'])
      await expect(
        client.call(method, { sessionId: loopId, cwd: folder, mcpServers: [] }),
      ).rejects.toMatchObject({ data: { sessionId } });
    for (const method of ['session/close', 'session/delete'])
      await expect(client.call(method, { sessionId: loopId })).rejects.toMatchObject({
        data: { sessionId },
      });
    await client.call('session/delete', { sessionId });
    await expect(
      client.call('_pilothouse/history/page', { sessionId: loopId }),
    ).rejects.toBeDefined();
  });

  it('changes files as part of the turn that it works for: a rollback takes them back, and staged ones are staged', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const nested = quoted(`delegate: ${quoted('write deep.txt: two')}`, 'write a.txt: one');
    await client.prompt(sessionId, `delegate: ${nested}`);
    const files = ['a.txt', 'deep.txt'].map((name) => join(folder, name));
    expect(files.map((file) => existsSync(file))).toEqual([true, true]);
    await client.call('session/rollback', { sessionId });
    expect(files.map((file) => existsSync(file))).toEqual([false, false]);
    await client.call('session/fs_mode', { sessionId, mode: 'staged' });
    await client.prompt(sessionId, `delegate: ${nested}`);
    expect(files.map((file) => existsSync(file))).toEqual([false, false]);
    const staged = await client.call('_pilothouse/staged/list', { sessionId });
    expect((staged['files'] as { path: string }[]).map(({ path }) => path)).toEqual(files);
    await client.call('session/fs_commit_staged', { sessionId });
    expect(files.map((file) => existsSync(file))).toEqual([true, true]);
  });

  it('asks in the name of its session, which lists the question as open', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT, mode: 'ask' });
    const asked: string[] = [];
    const seen: Promise<readonly Loop[]>[] = [];
    client.onRequest('session/request_permission', (params) => {
      asked.push(String(params['sessionId']));
      seen.push(loopsOf(client, sessionId));
      return { outcome: { outcome: 'selected', optionId: 'allow_once' } };
    });
    await client.prompt(
      sessionId,
      `delegate: ${quoted('write a.txt: hello', 'finish with written')}`,
    );
    expect(asked).toEqual([sessionId]);
    expect(ends(client)).toEqual(['completed written']);
    expect((await seen[0])?.map(({ openGates }) => openGates)).toEqual([0, 1]);
  });

  it('may do no more than its parent', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT, mode: 'architect' });
    await client.prompt(sessionId, 'call delegate with {"prompt": "say hi", "mode": "code"}');
    expect(ends(client)).toEqual([
      expect.stringMatching(/^failed A delegate can't work in the mode "code"/),
    ]);
    expect(await loopsOf(client, sessionId)).toHaveLength(1);
  });

  it('is ended by Stop with its whole process group, also in the background, while other sessions go on', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const otherFolder = tempFolder('other');
    const other = await client.newSession(otherFolder);
    await client.call('session/set_mode', { sessionId: other, modeId: 'code' });
    await client.prompt(other, 'start echo $$ > bg.pid; exec sleep 300');
    const survivor = await pidFrom(join(otherFolder, 'bg.pid'));
    const deep = 'run sh -c \'sh -c "echo \\$\\$ > deep.pid; sleep 300" & wait\'';
    await client.prompt(
      sessionId,
      'delegate in background: start echo $$ > idle.pid; exec sleep 300\nfinish with on',
    );
    await client.prompt(sessionId, `delegate in background: ${deep}\nfinish with on`);
    const background = await pidFrom(join(folder, 'deep.pid'));
    const idle = await pidFrom(join(folder, 'idle.pid'));
    const working = client.prompt(sessionId, `delegate: ${deep.replace('deep.pid', 'front.pid')}`);
    const front = await pidFrom(join(folder, 'front.pid'));
    client.notify('session/cancel', { sessionId });
    expect((await working)['stopReason']).toBe('cancelled');
    await eventually(
      () => ![background, idle, front].some(isAlive),
      'the end of all process groups',
    );
    expect(isAlive(survivor)).toBe(true);
    // The ends of those in the background are not waited for by the turn that was stopped.
    await expect
      .poll(async () => (await loopsOf(client, sessionId)).map(({ state }) => state), {
        timeout: 10_000,
      })
      .toEqual(['idle', 'idle', 'idle', 'idle']);
  });

  it('is written to and stopped by a person, each with a receipt', async () => {
    const { client, sessionId, outcomes, folder } = await controlClient({ env: INSTANT });
    await client.prompt(sessionId, 'delegate: finish with one');
    const loopId = (await loopsOf(client, sessionId))[1]?.loopId ?? '';
    const text = 'run echo $$ > told.pid; sleep 300';
    expect(
      await client.call('_pilothouse/delegates/message', { sessionId, loopId, text }),
    ).toMatchObject({ delivery: 'started' });
    const told = await pidFrom(join(folder, 'told.pid'));
    const stop = () => client.call('_pilothouse/delegates/stop', { sessionId, loopId });
    expect(await stop()).toEqual({ status: 'stopped' });
    expect(await stop()).toEqual({ status: 'already_stopped' });
    await eventually(() => !isAlive(told), 'the end of its command');
    expect(outcomes().slice(-3)).toEqual([
      '_pilothouse/delegates/message started accepted',
      '_pilothouse/delegates/stop stopped accepted',
      '_pilothouse/delegates/stop already_stopped idempotent',
    ]);
  });

  it('has one step ended through its session, and goes on with the next', async () => {
    const { client, sessionId, outcomes, folder } = await controlClient({ env: INSTANT });
    const task = quoted('run echo $$ > step.pid; sleep 300', 'finish with gone on');
    const turn = client.prompt(sessionId, `delegate: ${task}`);
    const step = await pidFrom(join(folder, 'step.pid'));
    const loopId = (await loopsOf(client, sessionId))[1]?.loopId ?? '';
    const { entries } = await client.call('_pilothouse/history/page', { sessionId: loopId });
    const told = (entries as { updates: readonly { toolCallId?: string }[] }[]).flatMap(
      ({ updates }) => updates,
    );
    const toolCallId = told.find((update) => update.toolCallId !== undefined)?.toolCallId;
    const cancel = (named: object) =>
      client.call('session/cancel_tool_call', { sessionId, toolCallId, ...named });
    const inLoop = (id: string) => ({ _meta: { pilothouse: { loopId: id } } });
    // It is no call of the root loop, and there is no such loop.
    expect(await cancel(inLoop(sessionId))).toMatchObject({ status: 'not_found' });
    await expect(cancel(inLoop('ghost'))).rejects.toThrow('no open loop ghost');
    expect(isAlive(step)).toBe(true);
    expect(await cancel({})).toMatchObject({ status: 'cancelled', tool: 'run' });
    await turn;
    expect(isAlive(step)).toBe(false);
    expect(ends(client)).toContain('completed gone on');
    expect(await cancel(inLoop(loopId))).toMatchObject({ status: 'already_cancelled' });
    expect(outcomes().filter((one) => one.startsWith('session/cancel_tool_call'))).toEqual([
      'session/cancel_tool_call not_found rejected',
      'session/cancel_tool_call unknown_loop rejected',
      'session/cancel_tool_call cancelled accepted',
      'session/cancel_tool_call already_cancelled accepted',
    ]);
  });
});

type Ended = Extract<HistoryEvent, { type: 'delegate_ended' }>;

/** Kills a process at a point, opens the session in another one, and tells what is on disk then. */
async function survived(script: string, crashAt: string) {
  const home = tempFolder('home');
  const folder = tempFolder('work');
  const start = async (env: NodeJS.ProcessEnv): Promise<AcpTestClient> => {
    const client = answering(startAgentCore(home, { env: { ...INSTANT, ...env } }), 'allow_once');
    await client.initialize(KNOWS_CONTROL);
    return client;
  };
  const first = await start({ CRASH_AT: crashAt });
  const sessionId = await first.newSession(folder);
  await first.call('session/set_mode', { sessionId, modeId: 'code' });
  void first.prompt(sessionId, script).catch(() => undefined);
  expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
  for (let times = 0; times < 2; times += 1) {
    const next = await start({});
    await next.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await next.close();
  }
  const journal = await openTestJournal(home);
  const id = sessionId as SessionId;
  const read = async (loop: SessionId): Promise<readonly HistoryEvent[]> =>
    (await journal.readHistory(loop, { limit: 1_000 })).map(({ event }) => event);
  const loops = [id, ...(await journal.delegates(id)).map((row) => row.sessionId)];
  const verified = await Promise.all(
    loops.flatMap((loop) => [journal.verify(loop, 'history'), journal.verify(loop, 'control')]),
  );
  expect(verified.every(({ ok }) => ok)).toBe(true);
  return {
    folder,
    ended: (await read(id)).filter((event): event is Ended => event.type === 'delegate_ended'),
  };
}

describe('a delegate whose process is killed', () => {
  it.each([
    ['before it began', 'after:append/delegate_started', /^interrupted It never began/],
    ['in its middle', 'before:effect/write', /^interrupted half\n\[It broke off/],
    ['after its end, before its parent knew', 'before:append/delegate_ended', /^completed whole$/],
    ['after the hand-back', 'after:append/delegate_ended', /^completed whole$/],
  ])('is handed back exactly once: %s', async (_name, crashAt, expected) => {
    const task = quoted('say half', 'write a.txt: x', 'finish with whole');
    for (const verb of ['delegate', 'delegate in background']) {
      const { ended } = await survived(`${verb}: ${task}\nfinish with done`, crashAt);
      expect(ended.map(({ outcome, text }) => `${outcome} ${text}`)).toEqual([
        expect.stringMatching(expected),
      ]);
    }
  });

  it('leaves no process behind', async () => {
    const home = tempFolder('home');
    const { client, sessionId, folder } = await controlClient({ env: INSTANT, home });
    const task = 'run echo $$ > a.pid; sleep 300';
    await client.prompt(sessionId, `delegate in background: ${task}\nfinish with on`);
    const running = await pidFrom(join(folder, 'a.pid'));
    client.kill();
    await client.exited;
    await eventually(() => !isAlive(running), 'the end of its command');
    const next = startAgentCore(home, { env: INSTANT });
    await next.initialize(KNOWS_CONTROL);
    await next.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await next.prompt(sessionId, 'finish with read');
    const [, child] = await loopsOf(next, sessionId);
    expect(child?.state).toBe('idle');
    expect(JSON.stringify(next.frames)).toContain('was interrupted');
  });
});
