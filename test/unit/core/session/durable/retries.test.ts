import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { CommandId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type SessionOptions,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import {
  calls,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../../support/engine/scripted-model.ts';

const YES = { kind: 'selected', optionId: 'allow_once' } as const;
const NO = { kind: 'selected', optionId: 'reject_once' } as const;
const STOP = { kind: 'cancelled', by: 'test' } as const;

function origin(commandId?: string) {
  const id = commandId === undefined ? {} : { commandId: commandId as CommandId };
  return { actor: OWNER, agency: 'user', ...id } as const;
}

async function asking(options: Partial<SessionOptions> = {}): Promise<TestSession> {
  const model = new ScriptedModel(calls(['w', { path: '1' }]), says('done'), says('more'));
  return await aSession({
    model,
    tools: [aTool('w', () => ok('x'))],
    decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [] }),
    ...options,
  });
}

function issued(t: TestSession): string[] {
  return (t.journal.records.get(t.session.sessionId) ?? []).flatMap(({ record: { event } }) =>
    event.type === 'command_issued' ? [event.command.type] : [],
  );
}

describe('an answer to a gate', () => {
  it('that is sent again under its id gets what the first one got', async () => {
    const t = await asking();
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    const both = await Promise.all([t.answer(gateId, YES, 'a'), t.answer(gateId, YES, 'a')]);
    expect(both).toEqual([true, true]);
    await outcome;
    expect(await t.answer(gateId, YES, 'a')).toBe(true);
    expect(issued(t)).toEqual(['user_input', 'approve_tool_call']);
    const again = await t.restart();
    expect(await again.answer(gateId, YES, 'a')).toBe(true);
  });

  it('is refused where its id was used with another answer', async () => {
    const t = await asking();
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    await t.answer(gateId, YES, 'a');
    await expect(t.answer(gateId, NO, 'a')).rejects.toMatchObject({
      code: 'session.command_collision',
    });
    await outcome;
  });

  it('loses to the first one, whoever sent it, and leaves no record', async () => {
    const t = await asking();
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    const both = await Promise.all([t.answer(gateId, NO), t.answer(gateId, YES)]);
    expect(both).toEqual([true, false]);
    await outcome;
    expect(issued(t)).toEqual(['user_input', 'deny_tool_call']);
    expect(t.types().filter((type) => type === 'gate_resolved')).toHaveLength(1);
  });

  it('loses to the time limit of questions, and wins where it comes before', async () => {
    const config = { gateSeconds: 60 };
    const late = await asking({ config });
    const outcome = late.prompt('go');
    const { gateId } = await late.next('gate_opened');
    await late.clock.whenSleeping();
    late.clock.advance(60_000);
    const resolved = await late.next('gate_resolved');
    expect(resolved.actor.source).toBe('policy');
    expect(await late.answer(gateId, YES)).toBe(false);
    await outcome;
    expect(late.types()).not.toContain('tool_started');
    const inTime = await asking({ config });
    const other = inTime.prompt('go');
    const gate = await inTime.next('gate_opened');
    await inTime.clock.whenSleeping();
    inTime.clock.advance(59_000);
    expect(await inTime.answer(gate.gateId, YES)).toBe(true);
    await other;
    expect(inTime.types()).toContain('tool_started');
  });

  it('that could not be kept has no effect, and the question is there after a restart', async () => {
    const t = await asking();
    t.prompt('go').catch(() => undefined);
    const { gateId } = await t.next('gate_opened');
    t.journal.failure = new Error('disk');
    await expect(t.answer(gateId, YES)).rejects.toThrow('disk');
    t.journal.failure = null;
    const again = await t.restart();
    expect(again.session.openGates.map((gate) => gate.gateId)).toEqual([gateId]);
    expect(t.types()).not.toContain('tool_started');
  });
});

describe('a cancel', () => {
  it('that is sent again under its id stops nothing that began since', async () => {
    const begun = new Deferred<void>();
    const started = new Deferred<void>();
    const model = new ScriptedModel(
      streamsForever('a', () => begun.resolve()),
      streamsForever('b', () => started.resolve()),
    );
    const t = await aSession({ model });
    const first = t.prompt('one', 1);
    await begun.promise;
    expect(t.session.cancel(2, STOP, origin('stop')).ended).toBe(true);
    await first;
    const second = t.prompt('two', 3);
    await started.promise;
    expect(t.session.cancel(4, STOP, origin('stop')).ended).toBe(true);
    expect(t.session.isActive).toBe(true);
    expect(t.session.cancel(5, STOP, origin('another')).ended).toBe(true);
    expect((await second).stopReason).toBe('cancelled');
  });

  it('is recorded ahead of what it brings about, also where it did nothing', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done')) });
    const idle = t.session.cancel(1, STOP, origin());
    expect(idle.ended).toBe(false);
    await idle.recorded;
    const first = t.prompt('one', 2);
    await t.session.cancel(3, STOP, origin()).recorded;
    await first;
    const stored = (t.journal.records.get(t.session.sessionId) ?? []).map(
      ({ record: { event } }) =>
        event.type === 'command_resolved' ? `${event.type} ${event.resolution}` : event.type,
    );
    expect(stored.filter((type) => type.endsWith('no_op'))).toHaveLength(1);
    expect(stored.lastIndexOf('command_issued')).toBeLessThan(stored.indexOf('turn_ended'));
  });

  it('does not wait for a slow disk', async () => {
    const slow = new Deferred<void>();
    const model = new ScriptedModel(streamsForever('a', () => undefined));
    const t = await aSession({ model });
    const outcome = t.prompt('one', 1);
    await t.next('turn_started');
    t.journal.gate = slow.promise;
    expect(t.session.cancel(2, STOP, origin()).ended).toBe(true);
    slow.resolve();
    expect((await outcome).stopReason).toBe('cancelled');
  });
});

describe('an input that has not begun', () => {
  it('is taken back by its command id: a prompt, a message, a held one; and nothing else is', async () => {
    const started = new Deferred<void>();
    const model = new ScriptedModel(streamsForever('a', () => started.resolve()));
    const t = await aSession({ model });
    const running = t.prompt('one', 1, 'runs');
    await started.promise;
    const waiting = t.prompt('two', 2, 'waits');
    await t.session.entries.inject({
      mode: 'steer',
      content: [{ type: 'text', text: 'x' }],
      actor: OWNER,
      commandId: 'steers' as CommandId,
    });
    expect(await t.session.entries.withdraw('waits' as CommandId, origin())).toBe('withdrawn');
    expect((await waiting).turnId).toBeNull();
    expect(await t.session.entries.withdraw('steers' as CommandId, origin())).toBe('withdrawn');
    expect(t.session.entries.pending()).toEqual([]);
    for (const id of ['waits', 'runs', 'nobody'])
      expect(await t.session.entries.withdraw(id as CommandId, origin())).toBe('no_op');
    t.session.cancelBefore(9, STOP);
    await running;
  });

  it('is one request of a loop where that is ended alone: queued, running, or none', async () => {
    const started = new Deferred<void>();
    const model = new ScriptedModel(
      streamsForever('a', () => started.resolve()),
      says('next'),
    );
    const t = await aSession({ model });
    const running = t.prompt('one', 1, 'runs');
    await started.promise;
    const gone = t.prompt('two', 2, 'gone');
    const stays = t.prompt('three', 3, 'stays');
    expect(await t.session.entries.cancelRequest('gone' as CommandId, origin())).toBe('queued');
    expect(await t.session.entries.cancelRequest('runs' as CommandId, origin())).toBe('active');
    expect(await t.session.entries.cancelRequest('nobody' as CommandId, origin())).toBe('noop');
    expect((await running).stopReason).toBe('cancelled');
    expect((await gone).turnId).toBeNull();
    expect((await stays).stopReason).toBe('end_turn');
  });
});

describe('a lasting answer', () => {
  const remember = [{ scope: 'session', label: 'Always', rules: [] }] as const;

  async function twoQuestions(decideLater: 'allow' | 'deny' | 'ask') {
    let isStored = false;
    const model = new ScriptedModel(
      calls(['w', { path: '1' }], ['w', { path: '2' }]),
      says('done'),
    );
    const t = await aSession({
      model,
      tools: [aTool('w', () => ok('x'))],
      decide: () =>
        isStored && decideLater !== 'ask'
          ? { decision: decideLater, reason: 'stored' }
          : { decision: 'ask', reason: 'test', details: [], remember },
      remember: async () => {
        isStored = true;
      },
    });
    const outcome = t.prompt('go');
    const first = await t.next('gate_opened', 1);
    const second = await t.next('gate_opened', 2);
    await t.answer(first.gateId, { kind: 'selected', optionId: 'allow_always:0' });
    return { t, outcome, second };
  }

  it.each([
    ['allow', 2],
    ['deny', 1],
  ] as const)('answers the other open questions as its rule says: %s', async (rule, ran) => {
    const { t, outcome } = await twoQuestions(rule);
    await outcome;
    const resolved = await t.next('gate_resolved', 2);
    expect(resolved.actor.source).toBe('policy');
    expect(t.types().filter((type) => type === 'tool_started')).toHaveLength(ran);
  });

  it('leaves those open that its rule does not speak of', async () => {
    const { t, outcome, second } = await twoQuestions('ask');
    expect(t.session.openGates.map(({ gateId }) => gateId)).toEqual([second.gateId]);
    await t.answer(second.gateId, NO);
    await outcome;
  });
});
