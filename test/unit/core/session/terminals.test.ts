import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { type FinishReason, ModelError } from '../../../../src/core/session/model.ts';
import type { PolicyDecision } from '../../../../src/core/session/tool.ts';
import { aSession, aTool, OWNER, ok } from '../../../support/engine/a-session.ts';
import {
  calls,
  fails,
  type Reply,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

const NOTHING = { inputTokens: 0, outputTokens: 0 };

/** A reply with this text and this end. */
function ends(reason: FinishReason, text = ''): Reply {
  return async function* () {
    if (text !== '') yield { type: 'text', text };
    yield { type: 'finish', reason, usage: NOTHING };
  };
}

const times = (count: number, reply: Reply): Reply[] => Array.from({ length: count }, () => reply);
const touch = () => aTool('touch', () => ok('touched'));
const again = calls(['touch', { path: 'a' }]);

describe('a turn ends as', () => {
  it('natural, when the model is done', async () => {
    const t = await aSession({ model: new ScriptedModel(says('done')) });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'end_turn',
      terminal: { kind: 'natural', owner: 'agent' },
    });
  });

  it('user_cancelled, when a person stops it', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.cancelBefore(2, { kind: 'cancelled', by: 'test' });
    expect(await outcome).toMatchObject({
      stopReason: 'cancelled',
      terminal: { kind: 'user_cancelled', owner: 'user' },
    });
  });

  it('policy_budget, when its budget is used up', async () => {
    const t = await aSession({
      model: new ScriptedModel(again),
      tools: [touch()],
      config: { budget: { steps: 1 } },
    });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'max_turn_requests',
      terminal: { kind: 'policy_budget', owner: 'policy' },
    });
  });

  it('policy_no_progress, when the same batch has the same results five times in a row', async () => {
    const t = await aSession({
      model: new ScriptedModel(...times(6, again)),
      tools: [touch()],
    });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'end_turn',
      terminal: { kind: 'policy_no_progress', owner: 'policy' },
    });
    expect(t.types().filter((type) => type === 'tool_ended')).toHaveLength(5);
    const told = t
      .history()
      .flatMap((event) => (event.type === 'directives_issued' ? event.directives : []));
    expect(told).toMatchObject([{ authority: 'corrective', source: 'policy' }]);
  });

  it('natural, when the results differ or something else is done between', async () => {
    let count = 0;
    const counting = aTool('touch', () => ok(String(count++)));
    const differ = await aSession({
      model: new ScriptedModel(...times(6, again), says('done')),
      tools: [counting],
    });
    expect((await differ.prompt('go')).terminal.kind).toBe('natural');
    const between = await aSession({
      model: new ScriptedModel(
        ...times(4, again),
        calls(['touch', { path: 'b' }]),
        ...times(4, again),
        says('done'),
      ),
      tools: [touch()],
    });
    expect((await between.prompt('go')).terminal.kind).toBe('natural');
  });

  it('natural, when a person steers it out of its circle', async () => {
    let runs = 0;
    const steered = aTool('touch', async () => {
      runs += 1;
      if (runs === 4)
        await t.session.entries.inject({
          mode: 'steer',
          content: [{ type: 'text', text: 'go on, it is being repaired' }],
          actor: OWNER,
        });
      return ok('touched');
    });
    const t = await aSession({
      model: new ScriptedModel(...times(7, again), says('done')),
      tools: [steered],
    });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
  });

  it('policy_guardrail, when policy denied every call of three batches in a row', async () => {
    const t = await aSession({
      model: new ScriptedModel(...times(4, again)),
      tools: [touch()],
      decide: () => ({ decision: 'deny', reason: 'the data folder is off limits' }),
    });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'end_turn',
      terminal: {
        kind: 'policy_guardrail',
        owner: 'policy',
        reason: expect.stringContaining('the data folder is off limits'),
      },
    });
    expect(t.types().filter((type) => type === 'tool_ended')).toHaveLength(3);
  });

  it('natural, when only some were denied, or a person refused them', async () => {
    const deny: PolicyDecision = { decision: 'deny', reason: 'no' };
    let count = 0;
    const some = await aSession({
      model: new ScriptedModel(
        ...times(3, calls(['touch', { path: 'a' }], ['other', { path: 'b' }])),
        says('done'),
      ),
      tools: [touch(), aTool('other', () => ok(String(count++)))],
      decide: ({ tool }) => (tool === 'touch' ? deny : { decision: 'allow', reason: 'harmless' }),
    });
    expect((await some.prompt('go')).terminal.kind).toBe('natural');
    const asked = await aSession({
      model: new ScriptedModel(...times(3, again), says('done')),
      tools: [touch()],
      decide: () => ({ decision: 'ask', reason: 'writes', details: [], remember: [] }),
    });
    const outcome = asked.prompt('go');
    for (const nth of [1, 2, 3]) {
      const { gateId } = await asked.next('gate_opened', nth);
      void asked.answer(gateId, { kind: 'selected', optionId: 'reject_once' });
    }
    expect((await outcome).terminal.kind).toBe('natural');
  });

  it.each([
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
  ] as const)('policy_stop, when the model ends for %s', async (reason, stopReason) => {
    const t = await aSession({ model: new ScriptedModel(ends(reason, 'half')) });
    expect(await t.prompt('go')).toMatchObject({
      stopReason,
      terminal: { kind: 'policy_stop', owner: 'policy' },
    });
  });

  it('policy_stop, when its session is closed', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
    });
    const outcome = t.prompt('go');
    await started.promise;
    await t.session.close({ kind: 'closed', why: 'client_gone' }, OWNER);
    expect(await outcome).toMatchObject({
      stopReason: 'cancelled',
      terminal: { kind: 'policy_stop', owner: 'policy' },
    });
  });

  it('provider_error, when the model failed for good', async () => {
    const refused = new ModelError('model.bad_request', 'too big', { source: 'scripted' });
    const t = await aSession({ model: new ScriptedModel(fails(refused)) });
    expect(await t.prompt('go')).toMatchObject({
      terminal: { kind: 'provider_error', owner: 'provider', reason: 'too big' },
    });
  });

  it('runtime_error, when something throws that should not; nothing stays open', async () => {
    const t = await aSession({
      model: new ScriptedModel(
        calls(['touch', { path: 'a' }], ['touch', { path: 'b' }]),
        says('x'),
      ),
      tools: [touch()],
      decide: () => {
        throw new TypeError('policy fell over');
      },
    });
    expect(await t.prompt('go')).toMatchObject({
      terminal: { kind: 'runtime_error', owner: 'harness', reason: 'policy fell over' },
    });
    expect(t.types().slice(-3)).toEqual(['tool_ended', 'tool_ended', 'turn_ended']);
    expect((await t.prompt('again')).terminal.kind).toBe('natural');
  });

  it('runtime_error, with the open questions of the same batch withdrawn', async () => {
    const t = await aSession({
      model: new ScriptedModel(calls(['touch', { path: 'a' }], ['touch', { path: 'b' }])),
      tools: [touch()],
      decide: () => ({
        decision: 'ask',
        reason: 'writes',
        details: [],
        remember: [{ scope: 'session', label: 'Always', rules: [] }],
      }),
      remember: async () => Promise.reject(new Error('the rules can not be written')),
    });
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    await t.next('gate_opened', 2);
    void t.answer(gateId, { kind: 'selected', optionId: 'allow_always:0' });
    expect((await outcome).terminal).toMatchObject({
      kind: 'runtime_error',
      reason: 'the rules can not be written',
    });
    expect(t.session.openGates).toEqual([]);
    expect(t.types().at(-1)).toBe('turn_ended');
    const opened = t.types().filter((type) => type === 'gate_opened').length;
    expect(t.types().filter((type) => type === 'gate_resolved')).toHaveLength(opened);
  });

  it('runtime_error, when its preparation throws', async () => {
    const t = await aSession({
      model: new ScriptedModel(says('never')),
      prepareTurn: async () => Promise.reject(new Error('no tools')),
    });
    expect((await t.prompt('go')).terminal).toMatchObject({
      kind: 'runtime_error',
      reason: 'no tools',
    });
  });

  it('suspended, when the model pauses three times in a row with nothing in between', async () => {
    const t = await aSession({ model: new ScriptedModel(...times(4, ends('pause'))) });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'end_turn',
      terminal: { kind: 'suspended', owner: 'agent' },
    });
  });

  it('natural, when the model pauses often and says something each time', async () => {
    const t = await aSession({
      model: new ScriptedModel(...times(6, ends('pause', 'more')), says('done')),
    });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
  });

  it('unknown, when the model ends for a reason of its own', async () => {
    const t = await aSession({ model: new ScriptedModel(ends('other', 'half')) });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'end_turn',
      terminal: { kind: 'unknown', owner: 'unknown' },
    });
  });
});
