import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { MAX_COMMAND_BYTES } from '../../../../../src/core/session/commands/command.ts';
import { ControlRefused } from '../../../../../src/core/session/control/refusal.ts';
import { MOST_WAITING } from '../../../../../src/core/session/control/waiting-limit.ts';
import type { CommandId, LoopId, QueueItemId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import {
  calls,
  type Reply,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../../support/engine/scripted-model.ts';

const CLOSE = { kind: 'closed', why: 'session_closed' } as const;
const STOP = { kind: 'cancelled', by: 'test' } as const;
const ORIGIN = { actor: OWNER, agency: 'user' } as const;
const text = (words: string) => [{ type: 'text', text: words }] as const;

/** How often each command was recorded, and what it came to, in the order of the records. */
function recorded(t: TestSession): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { record } of t.journal.records.get(t.session.sessionId) ?? []) {
    const { event } = record;
    if (event.type === 'command_issued')
      found.set(event.command.command_id, [
        ...(found.get(event.command.command_id) ?? []),
        'issued',
      ]);
    if (event.type === 'command_resolved')
      found.set(event.commandId, [...(found.get(event.commandId) ?? []), event.resolution]);
  }
  return found;
}

/** A session whose first turn goes on until it is stopped. */
async function running(...replies: Reply[]): Promise<TestSession> {
  const begun = new Deferred<void>();
  const first = streamsForever('a', () => begun.resolve());
  const t = await aSession({ model: new ScriptedModel(first, ...replies) });
  t.prompt('first', 1, 'c1').catch(() => undefined);
  await begun.promise;
  return t;
}

describe('prompts of one id', () => {
  it('that come at once are one command and one turn; one with another body collides', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done'), says('twice')) });
    const same = Array.from({ length: 20 }, (_, at) => t.prompt('go', at + 1, 'x'));
    const other = t.prompt('stay', 30, 'x');
    await expect(other).rejects.toMatchObject({ code: 'session.command_collision' });
    const turns = new Set((await Promise.all(same)).map(({ turnId }) => turnId));
    expect(turns.size).toBe(1);
    expect(t.types().filter((type) => type === 'turn_started')).toHaveLength(1);
    expect([...recorded(t)]).toEqual([['x', ['issued', 'started']]]);
  });
});

describe('how many prompts may wait', () => {
  it('is limited: one more is refused, leaves no record, and may be sent again when there is room', async () => {
    const t = await running();
    const waiting = Array.from({ length: MOST_WAITING }, (_, at) =>
      t.prompt('w', at + 2, `w${at}`),
    );
    const full = t.prompt('late', 1_000, 'late');
    await expect(full).rejects.toMatchObject({ refusal: 'too_many_waiting' });
    await expect(full).rejects.toBeInstanceOf(ControlRefused);
    t.session.cancelBefore(1_001, STOP);
    await Promise.all(waiting);
    expect(recorded(t).has('late')).toBe(false);
    expect(new Set([...recorded(t)].map(([, how]) => how.join()))).toEqual(
      new Set(['issued,started', 'issued,cancelled']),
    );
    const model = new ScriptedModel(says('here'));
    const again = await t.restart({ model });
    expect((await again.prompt('late', 1_002, 'late')).terminal.kind).toBe('natural');
  });

  it('is not asked of one that begins at once, however much it holds', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done')) });
    // As much as can be stored at once.
    const outcome = await t.prompt('x'.repeat(MAX_COMMAND_BYTES - 8 * 1024));
    expect(outcome.terminal.kind).toBe('natural');
  });

  it('keeps no machine input out: a result is taken though nothing else fits', async () => {
    const t = await running(says('read'), says('read'));
    for (let at = 0; at < MOST_WAITING; at += 1)
      await t.session.entries.inject({ mode: 'queue', content: text(`${at}`), actor: OWNER });
    const more = t.session.entries.inject({ mode: 'steer', content: text('more'), actor: OWNER });
    await expect(more).rejects.toMatchObject({ refusal: 'too_many_waiting' });
    const usage = { inputTokens: 0, outputTokens: 0 };
    const result = {
      requestId: 'r1' as CommandId,
      loopId: 'child' as LoopId,
      outcome: 'completed',
      text: 'found',
      usage,
      background: true,
    } as const;
    expect(await t.session.entries.handBack(result)).toBe('accepted');
    t.session.cancelBefore(2, STOP);
    await t.prompt('next', 3);
    expect(t.types().filter((type) => type === 'machine_message')).toHaveLength(1);
  });
});

describe('a session that is being closed', () => {
  it('ends every input once, and takes none any more', async () => {
    const t = await running();
    const waits = t.prompt('second', 2, 'c2');
    await t.session.entries.inject({
      mode: 'steer',
      content: text('left'),
      actor: OWNER,
      commandId: 'c3' as CommandId,
    });
    const closed = t.session.close(CLOSE, OWNER);
    await expect(t.prompt('third', 3, 'c4')).rejects.toMatchObject({ code: 'session.closed' });
    const steer = { mode: 'steer', content: text('late'), actor: OWNER } as const;
    await expect(t.session.entries.inject(steer)).rejects.toMatchObject({
      refusal: 'no_active_prompt',
    });
    await closed;
    expect((await waits).turnId).toBeNull();
    const { turnId } = await t.next('turn_started');
    expect(await t.next('turn_ended')).toMatchObject({ turnId, terminal: { kind: 'policy_stop' } });
    expect([...recorded(t)].slice(0, 3)).toEqual([
      ['c1', ['issued', 'started']],
      ['c2', ['issued', 'cancelled']],
      ['c3', ['issued', 'cancelled']],
    ]);
    expect(recorded(t).has('c4')).toBe(false);
    const again = await t.restart();
    expect(again.session.entries.nextTurns().items).toEqual([]);
    expect(again.session.entries.pending()).toEqual([]);
  });

  it('refuses all that would change it, and writes nothing behind its end', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done')) });
    await t.prompt('go');
    await t.session.close(CLOSE, OWNER);
    const count = t.journal.records.get(t.session.sessionId)?.length;
    const queue = { kind: 'add', content: text('q'), before: null } as const;
    await expect(t.prompt('more')).rejects.toMatchObject({ code: 'session.closed' });
    await expect(t.session.entries.changeQueue(queue, OWNER)).rejects.toMatchObject({
      refusal: 'session_closed',
    });
    await expect(t.session.checkpointWorkspace(ORIGIN)).rejects.toMatchObject({
      refusal: 'session_closed',
    });
    expect(await t.session.entries.compact(ORIGIN)).toMatchObject({
      kind: 'rejected',
      reason: 'shutting_down',
    });
    expect(await t.session.entries.changeLoop({ mode: 'architect' }, ORIGIN)).toMatchObject({
      kind: 'refused',
      reason: 'session.closed',
    });
    expect(t.session.cancelBefore(99, STOP)).toBe(false);
    expect(t.journal.records.get(t.session.sessionId)).toHaveLength(count ?? -1);
  });
});

describe('where no ids are to be had', () => {
  it('a prompt is rejected, once, and sent again under its id it still is; with ids the next one runs', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done')) });
    t.ids.failure = new Error('no randomness');
    await expect(t.prompt('go', 1, 'x')).rejects.toMatchObject({ code: 'session.not_begun' });
    expect(t.session.isActive).toBe(false);
    t.ids.failure = null;
    await expect(t.prompt('go', 2, 'x')).rejects.toMatchObject({ code: 'session.not_begun' });
    expect([...recorded(t)]).toEqual([['x', ['issued', 'rejected']]]);
    expect(t.types()).not.toContain('turn_started');
    const again = await t.restart();
    expect(again.session.entries.nextTurns().items).toEqual([]);
    expect((await again.prompt('go', 3, 'y')).terminal.kind).toBe('natural');
  });

  it('prompts that waited are rejected when their turn comes, each once', async () => {
    const t = await running();
    const waiting = [t.prompt('b', 2, 'c2'), t.prompt('c', 3, 'c3')];
    for (const one of waiting) one.catch(() => undefined);
    await t.session.entries.inject({ mode: 'queue', content: text('n'), actor: OWNER });
    t.ids.failure = new Error('no randomness');
    expect(
      await t.session.entries.cancelRequest('c1' as CommandId, {
        ...ORIGIN,
        commandId: 's' as CommandId,
      }),
    ).toBe('active');
    for (const one of waiting)
      await expect(one).rejects.toMatchObject({ code: 'session.not_begun' });
    expect(recorded(t).get('c2')).toEqual(['issued', 'rejected']);
    expect(recorded(t).get('c3')).toEqual(['issued', 'rejected']);
  });

  it('what is held and what the machine tells is kept, and read once there are', async () => {
    const t = await aSession({ model: new ScriptedModel(says('one'), says('two')) });
    t.ids.failure = new Error('no randomness');
    const itemId = 'q1' as QueueItemId;
    await t.session.entries.changeQueue(
      { kind: 'add', itemId, content: text('held'), before: null },
      OWNER,
    );
    expect(t.session.entries.nextTurns().items).toHaveLength(1);
    t.ids.failure = null;
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
    await t.next('turn_ended', 2);
    expect(t.session.entries.nextTurns().items).toEqual([]);
  });

  it('a question is not asked: nothing of it is there, the turn ends with an error and the session goes on', async () => {
    const model = new ScriptedModel(calls(['w', {}]), says('more'));
    const t = await aSession({
      model,
      tools: [aTool('w', () => ok('x'))],
      decide: () => {
        t.ids.failure = new Error('no randomness');
        return { decision: 'ask', reason: '', details: [], remember: [] };
      },
    });
    const outcome = t.prompt('go');
    const ended = await t.next('turn_ended');
    t.ids.failure = null;
    expect(ended.terminal.kind).toBe('runtime_error');
    await outcome;
    expect(t.types()).not.toContain('gate_opened');
    expect(t.types()).not.toContain('tool_started');
    expect(t.session.openGates).toEqual([]);
    expect((await t.prompt('again')).terminal.kind).toBe('natural');
  });
});
