import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MachineInbox } from '../../../../../src/core/session/control/machine-inbox.ts';
import type { CommandId, LoopId, ProcessId } from '../../../../../src/core/session/words.ts';
import { aSession, aTool, ok, type TestSession } from '../../../../support/engine/a-session.ts';
import {
  calls,
  type Reply,
  ScriptedModel,
  says,
} from '../../../../support/engine/scripted-model.ts';

/** Something the machine tells; several may be the same thing told again. */
type Told = { readonly kind: 'process' | 'result'; readonly number: number };
type Step =
  | { readonly do: 'tell'; readonly what: Told }
  | { readonly do: 'turn'; readonly during: readonly Told[]; readonly stop: boolean }
  | { readonly do: 'stop' }
  | { readonly do: 'restart' };

const told: fc.Arbitrary<Told> = fc.record({
  kind: fc.constantFrom('process', 'result'),
  number: fc.nat(4),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: told.map((what) => ({ do: 'tell' as const, what })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ during: fc.array(told, { maxLength: 3 }), stop: fc.nat(3).map((n) => n === 0) })
      .map((turn) => ({ do: 'turn' as const, ...turn })),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'stop' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'restart' as const }) },
);

const STOP = { kind: 'cancelled', by: 'test' } as const;

function idOf({ kind, number }: Told): string {
  return kind === 'process' ? `p${number}/ended` : `r${number}/result`;
}

class Run {
  readonly accepted = new Set<string>();
  #t: TestSession | null = null;
  #turn: Extract<Step, { do: 'turn' }> | null = null;
  #order = 0;

  async start(): Promise<void> {
    const model = new ScriptedModel();
    const again: Reply = (request, signal) =>
      this.#turn === null ? says('done')(request, signal) : calls(['work', {}])(request, signal);
    for (let n = 0; n < 200; n += 1) model.add(again);
    const work = aTool('work', async () => {
      const turn = this.#turn;
      this.#turn = null;
      for (const what of turn?.during ?? []) await this.#tell(what);
      if (turn?.stop === true) this.t.session.cancelBefore(this.#order + 1, STOP);
      return ok('');
    });
    this.#t = await aSession({ model, tools: [work] });
  }

  get t(): TestSession {
    if (this.#t === null) throw new Error('It was not started');
    return this.#t;
  }

  async take(taken: Step): Promise<void> {
    switch (taken.do) {
      case 'tell':
        await this.#tell(taken.what);
        break;
      case 'turn':
        await this.turn(taken);
        break;
      case 'stop':
        this.#order += 1;
        this.t.session.cancelBefore(this.#order, STOP);
        break;
      case 'restart':
        await this.#idle();
        this.#t = await this.t.restart();
        break;
    }
  }

  async turn(turn: Extract<Step, { do: 'turn' }> | null): Promise<void> {
    await this.#idle();
    this.#turn = turn;
    this.#order += 1;
    await this.t.prompt('go', this.#order);
    this.#turn = null;
    await this.#idle();
  }

  async #tell(what: Told): Promise<void> {
    const { kind, number } = what;
    const answer =
      kind === 'process'
        ? await this.t.session.entries.notifyProcess({
            processId: `p${number}` as ProcessId,
            command: 'serve',
            startedAt: 1,
            state: 'exited',
            exitCode: 0,
            signal: null,
          })
        : await this.t.session.entries.handBack({
            requestId: `r${number}` as CommandId,
            loopId: 'child' as LoopId,
            outcome: 'completed',
            text: `result ${number}`,
            usage: { inputTokens: 1, outputTokens: 1 },
            background: true,
          });
    expect(answer).toBe(this.accepted.has(idOf(what)) ? 'duplicate' : 'accepted');
    this.accepted.add(idOf(what));
  }

  async #idle(): Promise<void> {
    while (this.t.session.isActive) await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('whatever the machine tells', () => {
  it('is read exactly once, in any order of turns, seams, Stops and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const run = new Run();
        await run.start();
        for (const taken of steps) await run.take(taken);
        await run.turn(null);
        const { journal, session } = run.t;
        const stored = journal.records.get(session.sessionId) ?? [];
        const read = stored.flatMap(({ record: { event, cause } }) => {
          if (event.type === 'machine_message') return cause.command_ids;
          return event.type === 'turn_started' && event.origin === 'machine'
            ? [event.commandId]
            : [];
        });
        expect([...read].sort()).toEqual([...run.accepted].sort());
        const ended = stored.flatMap(({ record: { event } }) =>
          event.type === 'command_resolved' && run.accepted.has(event.commandId)
            ? [event.commandId]
            : [],
        );
        expect([...ended].sort()).toEqual([...run.accepted].sort());
      }),
      { numRuns: 60 },
    );
  });

  it('waits the same whichever stream is folded first, and folded twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), fc.nat(30), async (steps, cut) => {
        const run = new Run();
        await run.start();
        for (const taken of steps) await run.take(taken);
        const { journal, session } = run.t;
        const stored = (journal.records.get(session.sessionId) ?? []).slice(0, cut);
        const fold = (order: readonly ('history' | 'control')[]): readonly string[] => {
          const inbox = new MachineInbox();
          for (const stream of order)
            for (const one of stored) {
              if (one.stream !== stream) continue;
              if (one.stream === 'control') inbox.applyControl(one.record.event);
              else inbox.applyHistory(one.record.event, one.record.cause.command_ids);
            }
          return inbox.waiting().map(({ command }) => command.command_id);
        };
        const waiting = fold(['history', 'control']);
        expect(fold(['control', 'history'])).toEqual(waiting);
        expect(fold(['control', 'history', 'control', 'history'])).toEqual(waiting);
      }),
      { numRuns: 40 },
    );
  });
});
