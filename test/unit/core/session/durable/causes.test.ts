import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../../../../src/core/session/ports.ts';
import type { CommandId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

function records(t: TestSession): readonly StoredRecord[] {
  return t.journal.records.get(t.session.sessionId) ?? [];
}

/** Every record's type with the commands behind it. */
function causes(t: TestSession): [string, readonly string[]][] {
  return records(t).map(({ record: { event, cause } }) => [event.type, cause.command_ids]);
}

describe('what brought an event about', () => {
  it('is the prompt for all that happens in its turn', async () => {
    const model = new ScriptedModel(calls(['w', { path: '1' }]), says('done'));
    const t = await aSession({ model, tools: [aTool('w', () => ok('x'))] });
    await t.prompt('go', 1, 'the-prompt');
    const [created, ...turn] = causes(t);
    expect(created).toEqual(['session_created', []]);
    expect(turn.length).toBeGreaterThan(8);
    for (const [, ids] of turn) expect(ids).toEqual(['the-prompt']);
  });

  it('is also every message that was folded into the turn, for the message and for the end', async () => {
    const model = new ScriptedModel(calls(['w', { path: '1' }]), says('done'));
    let steer: Promise<unknown> = Promise.resolve();
    const tool = aTool('w', () => {
      steer = t.session.entries.inject({
        mode: 'steer',
        content: [{ type: 'text', text: 'be brief' }],
        actor: OWNER,
        commandId: 'the-steer' as CommandId,
      });
      return ok('x');
    });
    const t = await aSession({ model, tools: [tool] });
    await t.prompt('go', 1, 'the-prompt');
    await steer;
    const of = (type: string) => causes(t).filter(([known]) => known === type);
    expect(of('inject_delivered')).toEqual([['inject_delivered', ['the-steer']]]);
    expect(of('directives_issued')).toEqual([['directives_issued', ['the-steer']]]);
    expect(of('turn_ended')).toEqual([['turn_ended', ['the-prompt', 'the-steer']]]);
    expect(of('tool_started')).toEqual([['tool_started', ['the-prompt']]]);
  });

  it('is the answer for a gate that somebody answered', async () => {
    const model = new ScriptedModel(calls(['w', { path: '1' }]), says('done'));
    const t = await aSession({
      model,
      tools: [aTool('w', () => ok('x'))],
      decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [] }),
    });
    const outcome = t.prompt('go', 1, 'the-prompt');
    const { gateId } = await t.next('gate_opened');
    await t.answer(gateId, { kind: 'selected', optionId: 'allow_once' }, 'the-answer');
    await outcome;
    const stored = records(t).map(({ record: { event } }) => event);
    const at = stored.findIndex(({ type }) => type === 'gate_resolved');
    expect(stored.slice(at - 1, at + 2).map(({ type }) => type)).toEqual([
      'command_issued',
      'gate_resolved',
      'command_resolved',
    ]);
    expect(causes(t)[at]).toEqual(['gate_resolved', ['the-answer']]);
  });

  it('is kept over a restart for a turn that goes on', async () => {
    const model = new ScriptedModel(calls(['w', { path: '1' }]), says('done'));
    const t = await aSession({
      model,
      tools: [aTool('w', () => ok('x'))],
      decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [] }),
    });
    t.prompt('go', 1, 'the-prompt').catch(() => undefined);
    const { gateId } = await t.next('gate_opened');
    const again = await t.restart();
    again.session.goOn();
    await again.answer(gateId, { kind: 'selected', optionId: 'allow_once' });
    await again.next('turn_ended');
    const ended = causes(again).find(([type]) => type === 'turn_ended');
    expect(ended).toEqual(['turn_ended', ['the-prompt']]);
  });
});
