import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { aSession, aTool, ok, pathOf } from '../../../support/engine/a-session.ts';
import {
  calls,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;

describe('cancel', () => {
  it('keeps the text so far and seals the turn as stopped by the user', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('half an answer', () => started.resolve())),
    });
    const outcome = t.prompt('go');
    await started.promise;
    expect(t.session.cancelBefore(2, STOP)).toBe(true);
    expect(t.session.cancelBefore(2, STOP)).toBe(false);
    expect(await outcome).toMatchObject({
      stopReason: 'cancelled',
      terminal: { kind: 'user_cancelled', owner: 'user' },
    });
    expect(t.types()).toEqual([
      'turn_started',
      'title_changed',
      'message_delta',
      'model_replied',
      'turn_ended',
    ]);
    expect(await t.next('model_replied')).toMatchObject({ finish: 'aborted' });
  });

  it('never sends the calls behind the running one, while an untouched twin runs them all', async () => {
    const batch = calls(['work', { path: '1' }], ['work', { path: '2' }], ['work', { path: '3' }]);
    const run = async (stopAtFirst: boolean): Promise<string[]> => {
      const ran: string[] = [];
      const model = new ScriptedModel(batch, says('done'));
      const t = await aSession({
        model,
        tools: [
          aTool('work', async (_context, input) => {
            ran.push(pathOf(input));
            if (stopAtFirst) {
              t.session.cancelBefore(2, STOP);
              await new Promise(() => undefined);
            }
            return ok('');
          }),
        ],
      });
      await t.prompt('go');
      const results = t
        .history()
        .flatMap((event) => (event.type === 'tool_ended' ? [event.result.status] : []));
      expect(results).toEqual(
        stopAtFirst
          ? ['cancelled', 'cancelled', 'cancelled']
          : ['completed', 'completed', 'completed'],
      );
      return ran;
    };
    expect(await run(false)).toEqual(['1', '2', '3']);
    expect(await run(true)).toEqual(['1']);
  });

  it('before the first token: no tool call and no model text', async () => {
    const model = new ScriptedModel(calls(['work', {}]), says('never'));
    let ran = false;
    const t = await aSession({
      model,
      tools: [
        aTool('work', () => {
          ran = true;
          return ok('');
        }),
      ],
    });
    const outcome = t.prompt('go', 1);
    t.session.cancelBefore(2, STOP);
    expect((await outcome).stopReason).toBe('cancelled');
    expect(ran).toBe(false);
    expect(model.requests).toHaveLength(0);
  });

  it('ends what waits too, but nothing that arrives later', async () => {
    const started = new Deferred<void>();
    const model = new ScriptedModel(
      streamsForever('x', () => started.resolve()),
      says('later'),
    );
    const t = await aSession({ model });
    const first = t.prompt('one', 1);
    await started.promise;
    const second = t.prompt('two', 2);
    t.session.cancelBefore(3, STOP);
    const third = t.prompt('three', 4);
    expect((await first).stopReason).toBe('cancelled');
    expect(await second).toMatchObject({ turnId: null, stopReason: 'cancelled' });
    expect((await third).stopReason).toBe('end_turn');
  });

  it('stops a prompt that arrives at the session after the cancel that overtook it', async () => {
    const t = await aSession({ model: new ScriptedModel(says('never')) });
    t.session.cancelBefore(5, STOP);
    expect(await t.prompt('late', 3)).toMatchObject({ turnId: null, stopReason: 'cancelled' });
  });

  it('answers open gates as cancelled and runs nothing', async () => {
    let ran = false;
    const t = await aSession({
      model: new ScriptedModel(calls(['work', {}], ['work', { path: 'b' }])),
      tools: [
        aTool('work', () => {
          ran = true;
          return ok('');
        }),
      ],
      decide: () => ({ decision: 'ask', reason: 'writes', details: [], remember: [] }),
    });
    const outcome = t.prompt('go', 1);
    await t.next('gate_opened', 2);
    t.session.cancelBefore(2, STOP);
    expect((await outcome).stopReason).toBe('cancelled');
    expect(ran).toBe(false);
    const answers = t
      .history()
      .flatMap((event) => (event.type === 'gate_resolved' ? [event.answer] : []));
    expect(answers).toEqual([
      { kind: 'cancelled', reason: 'turn_cancelled' },
      { kind: 'cancelled', reason: 'turn_cancelled' },
    ]);
  });

  it('ends the background processes before the turn is sealed', async () => {
    const started = new Deferred<void>();
    const order: string[] = [];
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
      stopAll: async () => {
        order.push('stopped');
      },
    });
    const outcome = t.prompt('go', 1).then(() => order.push('sealed'));
    await started.promise;
    t.session.cancelBefore(2, STOP);
    await outcome;
    expect(order).toEqual(['stopped', 'sealed']);
  });
});
