import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aSession } from '../../../support/engine/a-session.ts';
import { ScriptedModel, says } from '../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;

/** What a client sends, in order of arrival; `late` prompts reach the session after what arrived behind them. */
const arrivals = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('prompt' as const), late: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const, late: false }) },
  ),
  { minLength: 1, maxLength: 12 },
);

describe('prompts and cancels in any order', () => {
  it('end every prompt exactly once: cancelled if a cancel arrived behind it in the same tick, else run', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, async (list) => {
        const model = new ScriptedModel(...list.map(() => says('done')));
        const t = await aSession({ model });
        const steps = list.map((step, index) => ({ ...step, order: index + 1 }));
        const outcomes = new Map<number, Promise<{ stopReason: string }>>();
        const deliver = (step: (typeof steps)[number]): void => {
          if (step.kind === 'cancel') t.session.cancelBefore(step.order, STOP);
          else outcomes.set(step.order, t.prompt(`p${step.order}`, step.order));
        };
        for (const step of steps) if (!step.late) deliver(step);
        for (const step of steps) if (step.late) deliver(step);
        const lastCancel = Math.max(
          0,
          ...steps.filter(({ kind }) => kind === 'cancel').map(({ order }) => order),
        );
        for (const [order, outcome] of outcomes) {
          expect((await outcome).stopReason).toBe(order < lastCancel ? 'cancelled' : 'end_turn');
        }
        const accepted = t.signals.filter(
          (s) => s.stream === 'control' && s.record.event.type === 'command_issued',
        );
        const resolved = t.signals.filter(
          (s) => s.stream === 'control' && s.record.event.type === 'command_resolved',
        );
        expect(accepted).toHaveLength(outcomes.size);
        expect(resolved).toHaveLength(outcomes.size);
        expect(t.types().filter((type) => type === 'turn_started')).toHaveLength(
          t.types().filter((type) => type === 'turn_ended').length,
        );
      }),
      { numRuns: 150 },
    );
  });
});
