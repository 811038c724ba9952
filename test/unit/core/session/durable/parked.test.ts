import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { JsonObject } from '../../../../../src/base/json.ts';
import type { GateId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  pathOf,
  type SessionOptions,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

const YES = { kind: 'selected', optionId: 'allow_once' } as const;
const STOP = { kind: 'cancelled', by: 'test' } as const;
const NO = { kind: 'selected', optionId: 'reject_once' } as const;
const ASKS = {
  decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [] }) as const,
};

/** A session whose turn stands at the question about one call; `runs` counts what ran. */
async function atQuestion(
  options: Partial<SessionOptions> = {},
  ...paths: readonly string[]
): Promise<{ t: TestSession; runs: string[]; model: ScriptedModel; gateIds: GateId[] }> {
  const runs: string[] = [];
  const tool = aTool('w', (_context, input) => {
    runs.push(pathOf(input));
    return ok('written');
  });
  const asked = paths.length === 0 ? ['1'] : paths;
  const model = new ScriptedModel(
    calls(...asked.map((path): [string, JsonObject] => ['w', { path }])),
    says('done'),
  );
  const t = await aSession({ model, tools: [tool], ...ASKS, ...options });
  t.prompt('go').catch(() => undefined);
  const gateIds: GateId[] = [];
  for (const index of asked.keys()) gateIds.push((await t.next('gate_opened', index + 1)).gateId);
  return { t, runs, model, gateIds };
}

/** Types of what is in the journal of both streams, from `from` on. */
function journaled(t: TestSession, from: number): string[] {
  const stored = t.journal.records.get(t.session.sessionId) ?? [];
  return stored.slice(from).map(({ record: { event } }) => event.type);
}

function length(t: TestSession): number {
  return t.journal.records.get(t.session.sessionId)?.length ?? 0;
}

describe('a turn that stood at a question when its process ended', () => {
  it('stays open with the same gate, writes nothing to its history, and goes on when it is answered', async () => {
    const { t, runs, gateIds } = await atQuestion();
    const before = t.session.tip;
    const at = length(t);
    const again = await t.restart();
    expect(again.session.tip).toMatchObject(before);
    expect(journaled(again, at)).toEqual([]);
    expect(again.session.isActive).toBe(true);
    expect(again.session.openGates.map(({ gateId }) => gateId)).toEqual(gateIds);
    expect(runs).toEqual([]);
    again.session.goOn();
    const [gateId] = gateIds;
    expect(await again.answer(gateId as GateId, YES)).toBe(true);
    const end = await again.next('turn_ended');
    expect(end.terminal.kind).toBe('natural');
    expect(runs).toEqual(['1']);
    expect(again.types()).toEqual([
      'gate_resolved',
      'tool_started',
      'tool_ended',
      'message_delta',
      'model_replied',
      'usage_changed',
      'turn_ended',
    ]);
  });

  it('is found by a second restart as it was by the first', async () => {
    const { t, runs, gateIds } = await atQuestion();
    const twice = await (await t.restart()).restart();
    twice.session.goOn();
    await twice.answer(gateIds[0] as GateId, YES);
    await twice.next('turn_ended');
    expect(runs).toEqual(['1']);
  });

  it('is answered before anybody goes on with it, and acts on that once it goes on', async () => {
    const { t, runs, gateIds } = await atQuestion();
    const again = await t.restart();
    expect(await again.answer(gateIds[0] as GateId, YES)).toBe(true);
    expect(runs).toEqual([]);
    const later = await again.restart();
    expect(later.session.openGates).toEqual([]);
    expect(later.session.isActive).toBe(true);
    later.session.goOn();
    await later.next('turn_ended');
    expect(runs).toEqual(['1']);
    expect(later.types()).not.toContain('gate_opened');
  });

  it.each([
    ['was answered yes', YES, ['1']],
    ['was answered no', NO, []],
  ] as const)('uses the answer of before the restart, which %s', async (_what, answer, ran) => {
    const { t, runs, gateIds } = await atQuestion({}, '1', '2');
    // The batch waits for its second question, so nothing has come of the first answer.
    await t.answer(gateIds[0] as GateId, answer);
    const again = await t.restart();
    expect(again.session.openGates.map(({ gateId }) => gateId)).toEqual([gateIds[1]]);
    again.session.goOn();
    await again.answer(gateIds[1] as GateId, NO);
    await again.next('turn_ended');
    expect(runs).toEqual(ran);
  });

  it('does not run what was refused before the restart, though policy would let it now', async () => {
    const { t, runs, gateIds } = await atQuestion({}, '1', '2');
    await t.answer(gateIds[0] as GateId, NO);
    const again = await t.restart({ decide: () => ({ decision: 'allow', reason: 'now' }) });
    again.session.goOn();
    await again.next('turn_ended');
    expect(runs).toEqual(['2']);
    expect(again.session.openGates).toEqual([]);
  });

  it('withdraws a question whose thing is another now, and asks anew', async () => {
    const { t, runs, gateIds } = await atQuestion();
    const again = await t.restart({
      decide: () => ({ decision: 'ask', reason: 'changed', details: [], remember: [] }),
    });
    again.session.goOn();
    const opened = await again.next('gate_opened');
    expect(opened.gateId).not.toBe(gateIds[0]);
    await again.answer(opened.gateId, YES);
    const resolved = await again.next('gate_resolved', 2);
    expect(resolved).toMatchObject({
      gateId: gateIds[0],
      answer: { kind: 'cancelled', reason: 'restart' },
    });
    await again.next('turn_ended');
    expect(runs).toEqual(['1']);
  });

  it('is sealed by Stop, with its question withdrawn and nothing run', async () => {
    const { t, runs } = await atQuestion();
    const again = await t.restart();
    again.session.goOn();
    expect(again.session.cancelBefore(1_000, STOP)).toBe(true);
    const end = await again.next('turn_ended');
    expect(end.terminal.kind).toBe('user_cancelled');
    expect(runs).toEqual([]);
    expect(again.session.openGates).toEqual([]);
    await again.session.exclusively(
      async () => undefined,
      () => undefined,
    );
    expect(again.session.isActive).toBe(false);
  });

  it('is sealed by Stop before anybody goes on with it', async () => {
    const { t, runs } = await atQuestion();
    const again = await t.restart();
    expect(again.session.cancelBefore(1_000, STOP)).toBe(true);
    expect((await again.next('turn_ended')).terminal.kind).toBe('user_cancelled');
    expect(runs).toEqual([]);
  });

  it('keeps its steers, and reads them when it goes on', async () => {
    const { t, model, gateIds } = await atQuestion();
    await t.session.entries.inject({
      mode: 'steer',
      content: [{ type: 'text', text: 'be brief' }],
      actor: OWNER,
    });
    const again = await t.restart();
    expect(again.session.entries.pending()).toHaveLength(1);
    again.session.goOn();
    await again.answer(gateIds[0] as GateId, YES);
    const delivered = await again.next('inject_delivered');
    expect(delivered.seam).toBe('post_tool_dispatch');
    await again.next('turn_ended');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('be brief');
  });

  it('reads the same conversation as if nothing had happened', async () => {
    const twin = await atQuestion();
    await twin.t.answer(twin.gateIds[0] as GateId, YES);
    await twin.t.next('turn_ended');
    const { t, model, gateIds } = await atQuestion();
    const again = await t.restart();
    again.session.goOn();
    await again.answer(gateIds[0] as GateId, YES);
    await again.next('turn_ended');
    const roles = (one: ScriptedModel): unknown =>
      one.requests.at(-1)?.messages.map((message) => [message.role, 'calls' in message]);
    expect(roles(model)).toEqual(roles(twin.model));
  });
});

describe('an ask tool that waited for its answer', () => {
  const asks = (answers: string[]) =>
    aTool('ask', async (context) => {
      const answer = await context.ask({
        message: 'Which?',
        schema: { type: 'object', properties: { answer: { type: 'string' } } },
      });
      answers.push(JSON.stringify(answer));
      return ok('thanks');
    });

  it('asks the same again and takes the answer, without being started twice', async () => {
    const answers: string[] = [];
    const model = new ScriptedModel(calls(['ask', {}]), says('done'));
    const t = await aSession({ model, tools: [asks(answers)] });
    t.prompt('go').catch(() => undefined);
    const { gateId } = await t.next('gate_opened');
    const again = await t.restart();
    expect(again.session.openGates.map((gate) => gate.gateId)).toEqual([gateId]);
    again.session.goOn();
    await again.answer(gateId, { kind: 'accepted', content: { answer: 'the left one' } });
    await again.next('turn_ended');
    expect(answers).toEqual(['{"kind":"answered","content":{"answer":"the left one"}}']);
    expect(again.types().filter((type) => type === 'tool_started')).toEqual([]);
    expect(again.types()).not.toContain('gate_opened');
  });
});

describe('a turn that broke off elsewhere', () => {
  it('is sealed as interrupted where a call of it may have had an effect', async () => {
    const started = new Deferred<void>();
    const hangs = aTool('w', async () => {
      started.resolve();
      await new Promise(() => undefined);
      return ok('');
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['w', { path: '1' }])),
      tools: [hangs],
    });
    t.prompt('go').catch(() => undefined);
    await started.promise;
    const again = await t.restart();
    expect(again.session.isActive).toBe(false);
    expect(journaled(again, 0).slice(-3)).toEqual(['tool_ended', 'turn_ended', 'session_restored']);
  });
});
