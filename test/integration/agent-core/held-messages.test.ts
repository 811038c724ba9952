import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NextTurnQueue } from '../../../src/protocol/pilothouse.ts';
import {
  answering,
  eventually,
  isAlive,
  pidFrom,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import {
  type ControlClient,
  controlClient,
  controlsOf,
  INSTANT,
  KNOWS_CONTROL,
} from '../../support/agent-core/control-client.ts';
import { directivesOf, providerClient, says } from '../../support/agent-core/provider-client.ts';

const SLOW = 'run touch begun; while [ ! -e go ]; do sleep 0.02; done\nfinish with original';

type Held = Pick<ControlClient, 'client' | 'sessionId'>;

function queue({ client, sessionId }: Held, verb: string, more: object = {}) {
  return client.call(`_pilothouse/queue/${verb}`, { sessionId, ...more });
}

async function add(one: Held, itemId: string, more: object = {}): Promise<void> {
  await queue(one, 'add', { itemId, content: `finish with ${itemId}`, ...more });
}

async function held(one: Held): Promise<{ paused: string | null; ids: string[] }> {
  const { paused, items } = (await queue(one, 'list')) as unknown as NextTurnQueue;
  return { paused, ids: items.map(({ itemId }) => itemId) };
}

function begun({ folder }: ControlClient): Promise<void> {
  return eventually(() => existsSync(join(folder, 'begun')), 'the running tool');
}

function go({ folder }: ControlClient): void {
  writeFileSync(join(folder, 'go'), '');
}

/** Every message of a person that a turn began with, in order. */
function prompts({ client, sessionId }: Held): string[] {
  return client.updates
    .filter((entry) => entry.sessionId === sessionId)
    .flatMap(({ update }) =>
      update.sessionUpdate === 'user_message_chunk' && update.content.type === 'text'
        ? [update.content.text]
        : [],
    );
}

async function answered({ client, sessionId }: Held, text: string): Promise<void> {
  await client.waitFor(() => client.textOf(sessionId).includes(text), `the answer "${text}"`);
}

describe('messages held for later turns', () => {
  it('are kept in the order asked for, edited, moved, removed, and then each sent once as a prompt (A09, A13)', async () => {
    const one = await controlClient({ env: INSTANT });
    const turn = one.client.prompt(one.sessionId, SLOW);
    await begun(one);
    for (const id of ['q1', 'q2', 'q3', 'q4']) await add(one, id);
    await queue(one, 'edit', { itemId: 'q2', content: 'finish with edited' });
    await queue(one, 'move', { itemId: 'q3', before: 'q1' });
    await queue(one, 'remove', { itemId: 'q4' });
    // The same again is the same; with other words it is refused.
    await add(one, 'q2');
    await expect(add(one, 'q2', { content: 'other' })).rejects.toMatchObject({
      data: { reason: 'command_collision' },
    });
    expect(await held(one)).toEqual({ paused: null, ids: ['q3', 'q1', 'q2'] });
    expect(prompts(one)).toEqual([]);
    go(one);
    expect((await turn)['stopReason']).toBe('end_turn');
    await answered(one, 'edited');
    expect(prompts(one)).toEqual(['finish with q3', 'finish with q1', 'finish with edited']);
    expect(await held(one)).toEqual({ paused: null, ids: [] });
  });

  it('stay behind a steer that is sent after them (A11)', async () => {
    const one = await controlClient({ env: INSTANT });
    const turn = one.client.prompt(one.sessionId, SLOW);
    await begun(one);
    await queue(one, 'add', { itemId: 'q', content: 'write q.txt: x\nfinish with queued' });
    await one.inject('steer', 'finish with steered');
    expect(await held(one)).toEqual({ paused: null, ids: ['q'] });
    go(one);
    await turn;
    await answered(one, 'queued');
    const text = one.client.textOf(one.sessionId);
    expect(text.indexOf('steered')).toBeGreaterThanOrEqual(0);
    expect(text.indexOf('steered')).toBeLessThan(text.indexOf('queued'));
    expect(text).not.toContain('original');
  });

  it('are kept and paused by Stop, which sends none of them; they go on when asked, behind what is sent first (A16)', async () => {
    const one = await controlClient({ env: INSTANT });
    const turn = one.client.prompt(one.sessionId, SLOW);
    await begun(one);
    for (const id of ['q1', 'q2']) await add(one, id);
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect((await turn)['stopReason']).toBe('cancelled');
    expect(await held(one)).toEqual({ paused: 'stopped', ids: ['q1', 'q2'] });
    await one.client.prompt(one.sessionId, 'finish with in between');
    expect(prompts(one)).toEqual([]);
    expect(await held(one)).toEqual({ paused: 'stopped', ids: ['q1', 'q2'] });
    await queue(one, 'resume');
    await answered(one, 'q2');
    expect(prompts(one)).toEqual(['finish with q1', 'finish with q2']);
    expect(one.outcomes().filter((line) => line.includes('/queue/'))).toEqual([
      '_pilothouse/queue/add added accepted',
      '_pilothouse/queue/add added accepted',
      '_pilothouse/queue/resume resumed accepted',
    ]);
  });

  it('sent now: the running turn is stopped, that one is sent once and next, the others keep their order (A12)', async () => {
    const one = await controlClient({ env: INSTANT });
    const turn = one.client.prompt(one.sessionId, SLOW);
    await begun(one);
    for (const id of ['q1', 'q2', 'q3']) await add(one, id);
    await queue(one, 'send_now', { itemId: 'q2' });
    expect((await turn)['stopReason']).toBe('cancelled');
    await answered(one, 'q2');
    await queue(one, 'resume');
    await answered(one, 'q3');
    expect(prompts(one)).toEqual(['finish with q2', 'finish with q1', 'finish with q3']);
  });

  it('can still be changed and removed when the turn failed, and a new session is free of them (A14)', async () => {
    const one = await providerClient();
    one.server.script({ kind: 'error', status: 400, message: 'no' });
    await queue(one, 'pause');
    for (const id of ['q1', 'q2']) await add(one, id);
    await queue(one, 'resume');
    await eventually(() => one.server.requests.length === 1, 'the turn that fails');
    await one.client.waitFor(({ text }) => text.includes('"turn_failed"'), 'the pause');
    expect(await held(one)).toEqual({ paused: 'turn_failed', ids: ['q2'] });
    await queue(one, 'edit', { itemId: 'q2', content: 'finish with changed' });
    await queue(one, 'remove', { itemId: 'q2' });
    expect((await held(one)).ids).toEqual([]);
    const fresh = await one.client.newSession(one.folder);
    expect(await held({ client: one.client, sessionId: fresh })).toEqual({
      paused: null,
      ids: [],
    });
    one.server.script(says('free'));
    expect((await one.client.prompt(fresh, 'go'))['stopReason']).toBe('end_turn');
  });

  it('never answer a question that is open; they are sent as text behind it (A15)', async () => {
    const one = await controlClient({ mode: 'ask', env: INSTANT });
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
    await queue(one, 'add', { itemId: 'yes', content: 'yes' });
    const { gates } = await one.client.call('_pilothouse/gates/list', {
      sessionId: one.sessionId,
    });
    expect(gates).toHaveLength(1);
    expect(existsSync(join(one.folder, 'a.txt'))).toBe(false);
    allow?.({ outcome: { outcome: 'selected', optionId: 'reject_once' } });
    await turn;
    await one.client.waitFor(() => prompts(one).includes('yes'), 'the queued text');
    expect(existsSync(join(one.folder, 'a.txt'))).toBe(false);
  });

  it('survive the death of the process, paused, and are then sent once each', async () => {
    const home = tempFolder('home');
    const one = await controlClient({ home, env: INSTANT });
    one.client.prompt(one.sessionId, SLOW).catch(() => undefined);
    await begun(one);
    for (const id of ['q1', 'q2']) await add(one, id);
    one.client.kill();
    await one.client.exited;
    const client = answering(startAgentCore(home), 'allow_once');
    await client.initialize(KNOWS_CONTROL);
    const { sessionId, folder } = one;
    const again = { sessionId, ...controlsOf(client, sessionId) };
    expect((await held(again)).ids).toEqual(['q1', 'q2']);
    await client.call('session/resume', { sessionId, cwd: folder, mcpServers: [] });
    expect(await held(again)).toEqual({ paused: 'restart', ids: ['q1', 'q2'] });
    expect(prompts(again)).toEqual([]);
    await queue(again, 'resume');
    await answered(again, 'q2');
    expect(prompts(again)).toEqual(['finish with q1', 'finish with q2']);
  });
});

describe('a message sent while a turn runs', () => {
  it('is exactly one of: steered, held, given back or refused with a reason (A09)', async () => {
    const one = await providerClient();
    one.server.script({ kind: 'silence' });
    const turn = one.client.prompt(one.sessionId, 'go');
    await one.server.received(1);
    const { messageId } = await one.inject('steer', 'a steer that no seam will see');
    await add(one, 'q');
    await expect(one.inject('sideways', 'x')).rejects.toMatchObject({
      data: { reason: 'invalid_mode' },
    });
    await one.client.call('session/cancel', { sessionId: one.sessionId });
    await turn;
    expect(one.outcomes().filter((line) => /inject|queue/.test(line))).toEqual([
      'session/inject accepted accepted',
      '_pilothouse/queue/add added accepted',
      'session/inject invalid_mode rejected',
      'session/revoke_inject given_back accepted',
    ]);
    expect(one.receipts().at(-1)).toMatchObject({ target: { messageId } });
    expect(await held(one)).toEqual({ paused: 'stopped', ids: ['q'] });
    const { pendingCount } = await one.client.call('session/pending_injections', {
      sessionId: one.sessionId,
    });
    expect(pendingCount).toBe(0);
    one.server.script(says('next'));
    await one.client.prompt(one.sessionId, 'and now?');
    expect(directivesOf(one.server.requests[1])).toEqual([]);
    expect(JSON.stringify(one.server.requests[1]?.body)).not.toContain('no seam will see');
  });

  it('as two steers a moment apart reaches the model twice, in order (A10)', async () => {
    const one = await controlClient({ env: INSTANT });
    const turn = one.client.prompt(one.sessionId, SLOW);
    await begun(one);
    const long = `say ${'A'.repeat(1_200)}`;
    await one.inject('steer', long);
    await one.inject('steer', 'finish with B');
    go(one);
    await turn;
    expect(one.seams()).toEqual(['post_tool_dispatch 2 false']);
    const text = one.client.textOf(one.sessionId);
    expect(text).toContain('A'.repeat(1_200));
    expect(text.endsWith('B')).toBe(true);
  });
});

describe('a cancel', () => {
  it('during the set-up of a prompt, some moments after it, leaves no call and no write (A02)', async () => {
    const one = await controlClient({ env: INSTANT });
    for (let moment = 0; moment < 6; moment += 1) {
      const from = one.client.updates.length;
      const turn = one.client.prompt(one.sessionId, `wait 1\nwrite late${moment}.txt: x`);
      for (let turnOfLoop = 0; turnOfLoop < moment; turnOfLoop += 1)
        await new Promise((resolve) => setImmediate(resolve));
      one.client.notify('session/cancel', { sessionId: one.sessionId });
      expect((await turn)['stopReason'], `${moment}`).toBe('cancelled');
      const calls = one.client.updates
        .slice(from)
        .filter(({ update }) => update.sessionUpdate === 'tool_call');
      expect(calls, `${moment}`).toEqual([]);
      expect(existsSync(join(one.folder, `late${moment}.txt`))).toBe(false);
    }
  });

  it('still stops a turn after its session was loaded again meanwhile (A08)', async () => {
    const one = await controlClient({ env: INSTANT });
    const { client, sessionId, folder } = one;
    const turn = client.prompt(sessionId, SLOW);
    await begun(one);
    const loaded = await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(loaded).toMatchObject({ session: { activePrompt: true } });
    expect(await client.call('session/cancel', { sessionId })).toMatchObject({
      status: 'cancelled',
    });
    expect((await turn)['stopReason']).toBe('cancelled');
    expect(client.textOf(sessionId)).not.toContain('original');
  });

  it('ends the whole tree of a running command, shown as cancelled (A04)', async () => {
    const one = await controlClient();
    const turn = one.client.prompt(
      one.sessionId,
      'run sh -c "echo \\$\\$ > inner.pid; exec sleep 300" & echo $$ > outer.pid; wait',
    );
    const pids = await Promise.all(
      ['inner.pid', 'outer.pid'].map((name) => pidFrom(join(one.folder, name))),
    );
    expect(pids.map(isAlive)).toEqual([true, true]);
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect((await turn)['stopReason']).toBe('cancelled');
    await eventually(() => !pids.some(isAlive), 'the end of the tree');
    const last = one.client.updates
      .map(({ update }) => update)
      .findLast((update) => update.sessionUpdate === 'tool_call_update');
    expect(last).toMatchObject({
      status: 'failed',
      _meta: { harn: { errorCategory: 'cancelled', status: 'cancelled' } },
    });
  });

  it('withdraws every open question of the session and of no other (A05)', async () => {
    const one = await controlClient({ mode: 'ask', env: INSTANT });
    const other = await one.client.newSession(one.folder);
    const withdrawn: string[] = [];
    one.client.onRequest('session/request_permission', (params, { signal }) => {
      signal.addEventListener('abort', () => withdrawn.push(String(params['sessionId'])));
      return undefined;
    });
    const text = 'together: write a.txt: x ; write b.txt: y\nfinish with done';
    const turns = [one.sessionId, other].map((id) => one.client.prompt(id, text));
    const asked = (): number => one.client.calls('session/request_permission').length;
    await eventually(() => asked() === 4, 'four questions');
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect((await turns[0])?.['stopReason']).toBe('cancelled');
    await eventually(() => withdrawn.length === 2, 'both questions taken back');
    expect(withdrawn).toEqual([one.sessionId, one.sessionId]);
    const { gates } = await one.client.call('_pilothouse/gates/list', { sessionId: other });
    expect(gates).toHaveLength(2);
    one.client.notify('session/cancel', { sessionId: other });
    await turns[1];
    expect(existsSync(join(one.folder, 'a.txt'))).toBe(false);
  });
});
